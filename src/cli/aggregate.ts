/** `falconry aggregate`: a task file in, a result file out. */
import { aggregateSync, MAX_AGGREGATE_ITEMS } from '../aggregate/index.ts';
import { isCodedError } from '../errors.ts';
import { formatResultFile, makeResultFile } from '../middleware/resultFile.ts';
import { parseTaskFile, type TaskItem } from '../middleware/taskFile.ts';
import { type Command, UsageError } from './command.ts';
import {
  describeInvalid,
  EXIT,
  EXIT_HELP,
  fileCommand,
  type Invocation,
  isStdout,
  MAX_INPUT_BYTES,
  readInput,
  writeOutput,
} from './io.ts';

/** Beyond the service's own: whoever runs the command owns the machine. */
export const FILE_LIMITS = Object.freeze({
  maxSignatures: MAX_AGGREGATE_ITEMS,
  maxMessageBytes: MAX_INPUT_BYTES,
  maxFileBytes: MAX_INPUT_BYTES,
});

const help = `Usage: falconry aggregate <task.json> [-o <out.json>] [--raw] [--json]

Verifies every signature of a task file and makes one aggregate of them. A task file is a JSON
array of {"digest", "public_key", "signature"}, all hex with 0x: the message, the key, and the
signature in any of its forms. Falcon-512 and Falcon-1024 may share a file; at most ${MAX_AGGREGATE_ITEMS} items.

If some signatures are not valid, all of them are named with their reasons and nothing is written.

  <task.json>       the task file; - reads standard input
  -o, --out <file>  where the result file goes; standard output when left out
      --raw         write the bare aggregate in place of the result file
      --json        report as one line of JSON
  -h, --help        this text

Examples
  falconry aggregate task.json -o out.json
  falconry verify-aggregate out.json task.json
  falconry sign --key key.json *.txt | falconry aggregate - -o out.json

${EXIT_HELP}`;

/** The `aggregate` command. */
export const command: Command = fileCommand({
  name: 'aggregate',
  summary: 'make one aggregate of the signatures of a task file',
  help,
  options: { out: { type: 'string', short: 'o' }, raw: { type: 'boolean' } },
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute(invocation: Invocation): Promise<number> {
  const { io, positionals, option, flag, report } = invocation;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError('one task file is expected');
  }
  const items = parseTaskFile(await readInput(path, io), FILE_LIMITS);
  const start = performance.now();
  const aggregate = aggregateOrReport(items, invocation);
  if (aggregate === undefined) return EXIT.invalid;
  const timings = { aggregate_ms: performance.now() - start };
  const result = makeResultFile({ processId: null, aggregate, items, timings });

  const out = option('out');
  await writeOutput(out, flag('raw') ? aggregate : formatResultFile(result), io);
  const { count, format, parameterSet, sizes } = result;
  report(
    { ok: true, count, format, parameter_set: parameterSet, sizes, out: out ?? '-' },
    `${count} signatures valid; ${format} of ${sizes.aggregate} bytes ` +
      `(${(sizes.aggregate / count).toFixed(1)} a signature, ` +
      `${((100 * sizes.aggregate) / sizes.signatures).toFixed(1)} % of their sum)\n`,
  );
  return EXIT.ok;
}

function aggregateOrReport(
  items: readonly TaskItem[],
  { io, flag, report }: Invocation,
): Uint8Array | undefined {
  try {
    return aggregateSync(items);
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'INVALID_SIGNATURES') throw error;
    const { code, message, invalid = [] } = error;
    if (flag('json')) {
      report({ ok: false, code, message, count: items.length, invalid }, '');
    } else {
      io.stderr.write(
        `falconry aggregate: ${invalid.length} of ${items.length} signatures are not valid\n` +
          describeInvalid(invalid),
      );
    }
    return undefined;
  }
}
