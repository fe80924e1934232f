/** `falconry aggregate`: a task file in, a result file out. */
import {
  type AggregateFormatOption,
  aggregate as aggregateItems,
  type FormatChoice,
  MAX_AGGREGATE_ITEMS,
  MAX_PROOF_ITEMS,
} from '../../aggregate/index.ts';
import { isCodedError } from '../../shared/errors.ts';
import { formatResultFile, makeResultFile } from '../../wire/resultFile.ts';
import { parseTaskFile } from '../../wire/taskFile.ts';
import type { TaskItem } from '../../wire/triple.ts';
import { type Command, FILE_EXITS, flag, out, valued } from '../lib/command.ts';
import { defineCommand, describeInvalid, type Invocation } from '../lib/define.ts';
import { isStdout, readInput, refuseBinary, writeOutput } from '../lib/io.ts';
import { FILE_LIMITS, readThreads, THREADS } from '../lib/tasks.ts';
import { plural } from '../lib/text.ts';

const FORMATS: readonly AggregateFormatOption[] = ['auto', 'proof', 'bundle'];

const MOST_IN_PROOF =
  `${MAX_PROOF_ITEMS.falcon512} signatures of Falcon-512 and ` +
  `${MAX_PROOF_ITEMS.falcon1024} of Falcon-1024`;

export const command: Command = defineCommand({
  name: 'aggregate',
  summary: 'combine the signatures of a task file into one aggregate',
  usage: ['<task file> [-o <file>] [--format <name>] [--raw]'],
  about: [
    'Verifies every signature in a task file and combines them into one aggregate. A task file ' +
      'is a JSON array of {"digest", "public_key", "signature"}, all in hex with 0x: the ' +
      'message, the key, and the signature in any of its formats. Falcon-512 and Falcon-1024 may ' +
      `share a file of up to ${MAX_AGGREGATE_ITEMS} items.`,
    'If any signature is invalid, each invalid one is listed with the reason and nothing is ' +
      'written.',
    'A bundle contains the signatures, and they can be extracted again. A proof does not contain ' +
      'them: it proves that a valid signature exists for every item. It is smaller than a bundle ' +
      'from about 82 signatures of Falcon-512 or 41 of Falcon-1024 onwards, and covers up to ' +
      `${MOST_IN_PROOF}.`,
  ],
  operands: { '<task file>': '-: standard input' },
  takes: [1, 1, 'one task file'],
  options: [
    out('where to write the result file'),
    valued('format', FORMATS, 'format (auto: the smaller of the two)', { fallback: 'auto' }),
    { ...THREADS, about: `${THREADS.about}; the result is the same for any number` },
    flag('raw', 'write the bare aggregate instead of the result file'),
  ],
  examples: [
    'falconry aggregate task.json -o out.json',
    'falconry aggregate task.json -o out.json --format bundle',
    'falconry sign --key key.json *.txt | falconry aggregate - -o out.json',
  ],
  exits: FILE_EXITS,
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute(invocation: Invocation): Promise<void> {
  const { io, positionals, option, flag, report } = invocation;
  const to = option('out');
  if (flag('raw')) refuseBinary(to, io);
  const format = option('format') as AggregateFormatOption;
  const threads = readThreads(option('threads'));
  const items = parseTaskFile(await readInput(positionals[0]!, io), FILE_LIMITS);
  const start = performance.now();
  const done = await aggregateOrReport(items, { format, threads }, invocation);
  if (done === undefined) return;
  const { aggregate, choice, threads: used } = done;
  const timings = { aggregate_ms: performance.now() - start };
  const result = makeResultFile({ processId: null, aggregate, items, timings });

  await writeOutput(to, flag('raw') ? aggregate : formatResultFile(result), io);
  const { count, format: made, parameterSet: parameter_set, sizes } = result;
  const { reason } = choice;
  const facts = { ok: true, count, format: made, reason, parameter_set, sizes };
  report(
    { ...facts, threads: used, timings, out: to ?? '-' },
    `${plural(count, 'signature')} valid; ${made} of ${sizes.aggregate} bytes ` +
      `(${(sizes.aggregate / count).toFixed(1)} per signature, ` +
      `${((100 * sizes.aggregate) / sizes.signatures).toFixed(1)} % of their total)\n` +
      `${describeChoice(choice)}\n`,
  );
}

function describeChoice({ format, reason, bundleBytes, proofBytes }: FormatChoice): string {
  switch (reason) {
    case 'asked':
      return `a ${format}, as requested`;
    case 'tooMany':
      return `a bundle: a proof covers at most ${MOST_IN_PROOF}`;
    case 'noProof':
      return 'a bundle: every attempt to make a proof failed';
    case 'smaller':
      return format === 'proof'
        ? `a proof: a bundle would have ${bundleBytes} bytes`
        : `a bundle: a proof would have about ${proofBytes} bytes`;
  }
}

/** The aggregate, and the threads that were used; undefined if invalid signatures were reported. */
async function aggregateOrReport(
  items: readonly TaskItem[],
  options: { readonly format: AggregateFormatOption; readonly threads: number },
  { fail, progress }: Invocation,
) {
  let choice!: FormatChoice;
  let threads = 1;
  try {
    const aggregate = await aggregateItems(items, {
      ...options,
      onFormat: (settled) => void (choice = settled),
      onStats: (stats) => void (threads = stats.threads),
      onProgress: progress.update,
    });
    return { aggregate, choice, threads };
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'INVALID_SIGNATURES') throw error;
    const { code, message, invalid = [] } = error;
    const are = invalid.length === 1 ? 'is' : 'are';
    fail(
      { ok: false, code, message, count: items.length, invalid },
      `${invalid.length} of ${plural(items.length, 'signature')} ${are} invalid\n` +
        describeInvalid(invalid),
    );
    return undefined;
  }
}
