/** `falconry verify-aggregate`: verifies an aggregate for a list of digests and keys. */
import {
  extractSignatures,
  inspectAggregate,
  type VerifyAggregateOptions,
  verifyAggregateAsync,
} from '../../aggregate/index.ts';
import { parseResultFile, refusalOf, verifyResultFileWith } from '../../wire/resultFile.ts';
import { parseStatementFile } from '../../wire/taskFile.ts';
import { formatTaskFile, type Statement } from '../../wire/triple.ts';
import { type Command, FILE_EXITS, valued } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { readInput, writeOutput } from '../lib/io.ts';
import { FILE_LIMITS, readThreads, THREADS } from '../lib/tasks.ts';
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
      'JSON array of {"digest", "public_key"}, in hex with 0x, or a task file, whose signatures ' +
      'are ignored; -: standard input',
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
  const statements = parseStatementFile(await readInput(statementsPath, io), FILE_LIMITS);
  progress.update({ phase: 'verifying', done: 0 });
  const options: VerifyAggregateOptions = {
    threads,
    onProgress: ({ done, total }) => progress.update({ phase: 'verifying', done, total }),
  };
  const verify = (bytes: Uint8Array, about: readonly Statement[]) =>
    verifyAggregateAsync(bytes, about, options);
  // A bare aggregate does not start with `{`.
  const isJson = /^\s*\{/.test(new TextDecoder().decode(file.subarray(0, 64)));
  const result = isJson ? parseResultFile(file) : null;
  const aggregate = result?.aggregate ?? file;
  const isValid = await (result === null
    ? verify(file, statements)
    : verifyResultFileWith(verify, result, statements));
  if (!isValid) {
    const reason = refusalOf(aggregate);
    report(
      { ok: false, code: 'BAD_AGGREGATE', count: statements.length, ...(reason && { reason }) },
      reason === undefined
        ? `invalid: not an aggregate of signatures for ${plural(statements.length, 'statement')}\n`
        : `invalid: ${reason}\n`,
    );
    return;
  }
  const extract = option('extract');
  if (extract !== undefined) {
    const signatures = extractSignatures(aggregate, statements);
    const items = statements.map((s, i) => ({ ...s, signature: signatures[i]! }));
    await writeOutput(extract, formatTaskFile(items), io);
  }
  const count = statements.length;
  const { format, sizes } = inspectAggregate(aggregate);
  report(
    { ok: true, count, format, aggregate_bytes: aggregate.length, sizes },
    `valid: ${plural(count, 'signature')} ${format === 'proof' ? 'proved' : 'bundled'} in ` +
      `${sizes.total} bytes (including ${sizes.salts} bytes of salts)\n`,
  );
}
