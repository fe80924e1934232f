/** `falconry verify-aggregate`: verifies an aggregate for a list of digests and keys. */
import {
  extractSignatures,
  inspectAggregate,
  type StreamProgress,
  verifyAggregateAsync,
  verifyAggregateStream,
} from '../../aggregate/index.ts';
import { parseResultFile, refusalOf, verifyResultFileWith } from '../../wire/resultFile.ts';
import { checkStatements } from '../../wire/taskFile.ts';
import { formatTaskFile } from '../../wire/triple.ts';
import { type Command, FILE_EXITS, UsageError, valued } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { readList } from '../lib/elements.ts';
import { readInput, writeOutput } from '../lib/io.ts';
import { readThreads, THREADS } from '../lib/tasks.ts';
import { plural } from '../lib/text.ts';

export const command: Command = defineCommand({
  name: 'verify-aggregate',
  summary: 'verify an aggregate for a list of digests and public keys',
  usage: ['<aggregate> <statements> [--extract <file>]'],
  about: [
    'Verifies an aggregate for an ordered list of digests and public keys. The list must come ' +
      'from you, not from the maker of the aggregate. An aggregate in another version of its ' +
      'format, or a proof made with another parameter table, is invalid; the report says so.',
  ],
  operands: {
    '<aggregate>': 'result file, or bare aggregate; -: standard input',
    '<statements>':
      'JSON array of {"digest", "public_key"}, in hex with 0x, or one such object a line, or a ' +
      'task file, whose signatures are ignored; of any length; -: standard input',
  },
  takes: [2, 2, 'a result file and a task file'],
  options: [
    valued(
      'extract',
      'file',
      'write a task file with the original signatures, which only a bundle contains',
    ),
    THREADS,
  ],
  examples: [
    'falconry verify-aggregate out.json task.json',
    'falconry verify-aggregate out.json statements.json --extract task.json',
  ],
  exits: FILE_EXITS,
  writesToStdout: ({ option }) => option('extract') === '-',
  execute,
});

async function execute({ io, positionals, option, report, progress }: Invocation): Promise<void> {
  const [aggregatePath, statementsPath] = positionals as [string, string];
  const threads = readThreads(option('threads'));
  const file = await readInput(aggregatePath, io);
  const list = await readList(statementsPath, io, checkStatements);
  const statements = Array.isArray(list) ? list : [];
  const extract = option('extract');
  if (!Array.isArray(list) && extract !== undefined) {
    throw new UsageError('--extract takes a list of at most 256 MiB');
  }
  progress.update({ phase: 'verifying', done: 0 });
  const onProgress = (state: StreamProgress) => progress.update({ phase: 'verifying', ...state });
  const verify = (bytes: Uint8Array) =>
    Array.isArray(list)
      ? verifyAggregateAsync(bytes, list, { threads, onProgress })
      : verifyAggregateStream([bytes], list, { onProgress });
  // A bare aggregate does not start with `{`.
  const isJson = /^\s*\{/.test(new TextDecoder().decode(file.subarray(0, 64)));
  const result = isJson ? parseResultFile(file) : null;
  const aggregate = result?.aggregate ?? file;
  const isValid = await (result === null
    ? verify(file)
    : verifyResultFileWith(verify, result, statements));
  if (!isValid) {
    const reason = refusalOf(aggregate);
    const known = Array.isArray(list) && { count: list.length };
    const about = Array.isArray(list) ? plural(list.length, 'statement') : 'these statements';
    report(
      { ok: false, code: 'BAD_AGGREGATE', ...known, ...(reason && { reason }) },
      reason === undefined
        ? `invalid: not an aggregate of signatures for ${about}\n`
        : `invalid: ${reason}\n`,
    );
    return;
  }
  if (extract !== undefined) {
    const signatures = extractSignatures(aggregate, statements);
    const items = statements.map((s, i) => ({ ...s, signature: signatures[i]! }));
    await writeOutput(extract, formatTaskFile(items), io);
  }
  const { format, count, sizes, elements } = inspectAggregate(aggregate);
  const how = {
    bundle: 'bundled',
    proof: 'proved',
    series: 'in a series',
    merged: 'in one proof',
  }[format];
  const one = format === 'merged' ? 'part' : 'aggregate';
  const parts = elements === undefined ? '' : `${plural(elements.length, one)}, `;
  report(
    { ok: true, count, format, aggregate_bytes: aggregate.length, sizes },
    `valid: ${plural(count, 'signature')} ${how} in ` +
      `${parts}${sizes.total} bytes (including ${sizes.salts} bytes of salts)\n`,
  );
}
