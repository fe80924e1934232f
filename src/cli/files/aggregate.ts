/** `falconry aggregate`: a task file in, a result file out. */
import {
  type AggregateFormatOption,
  aggregate as aggregateItems,
  aggregateStream,
  type FormatChoice,
  MAX_AGGREGATE_ITEMS,
  MAX_PROOF_ITEMS,
} from '../../aggregate/index.ts';
import { concatAll } from '../../shared/bytes.ts';
import { isCodedError } from '../../shared/errors.ts';
import { formatResultFile, makeResultFile } from '../../wire/resultFile.ts';
import { checkTriples } from '../../wire/taskFile.ts';
import type { TaskItem } from '../../wire/triple.ts';
import { type Command, FILE_EXITS, flag, out, UsageError, valued } from '../lib/command.ts';
import { defineCommand, describeInvalid, type Invocation } from '../lib/define.ts';
import { readList } from '../lib/elements.ts';
import { isStdout, refuseBinary, writeOutput } from '../lib/io.ts';
import { readThreads, THREADS } from '../lib/tasks.ts';
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
      'is a JSON array of {"digest", "public_key", "signature"}, or one such object a line, all ' +
      'in hex with 0x: the message, the key, and the signature in any of its formats. Falcon-512 ' +
      'and Falcon-1024 may share a file.',
    'If any signature is invalid, each invalid one is listed with the reason and nothing is ' +
      'written.',
    'A bundle contains the signatures, and they can be extracted again. A proof does not contain ' +
      'them: it proves that a valid signature exists for every item. It is smaller than a bundle ' +
      'from about 82 signatures of Falcon-512 or 41 of Falcon-1024 onwards, and covers up to ' +
      `${MOST_IN_PROOF}.`,
    'A list that does not fit becomes a series: several aggregates in one file, about 10 bytes a ' +
      'signature if salts are derived. A list of more than 256 MiB is read as it arrives and ' +
      'needs --raw; its invalid signatures are listed up to the first aggregate that has any.',
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
  const list = await readList(positionals[0]!, io, checkTriples);
  if (!Array.isArray(list) && !flag('raw')) {
    throw new UsageError('a list of more than 256 MiB needs --raw');
  }
  const lengths = { signatures: 0, public_keys: 0, digests: 0 };
  const items = Array.isArray(list) ? list : counted(list, lengths);
  const start = performance.now();
  const done = await aggregateOrReport(items, { format, threads }, invocation);
  if (done === undefined) return;
  const { aggregate, choice, threads: used } = done;
  const timings = { aggregate_ms: performance.now() - start };
  const known = Array.isArray(items) ? items : [];
  const result = makeResultFile({ processId: null, aggregate, items: known, timings });

  await writeOutput(to, flag('raw') ? aggregate : formatResultFile(result), io);
  const { count, format: made, parameterSet: parameter_set } = result;
  const sizes = { ...result.sizes, ...(!Array.isArray(items) && lengths) };
  const { reason, text } = describeChoice(choice);
  const facts = { ok: true, count, format: made, reason, parameter_set, sizes };
  report(
    { ...facts, threads: used, timings, out: to ?? '-' },
    `${plural(count, 'signature')} valid; ${made} of ${sizes.aggregate} bytes ` +
      `(${(sizes.aggregate / count).toFixed(1)} per signature, ` +
      `${((100 * sizes.aggregate) / sizes.signatures).toFixed(1)} % of their total)\n` +
      `${text}\n`,
  );
}

/** Adds up the lengths of items as they pass. */
async function* counted(
  items: AsyncIterable<TaskItem>,
  lengths: Record<'signatures' | 'public_keys' | 'digests', number>,
): AsyncGenerator<TaskItem, void> {
  for await (const item of items) {
    lengths.signatures += item.signature.length;
    lengths.public_keys += item.publicKey.length;
    lengths.digests += item.message.length;
    yield item;
  }
}

/** @param choice undefined for a series */
function describeChoice(choice: FormatChoice | undefined): { reason: string; text: string } {
  if (choice === undefined) {
    return { reason: 'tooMany', text: 'a series: the list does not fit one aggregate' };
  }
  const { format, reason, bundleBytes, proofBytes } = choice;
  switch (reason) {
    case 'asked':
      return { reason, text: `a ${format}, as requested` };
    case 'tooMany':
      return { reason, text: `a bundle: a proof covers at most ${MOST_IN_PROOF}` };
    case 'noProof':
      return { reason, text: 'a bundle: every attempt to make a proof failed' };
    case 'smaller':
      return {
        reason,
        text:
          format === 'proof'
            ? `a proof: a bundle would have ${bundleBytes} bytes`
            : `a bundle: a proof would have about ${proofBytes} bytes`,
      };
  }
}

/** Returns whether one aggregate holds the list; unless it is a bundle, as a proof. */
function fitsOne(items: readonly TaskItem[], format: AggregateFormatOption): boolean {
  const large = items.filter(({ publicKey }) => publicKey.length === 1793).length;
  const fitsProof =
    large <= MAX_PROOF_ITEMS.falcon1024 && items.length - large <= MAX_PROOF_ITEMS.falcon512;
  return items.length <= MAX_AGGREGATE_ITEMS && (format === 'bundle' || fitsProof);
}

/** The aggregate, and the threads that were used; undefined if invalid signatures were reported. */
async function aggregateOrReport(
  items: readonly TaskItem[] | AsyncIterable<TaskItem>,
  options: { readonly format: AggregateFormatOption; readonly threads: number },
  { fail, progress }: Invocation,
) {
  let choice: FormatChoice | undefined;
  let { threads } = options;
  try {
    if (!('length' in items) || !fitsOne(items, options.format)) {
      const pieces: Uint8Array[] = [];
      const onProgress = (state: { done: number; total?: number }) =>
        progress.update({ phase: 'aggregating', ...state });
      for await (const piece of aggregateStream(items, { ...options, onProgress })) {
        pieces.push(piece);
      }
      return { aggregate: concatAll(pieces), choice, threads };
    }
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
    const of = 'length' in items ? ` of ${plural(items.length, 'signature')}` : '';
    fail(
      { ok: false, code, message, ...('length' in items && { count: items.length }), invalid },
      `${invalid.length}${of} ${are} invalid\n${describeInvalid(invalid)}`,
    );
    return undefined;
  }
}
