#!/usr/bin/env node
/** `falconry <command>`: finds the command, runs it on the real streams, sets its exit code. */
import { readFileSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Command, EXIT, EXIT_MEANINGS, type ExitName, type Io } from './lib/command.ts';
import { exitRows, table, widthOf, wrap } from './lib/help.ts';
import { hint } from './lib/text.ts';

type Loader = () => Promise<{ readonly command: Command }>;

/** Loaded on demand, so that `falconry keygen` does not load a web framework. */
export const COMMANDS: Readonly<Record<string, Loader>> = {
  keygen: () => import('./files/keygen.ts'),
  key: () => import('./files/key.ts'),
  sign: () => import('./files/sign.ts'),
  verify: () => import('./files/verify.ts'),
  aggregate: () => import('./files/aggregate.ts'),
  'verify-aggregate': () => import('./files/verifyAggregate.ts'),
  inspect: () => import('./files/inspect.ts'),
  submit: () => import('./service/submit.ts'),
  tasks: () => import('./service/tasks.ts'),
  serve: () => import('./operate/serve.ts'),
  worker: () => import('./operate/worker.ts'),
  migrate: () => import('./operate/migrate.ts'),
  keys: () => import('./operate/keys.ts'),
  quota: () => import('./operate/quota.ts'),
  queue: () => import('./operate/queue.ts'),
  retry: async () => ({ command: (await import('./operate/queue.ts')).retryCommand }),
  doctor: () => import('./operate/doctor.ts'),
  completion: async () => {
    const { completionCommand } = await import('./lib/completion.ts');
    return { command: completionCommand(loadAll) };
  },
};

export async function main(args: readonly string[], io: Io): Promise<number> {
  const [first, ...others] = args;
  if (first === undefined) {
    io.stderr.write(await overview({ stdout: io.stderr }));
    return EXIT.usage;
  }
  if (first === '--version' || first === '-V') {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    io.stdout.write(`${JSON.parse(manifest).version}\n`);
    return EXIT.ok;
  }
  // `falconry help sign` is `falconry sign --help`.
  const asksHelp = first === '--help' || first === '-h' || first === 'help';
  const [name, rest] = asksHelp ? [others[0], ['--help']] : [first, others];
  if (name === undefined) {
    io.stdout.write(await overview(io));
    return EXIT.ok;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) return refuseName(name, args, io);
  return (await load()).command.run(rest, io);
}

function refuseName(name: string, args: readonly string[], io: Io): number {
  const what = name.startsWith('-') ? 'option' : 'command';
  const known = what === 'option' ? ['--help', '--version'] : Object.keys(COMMANDS);
  const message = `unknown ${what} "${name}"${hint(name, known, (n) => `"${n}"`)}`;
  const json = `${JSON.stringify({ ok: false, code: 'USAGE', message })}\n`;
  if (args.includes('--json')) io.stdout.write(json);
  else io.stderr.write(`falconry: ${message}\nTry: falconry --help\n`);
  return EXIT.usage;
}

async function loadAll(): Promise<Command[]> {
  return Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command));
}

const COMMON_NOTE =
  'Every command accepts --help, --json (reports and errors as one line of JSON) and --quiet. ' +
  'The file name - is standard input or output. Settings come from options, FALCONRY_… ' +
  'environment variables, or falconry.json. NO_COLOR is honoured.';

async function overview({ stdout }: Pick<Io, 'stdout'>): Promise<string> {
  const columns = widthOf(stdout);
  const commands = (await loadAll()).map(({ name, summary }) => [name, summary] as const);
  const calls = [
    ['falconry <command> --help', 'description, options and examples'],
    ['falconry --version', 'print the version'],
  ] as const;
  const parts = [
    'Usage: falconry <command> [options]',
    'Post-quantum Falcon signatures, their aggregation, and a service for both.',
    table(commands, columns),
    wrap(COMMON_NOTE, columns ?? 100).join('\n'),
    table(calls, columns),
    `Exit codes\n${table(exitRows(Object.keys(EXIT_MEANINGS) as ExitName[]), columns)}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Runs the command of the process: falconry.cjs calls this on a Node that is new enough. */
export async function start(): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  // If the reader closes our output (`| head`), end as SIGPIPE would. A server continues.
  const isServer = ['serve', 'worker'].includes(process.argv[2] ?? '');
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (isServer && error.code === 'EPIPE') return;
      process.exit(error.code === 'EPIPE' ? 141 : EXIT.io);
    });
  }
  process.exitCode = await main(process.argv.slice(2), { stdin, stdout, stderr, env });
  // The channel to node:cluster or a process manager would keep a finished process alive.
  if (process.connected) process.disconnect();
}

// If this file itself was run: from the sources, or in tests. No await here: falconry.cjs requires
// this file, which must be there at once.
const [, script] = process.argv;
if (script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url)) void start();
