/** `falconry aggregate`: a task file in, a result file out. */
import { availableParallelism } from 'node:os';
import {
  type AggregateFormatOption,
  aggregate as aggregateItems,
  type FormatChoice,
  MAX_AGGREGATE_ITEMS,
  MAX_PROOF_ITEMS,
} from '../aggregate/index.ts';
import { isCodedError } from '../errors.ts';
import { formatResultFile, makeResultFile } from '../wire/resultFile.ts';
import { parseTaskFile, type TaskItem } from '../wire/taskFile.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, describeInvalid, type Invocation } from './define.ts';
import { EXIT, EXIT_HELP } from './exitCodes.ts';
import { isStdout, MAX_INPUT_BYTES, readInput, writeOutput } from './io.ts';

/** Beyond the service's own: whoever runs the command owns the machine. */
export const FILE_LIMITS = Object.freeze({
  maxSignatures: MAX_AGGREGATE_ITEMS,
  maxMessageBytes: MAX_INPUT_BYTES,
  maxFileBytes: MAX_INPUT_BYTES,
});

const FORMATS: readonly AggregateFormatOption[] = Object.freeze(['auto', 'proof', 'bundle']);

const help = `Usage: falconry aggregate <task.json> [-o <out.json>] [--format <name>] [--raw] [--json]

Verifies every signature of a task file and makes one aggregate of them. A task file is a JSON
array of {"digest", "public_key", "signature"}, all hex with 0x: the message, the key, and the
signature in any of its forms. Falcon-512 and Falcon-1024 may share a file; at most ${MAX_AGGREGATE_ITEMS} items.

If some signatures are not valid, all of them are named with their reasons and nothing is written.

A bundle holds the signatures themselves and gives them back. A proof holds none: it proves in far
fewer bytes, from some hundred signatures on, that each is there. It takes at most ${MAX_PROOF_ITEMS} signatures
of each parameter set.

  <task.json>       the task file; - reads standard input
  -o, --out <file>  where the result file goes; standard output when left out
      --format <name>
                    proof, bundle, or auto (the default): the smaller of the two
      --threads <n> threads to prove with, from 1 to 64 (default: one for each processor); the
                    result is the same with any number
      --raw         write the bare aggregate in place of the result file
      --json        report as one line of JSON
  -q, --quiet       no report, no progress bar
  -h, --help        this text

Examples
  falconry aggregate task.json -o out.json
  falconry aggregate task.json -o out.json --format bundle
  falconry verify-aggregate out.json task.json
  falconry sign --key key.json *.txt | falconry aggregate - -o out.json

${EXIT_HELP}`;

/** The `aggregate` command. */
export const command: Command = defineCommand({
  name: 'aggregate',
  summary: 'make one aggregate of the signatures of a task file',
  help,
  options: {
    out: { type: 'string', short: 'o' },
    format: { type: 'string' },
    raw: { type: 'boolean' },
    threads: { type: 'string' },
  },
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute(invocation: Invocation): Promise<number> {
  const { io, positionals, option, flag, report } = invocation;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError('one task file is expected');
  }
  const wanted = readFormat(option('format'));
  const threads = readThreads(option('threads'));
  const items = parseTaskFile(await readInput(path, io), FILE_LIMITS);
  const start = performance.now();
  const made = await aggregateOrReport(items, { format: wanted, threads }, invocation);
  if (made === undefined) return EXIT.invalid;
  const { aggregate, choice } = made;
  const timings = { aggregate_ms: performance.now() - start };
  const result = makeResultFile({ processId: null, aggregate, items, timings });

  const out = option('out');
  await writeOutput(out, flag('raw') ? aggregate : formatResultFile(result), io);
  const { count, format, parameterSet, sizes } = result;
  const facts = { count, format, reason: choice.reason, parameter_set: parameterSet, sizes };
  report(
    { ok: true, ...facts, threads: made.threads, timings, out: out ?? '-' },
    `${count} signatures valid; ${format} of ${sizes.aggregate} bytes ` +
      `(${(sizes.aggregate / count).toFixed(1)} a signature, ` +
      `${((100 * sizes.aggregate) / sizes.signatures).toFixed(1)} % of their sum)\n` +
      `${describeChoice(choice)}\n`,
  );
  return EXIT.ok;
}

function readFormat(name = 'auto'): AggregateFormatOption {
  const format = FORMATS.find((each) => each === name);
  if (format === undefined) throw new UsageError(`--format is one of ${FORMATS.join(', ')}`);
  return format;
}

/** Most threads that the library takes. */
const MAX_THREADS = 64;

/** `--threads`; all processors when it is left out. */
export function readThreads(text: string | undefined): number {
  if (text === undefined) return Math.min(MAX_THREADS, availableParallelism());
  const threads = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (threads < 1 || threads > MAX_THREADS) {
    throw new UsageError(`--threads must be a number from 1 to ${MAX_THREADS}, not "${text}"`);
  }
  return threads;
}

/** One line: why this format. */
function describeChoice({ format, reason, bundleBytes, proofBytes }: FormatChoice): string {
  switch (reason) {
    case 'asked':
      return `a ${format}, as asked`;
    case 'tooMany':
      return `a bundle, since a proof takes at most ${MAX_PROOF_ITEMS} signatures of one parameter set`;
    case 'noProof':
      return 'a bundle, since no attempt at a proof succeeded';
    case 'smaller':
      return format === 'proof'
        ? `a proof, since a bundle has ${bundleBytes} bytes`
        : `a bundle, since a proof has about ${proofBytes} bytes`;
  }
}

interface Made {
  readonly aggregate: Uint8Array;
  readonly choice: FormatChoice;
  /** Threads that were really used. */
  readonly threads: number;
}

async function aggregateOrReport(
  items: readonly TaskItem[],
  options: { readonly format: AggregateFormatOption; readonly threads: number },
  { io, flag, report, progress }: Invocation,
): Promise<Made | undefined> {
  try {
    let choice: FormatChoice | undefined;
    let used = 1;
    const onFormat = (settled: FormatChoice) => {
      choice = settled;
    };
    const aggregate = await aggregateItems(items, {
      ...options,
      onFormat,
      onStats: (stats) => {
        used = stats.threads;
      },
      onProgress: (state) => progress.update(state),
    });
    return { aggregate, choice: choice!, threads: used };
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'INVALID_SIGNATURES') throw error;
    const { code, message, invalid = [] } = error;
    if (flag('json')) {
      report({ ok: false, code, message, count: items.length, invalid }, '');
    } else {
      progress.end();
      io.stderr.write(
        `falconry aggregate: ${invalid.length} of ${items.length} signatures are not valid\n` +
          describeInvalid(invalid),
      );
    }
    return undefined;
  }
}
