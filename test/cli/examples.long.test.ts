/**
 * Every example of every help text runs as it stands, in a shell, in a folder where its files are.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../../src/cli/lib/command.ts';
import { helpText } from '../../src/cli/lib/help.ts';
import { COMMANDS } from '../../src/cli/main.ts';
import { migrate } from '../../src/middleware/stores/postgres/index.ts';
import { startService, type TestService } from '../middleware/support.ts';
import { makeTriples } from '../middleware/triples.ts';
import { fact } from '../support/facts.ts';
import { type PostgresServer, startNewestPostgres } from '../support/postgres.ts';
import { bucketEnv, hasRgw, newPrefix, openRgw, type Rgw } from '../support/rgw.ts';
import { cleanEnvironment, falconry, MAIN, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
let service: TestService;
let database: PostgresServer | null;
let rgw: Rgw | null;
const commands: Record<string, Command> = {};

beforeAll(async () => {
  for (const [name, load] of Object.entries(COMMANDS)) commands[name] = (await load()).command;
  service = await startService({ threads: 1 });
  database = await startNewestPostgres();
  rgw = hasRgw() ? await openRgw() : null;
  if (database !== null) {
    await database.query('CREATE DATABASE worker');
    await migrate(workersDatabase(database));
  }
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'falconry'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, 'falconry'), 0o755);
});
afterAll(async () => {
  await service.close();
  await database?.stop();
});

/** For migrate there is another one, which is empty at first. */
const workersDatabase = ({ url }: PostgresServer): string => url.replace('/postgres?', '/worker?');

/** The stores of commands that need those of several hosts; null if they cannot be started. */
function sharedBy(name: string): NodeJS.ProcessEnv | null {
  if (name !== 'migrate' && name !== 'worker') return {};
  if (database === null) return null;
  if (name === 'migrate') return { FALCONRY_DATABASE: database.url };
  if (rgw === null) return null;
  return { FALCONRY_DATABASE: workersDatabase(database), ...bucketEnv(rgw, newPrefix()) };
}

/** A folder with the files that examples name. */
async function scene(name: string): Promise<string> {
  const place = join(folder.path, name);
  // As a data directory, too.
  mkdirSync(place, { mode: 0o700 });
  const write = (file: string, text: string) => writeFileSync(join(place, file), text);
  const triples = makeTriples(3, 2);
  write('task.json', JSON.stringify(triples));
  write('statements.json', JSON.stringify(triples.map(({ signature: _, ...rest }) => rest)));
  write('pass.txt', 'the passphrase of the key\n');
  write('a.txt', 'a');
  write('b.txt', 'b');
  write('hello.txt', 'hello\n');
  const make = async (...args: string[]) => expect((await falconry(place, args)).code).toBe(0);
  await make('keygen', '-o', 'key.json', '--public', 'public.json');
  await make('sign', '--key', 'key.json', 'hello.txt', '--raw', '-o', 'hello.sig');
  await make('aggregate', 'task.json', '-o', 'out.json');
  return place;
}

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

const READY = /listening on http.*\n[\s\S]*\n\n|works on the tasks of .*\n[\s\S]*threads/;

/** Runs the line; a server is stopped as soon as it is ready. */
function shell(line: string, place: string, shared: NodeJS.ProcessEnv): Promise<Outcome> {
  const child = spawn(
    'bash',
    ['-o', 'pipefail', '-c', `exec ${line}`.replace(/^exec (.*\|)/, '$1')],
    {
      cwd: place,
      env: cleanEnvironment({
        PATH: `${join(folder.path, 'bin')}:${process.env.PATH}`,
        FALCONRY_URL: `http://127.0.0.1:${service.port}`,
        FALCONRY_API_KEY: service.alice,
        FALCONRY_PORT: '0',
        ...shared,
      }),
    },
  );
  child.stdin.end();
  let output = '';
  let stopped = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      output += part;
      if (stopped || !READY.test(output)) return;
      stopped = true; // a second signal would end it at once
      child.kill('SIGTERM');
    });
  }
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

const NEED_STORE = ['queue', 'retry', 'quota'];

describe('examples', () => {
  it.each(Object.keys(COMMANDS))('%s', async (name) => {
    const shared = sharedBy(name);
    if (shared === null) return;
    const lines = commands[name]!.examples;
    expect(lines.length).toBeGreaterThanOrEqual(2);
    const place = await scene(name);
    // What works on the store of a service needs one.
    if (NEED_STORE.includes(name)) await falconry(place, ['keys', 'create']);
    if (name === 'keygen') rmSync(join(place, 'key.json'));
    for (const line of lines) {
      const { code, output } = await shell(line, place, shared);
      expect([line, code, code === 0 ? '' : output]).toEqual([line, 0, '']);
    }
  });

  it('are counted', (context) => {
    const all = Object.values(commands).flatMap(({ examples }) => examples);
    expect(all.length).toBeGreaterThan(20);
    fact(
      context,
      'command line',
      `${all.length} examples of ${Object.keys(commands).length} commands run`,
    );
  });
});

describe('every help text', () => {
  it.each(Object.keys(COMMANDS))('%s', (name) => {
    const command = commands[name]!;
    const help = helpText(command);
    expect(help).toMatch(new RegExp(`^Usage: falconry ${name} `));
    for (const part of ['\nExamples\n', '\nExit codes\n', '--json', '-q, --quiet', '-h, --help']) {
      expect(help).toContain(part);
    }
    for (const { name: option } of command.options.filter(({ isHidden }) => !isHidden)) {
      expect(help, `--${option}`).toMatch(new RegExp(`--(\\[no-\\]|no-)?${option}\\b`));
    }
  });

  it.each([40, 60, 80, 100])('fits in %d columns, word for word', (columns) => {
    for (const command of Object.values(commands)) {
      // Examples are never broken.
      const facts = { ...command, usage: [''], examples: [], more: [] };
      const fitted = helpText(facts, columns);
      expect(fitted.split(/\s+/)).toEqual(helpText(facts).split(/\s+/));
      const wide = fitted.split('\n').filter((line) => line.length > columns);
      expect(wide.filter((line) => line.trim().includes(' '))).toEqual([]);
    }
  });
});
