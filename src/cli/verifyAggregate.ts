/** `falconry verify-aggregate`: whether an aggregate holds for a list of digests and keys. */
import {
  extractSignatures,
  inspectAggregate,
  type VerifyAggregateOptions,
  verifyAggregateAsync,
} from '../aggregate/index.ts';
import { parseResultFile, verifyResultFileWith } from '../wire/resultFile.ts';
import { formatTaskFile, parseStatementFile, type Statement } from '../wire/taskFile.ts';
import { FILE_LIMITS, readThreads } from './aggregate.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Invocation } from './define.ts';
import { EXIT, EXIT_HELP } from './exitCodes.ts';
import { readInput, refuseTwiceStdin, writeOutput } from './io.ts';

const help = `Usage: falconry verify-aggregate <out.json> <task.json> [--extract <file>] [--json]

Checks an aggregate against the ordered list of digests and public keys that it is said to be
about. The list is yours: take it from where you know it, not from whoever made the aggregate.

  <out.json>        the result file, or the bare aggregate; - reads standard input
  <task.json>       JSON array of {"digest", "public_key"}, hex with 0x; signatures in it, as in
                    a task file, are not looked at; - reads standard input
      --extract <file>  also write the task file with the exact original signatures; - writes it to
                    standard output. A bundle holds them, a proof does not.
      --threads <n> threads to verify with, from 1 to 64 (default: one for each processor)
      --json        report as one line of JSON
  -q, --quiet       no report, no progress bar
  -h, --help        this text

Examples
  falconry verify-aggregate out.json task.json
  falconry verify-aggregate out.json statements.json --extract task.json

${EXIT_HELP}`;

/** The `verify-aggregate` command. */
export const command: Command = defineCommand({
  name: 'verify-aggregate',
  summary: 'check an aggregate against its list of digests and public keys',
  help,
  options: { extract: { type: 'string' }, threads: { type: 'string' } },
  writesToStdout: ({ option }) => option('extract') === '-',
  execute,
});

async function execute({ io, positionals, option, report, progress }: Invocation): Promise<number> {
  const [aggregatePath, statementsPath] = positionals;
  if (aggregatePath === undefined || statementsPath === undefined || positionals.length > 2) {
    throw new UsageError('a result file and a task file are expected');
  }
  refuseTwiceStdin(positionals);
  const threads = readThreads(option('threads'));
  const file = await readInput(aggregatePath, io);
  const statements = parseStatementFile(await readInput(statementsPath, io), FILE_LIMITS);
  progress.update({ phase: 'verifying', done: 0 });
  const aggregate = await judge(file, statements, {
    threads,
    onProgress: ({ done, total }) => progress.update({ phase: 'verifying', done, total }),
  });
  if (aggregate === undefined) {
    report(
      { ok: false, code: 'BAD_AGGREGATE', count: statements.length },
      `not valid: no aggregate of signatures for these ${statements.length} statements\n`,
    );
    return EXIT.invalid;
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
    `valid: ${count} signatures ${format === 'proof' ? 'proved' : 'bundled'} in ${sizes.total} bytes` +
      ` (${sizes.salts} of them salts)\n`,
  );
  return EXIT.ok;
}

/** The bytes of the aggregate if all is well; a bare one is what no JSON text can begin with. */
async function judge(
  file: Uint8Array,
  statements: readonly Statement[],
  options: VerifyAggregateOptions,
): Promise<Uint8Array | undefined> {
  const verify = (aggregate: Uint8Array, about: readonly Statement[]) =>
    verifyAggregateAsync(aggregate, about, options);
  const isJson = /^\s*\{/.test(new TextDecoder().decode(file.subarray(0, 64)));
  if (!isJson) return (await verify(file, statements)) ? file : undefined;
  const result = parseResultFile(file);
  return (await verifyResultFileWith(verify, result, statements)) ? result.aggregate : undefined;
}
