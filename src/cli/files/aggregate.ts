/** `falconry aggregate`: a task file in, a result file out. */
import { availableParallelism } from 'node:os';
import {
  type AggregateFormatOption,
  aggregate as aggregateItems,
  type FormatChoice,
  MAX_AGGREGATE_ITEMS,
  MAX_PROOF_ITEMS,
} from '../../aggregate/index.ts';
import { integer } from '../../middleware/options/optionRows.ts';
import { isCodedError } from '../../shared/errors.ts';
import { formatResultFile, makeResultFile } from '../../wire/resultFile.ts';
import { parseTaskFile } from '../../wire/taskFile.ts';
import type { TaskItem } from '../../wire/triple.ts';
import { type Command, UsageError } from '../lib/command.ts';
import {
  defineCommand,
  describeInvalid,
  FLAG,
  type Invocation,
  OUT,
  oneOf,
  TEXT,
} from '../lib/define.ts';
import { EXIT, EXIT_HELP } from '../lib/exitCodes.ts';
import { isStdout, MAX_INPUT_BYTES, readInput, writeOutput } from '../lib/io.ts';
import { readNumber } from '../lib/settingText.ts';

/** Beyond the service's own: whoever runs the command owns the machine. */
export const FILE_LIMITS = Object.freeze({
  maxSignatures: MAX_AGGREGATE_ITEMS,
  maxMessageBytes: MAX_INPUT_BYTES,
  maxFileBytes: MAX_INPUT_BYTES,
});

const FORMATS: readonly AggregateFormatOption[] = Object.freeze(['auto', 'proof', 'bundle']);

/** The most threads that the library takes. */
export const MAX_THREADS = 64;
const THREADS = integer('threads of one aggregate', { min: 1, max: MAX_THREADS });

const help = `Usage: falconry aggregate <task.json> [-o <out.json>] [--format <name>] [--raw]

Verifies every signature in a task file and combines them into one aggregate. A task file is a
JSON array of {"digest", "public_key", "signature"}, all in hex with 0x: the message, the key, and
the signature in any of its formats. Falcon-512 and Falcon-1024 may share a file, which may hold up
to ${MAX_AGGREGATE_ITEMS} items.

If any signature is invalid, each invalid one is listed with the reason and nothing is written.

A bundle contains the signatures, and they can be extracted again. A proof does not contain
them: it proves that a valid signature exists for every item. It is smaller than a bundle from
about 82 signatures of Falcon-512 or 41 of Falcon-1024 on, and covers up to
${MAX_PROOF_ITEMS} signatures of each parameter set.

  <task.json>       the task file; - reads standard input
  -o, --out <file>  where to write the result file (default: standard output)
      --format <name>
                    proof, bundle, or auto (the default), which takes the smaller of the two
      --threads <n> most threads to use, 1 to ${MAX_THREADS} (default: one per processor); the
                    result is the same for any number
      --raw         write the bare aggregate instead of the result file
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
  summary: 'combine the signatures of a task file into one aggregate',
  help,
  options: { out: OUT, format: oneOf(FORMATS), raw: FLAG, threads: TEXT },
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute(invocation: Invocation): Promise<number> {
  const { io, positionals, option, flag, report } = invocation;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError('expected one task file');
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
      `(${(sizes.aggregate / count).toFixed(1)} per signature, ` +
      `${((100 * sizes.aggregate) / sizes.signatures).toFixed(1)} % of their total)\n` +
      `${describeChoice(choice)}\n`,
  );
  return EXIT.ok;
}

function readFormat(name = 'auto'): AggregateFormatOption {
  const format = FORMATS.find((each) => each === name);
  if (format === undefined) throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
  return format;
}

/** `--threads`; one per processor when it is left out. */
export function readThreads(text: string | undefined): number {
  if (text === undefined) return Math.min(MAX_THREADS, availableParallelism());
  return readNumber('--threads', THREADS, text);
}

/** One line: why this format. */
function describeChoice({ format, reason, bundleBytes, proofBytes }: FormatChoice): string {
  switch (reason) {
    case 'asked':
      return `a ${format}, as requested`;
    case 'tooMany':
      return `a bundle: a proof covers at most ${MAX_PROOF_ITEMS} signatures of one parameter set`;
    case 'noProof':
      return 'a bundle: every attempt to make a proof failed';
    case 'smaller':
      return format === 'proof'
        ? `a proof: a bundle would have ${bundleBytes} bytes`
        : `a bundle: a proof would have about ${proofBytes} bytes`;
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
        `falconry aggregate: ${invalid.length} of ${items.length} signatures are invalid\n` +
          describeInvalid(invalid),
      );
    }
    return undefined;
  }
}
