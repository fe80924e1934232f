/** Progress on a terminal, made by `script` of util-linux, and silence without one. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgress } from '../../src/cli/lib/progress.ts';
import { startService, type TestService } from '../middleware/support.ts';
import { makeTriples } from '../middleware/triples.ts';
import { fact } from '../support/facts.ts';
import { cleanEnvironment, falconry, MAIN, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const SCRIPT = '/usr/bin/script';
const ESC = '\x1b';
const COLOUR = new RegExp(`${ESC}\\[\\d+m`);
const ANY_ESCAPE = new RegExp(`${ESC}\\[\\d*[mK]`, 'g');
let service: TestService;

beforeAll(async () => {
  service = await startService({ threads: 1 });
  writeFileSync(join(folder.path, 'task.json'), JSON.stringify(makeTriples(120, 4)));
});
afterAll(async () => {
  await service.close();
});

/** What a terminal of 80 columns is sent. */
function onTerminal(command: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const line = `stty cols 80; '${process.execPath}' '${MAIN}' ${command}`;
  const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
    cwd: folder.path,
    env: cleanEnvironment({
      TERM: 'xterm',
      LC_ALL: 'C.UTF-8',
      FALCONRY_URL: `http://127.0.0.1:${service.port}`,
      FALCONRY_API_KEY: service.alice,
      ...env,
    }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part) => (text += part));
  return new Promise((resolve, reject) =>
    child.on('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${code}: ${text}`)),
    ),
  );
}

/** What is left to see: every line after its last rewriting. */
function seen(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, '').split('\r\x1b[2K').at(-1)!)
    .join('\n');
}

describe.runIf(existsSync(SCRIPT))('on a terminal', () => {
  const aggregate = 'aggregate task.json --format proof -o out.json';

  it('a bar grows, and is gone at the end', async (context) => {
    const text = await onTerminal(aggregate);
    const parts = [...text.matchAll(/aggregating.*?(\d+) %/g)].map((match) => Number(match[1]));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(text).toContain('█');
    expect(text).toContain('\x1b[36m');
    expect(seen(text)).toMatch(/^120 signatures valid; proof of \d+ bytes/);
    expect(seen(text)).not.toContain('%  ');
    fact(
      context,
      'command line',
      `a progress bar on a real pseudo-terminal, drawn ${parts.length} times`,
    );
  });

  it('no line is wider than the terminal', async () => {
    const text = await onTerminal(aggregate);
    const drawn = text.split(/[\r\n]/).map((line) => line.replaceAll(ANY_ESCAPE, ''));
    const bars = drawn.filter((line) => /[█░]/.test(line));
    expect(bars.length).toBeGreaterThan(2);
    expect(bars.filter((line) => line.length > 79)).toEqual([]);
  });

  it('NO_COLOR takes the colours, another locale the blocks, TERM=dumb all', async () => {
    const plain = await onTerminal(aggregate, { NO_COLOR: '1', LC_ALL: 'C' });
    expect(plain).toContain('###');
    expect(plain).not.toMatch(COLOUR);
    expect(plain).not.toContain('█');
    const dumb = await onTerminal(aggregate, { TERM: 'dumb' });
    expect(dumb).not.toMatch(/aggregating/);
    expect(dumb).not.toContain(ESC);
  });

  it.each(['--quiet', '--json'])('no bar with %s', async (option) => {
    const text = await onTerminal(`${aggregate} ${option}`);
    expect(text).not.toMatch(/ % {2}|aggregating/);
    expect(text).not.toContain(ESC);
  });

  it('no bar where standard error is a file', async () => {
    const text = await onTerminal(`${aggregate} 2>errors; test ! -s errors`);
    expect(text).not.toMatch(/aggregating/);
    expect(text).not.toContain(ESC);
  });

  it('submit shows what it sends and what the service does', async () => {
    const text = await onTerminal('submit task.json -o result.json');
    expect(text).toMatch(COLOUR);
    expect(text).toMatch(/(sending|uploading).* (k|M)B/);
    expect(seen(text)).toMatch(/^task \d+: 120 signatures/);
  });
});

describe('without a terminal', () => {
  it('nothing is drawn', async () => {
    const { code, err } = await falconry(folder.path, ['aggregate', 'task.json', '-o', 'out.json']);
    expect([code, err]).toEqual([0, '']);
    const verified = await falconry(folder.path, ['verify', 'task.json']);
    expect([verified.code, verified.err]).toEqual([0, '']);
  });
});

describe('the bar', () => {
  const draw = (states: readonly Parameters<ReturnType<typeof createProgress>['update']>[0][]) => {
    let text = '';
    const stderr = { isTTY: true, columns: 60, write: (part: unknown) => (text += part) };
    const progress = createProgress({ stderr, env: { NO_COLOR: '1' } });
    for (const state of states) progress.update(state);
    progress.end();
    progress.end();
    return text.split('\r\x1b[2K').slice(1);
  };

  it('shows bytes as people read them', () => {
    const [line, gone] = draw([{ phase: 'uploading', done: 5e6, total: 19.5e6, unit: 'bytes' }]);
    expect(line).toBe('uploading   ######------------------  25 %  5.0 of 19.5 MB');
    expect(gone).toBe('');
  });

  it('has a mark where the end is not known, and always shows the last step', () => {
    expect(draw([{ phase: 'waiting', done: 0 }])[0]).toMatch(/^waiting {5}[|/\\-] {2}0 s$/);
    const lines = draw(
      Array.from({ length: 101 }, (_, i) => ({ phase: 'verifying', done: i, total: 100 })),
    );
    expect(lines.length).toBeLessThan(20);
    expect(lines.at(-2)).toContain('100 %');
  });

  it('is never wider than the terminal, and survives odd figures', () => {
    const odd = [
      {
        phase: 'a phase with a very long name indeed, longer than the terminal is',
        done: 1,
        total: 2,
      },
      { phase: 'more', done: 3, total: 2 },
      { phase: 'less', done: -1, total: 2 },
      { phase: 'none', done: 0, total: 0 },
    ];
    for (const line of draw(odd)) expect(line.length).toBeLessThan(60);
  });
});
