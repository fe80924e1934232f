#!/usr/bin/env node
/** `falconry <command>`: finds the command, gives it the real streams, ends with its exit code. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Command, type Io, UsageError } from './command.ts';

type Loader = () => Promise<{ readonly command: Command }>;

/** Loaded when asked for, so that `falconry keygen` does not open a web framework. */
const COMMANDS: Readonly<Record<string, Loader>> = {
  serve: () => import('./serve.ts'),
  keys: () => import('./keys.ts'),
  keygen: () => import('./keygen.ts'),
  sign: () => import('./sign.ts'),
  verify: () => import('./verify.ts'),
  aggregate: () => import('./aggregate.ts'),
  'verify-aggregate': () => import('./verifyAggregate.ts'),
};

/** 0 done, 1 refused or invalid, 2 wrong usage, 3 input or output failed. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const text = await overview();
    (name === undefined ? io.stderr : io.stdout).write(text);
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    io.stdout.write(`${await version()}\n`);
    return 0;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    io.stderr.write(`falconry: there is no command "${name}"\n\n${await overview()}`);
    return 2;
  }
  const { command } = await load();
  if (rest.includes('--help') || rest.includes('-h')) {
    io.stdout.write(command.help);
    return 0;
  }
  try {
    return await command.run(rest, io);
  } catch (error) {
    return explain(error, command, io);
  }
}

function explain(error: unknown, command: Command, io: Io): number {
  const { code, message } = error as NodeJS.ErrnoException;
  const usage = error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS');
  io.stderr.write(`falconry ${command.name}: ${message}\n`);
  if (usage) io.stderr.write(`Try: falconry ${command.name} --help\n`);
  return usage ? 2 : 3;
}

async function overview(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  const lines = commands.map(({ command }) => `  ${command.name.padEnd(17)} ${command.summary}`);
  return `Usage: falconry <command> [options]

Post-quantum Falcon signatures, aggregates of them, and a service for both.

${lines.join('\n')}

falconry <command> --help tells more; falconry --version prints the version.
`;
}

async function version(): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return JSON.parse(text).version;
}

/** Whether this file was started, not imported (npm starts it through a link). */
function started(): boolean {
  const [, script] = process.argv;
  return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url);
}

if (started()) {
  const { stdin, stdout, stderr, env } = process;
  process.exitCode = await main(process.argv.slice(2), { stdin, stdout, stderr, env });
}
