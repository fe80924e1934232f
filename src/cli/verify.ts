/** `falconry verify`: verifies one signature, or every signature in a task file. */
import { findInvalid } from '../aggregate/index.ts';
import type { InvalidItem } from '../errors.ts';
import { parseTaskFile } from '../wire/taskFile.ts';
import type { TaskItem } from '../wire/triple.ts';
import { FILE_LIMITS } from './aggregate.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, describeInvalid, type Invocation, TEXT } from './define.ts';
import { EXIT, EXIT_HELP } from './exitCodes.ts';
import { readInput, refuseTwiceStdin } from './io.ts';
import { parseField, readPublicKey } from './keyFile.ts';
import type { Progress } from './progress.ts';

const help = `Usage: falconry verify <task.json> [--json]
       falconry verify --key <file> --signature <file> <message> [--json]

Verifies every signature in a task file, as written by falconry sign, and lists the invalid ones
with the reasons. With --key and --signature, verifies one signature of one message.

  <task.json>           the task file; - reads standard input
      --key <file>      the public key in any form: a key file, hex with 0x, PEM, DER, JWK, raw
      --signature <file>  the signature: hex with 0x, or bare
  <message>             the signed file; - reads standard input
      --json            report as one line of JSON
  -q, --quiet           no report, no progress bar
  -h, --help            this text

Examples
  falconry verify task.json
  falconry verify --key public.json --signature hello.sig hello.txt

${EXIT_HELP}`;

/** The `verify` command. */
export const command: Command = defineCommand({
  name: 'verify',
  summary: 'verify a signature, or every signature in a task file',
  help,
  options: { key: TEXT, signature: TEXT },
  writesToStdout: () => false,
  execute,
});

async function execute(invocation: Invocation): Promise<number> {
  const { positionals, report, progress } = invocation;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError('expected one task file, or one message');
  }
  const items = await readItems(path, invocation);
  const invalid = findAll(items, progress);
  const count = items.length;
  if (invalid.length === 0) {
    report({ ok: true, count }, `valid: ${count} ${count === 1 ? 'signature' : 'signatures'}\n`);
    return EXIT.ok;
  }
  report(
    { ok: false, code: 'INVALID_SIGNATURES', count, invalid },
    `invalid: ${invalid.length} of ${count}\n${describeInvalid(invalid)}`,
  );
  return EXIT.invalid;
}

/** A few milliseconds of work between two updates of the progress bar. */
const CHUNK = 256;

function findAll(items: readonly TaskItem[], progress: Progress): InvalidItem[] {
  const invalid: InvalidItem[] = [];
  for (let from = 0; from < items.length; from += CHUNK) {
    progress.update({ phase: 'verifying', done: from, total: items.length });
    const found = findInvalid(items.slice(from, from + CHUNK));
    invalid.push(...found.map((item) => ({ ...item, index: from + item.index })));
  }
  return invalid;
}

async function readItems(path: string, { io, option }: Invocation): Promise<TaskItem[]> {
  const keyPath = option('key');
  const signaturePath = option('signature');
  if (keyPath === undefined && signaturePath === undefined) {
    return parseTaskFile(await readInput(path, io), FILE_LIMITS);
  }
  if (keyPath === undefined || signaturePath === undefined) {
    throw new UsageError('--key and --signature must be given together');
  }
  refuseTwiceStdin([keyPath, signaturePath, path]);
  const { key: publicKey } = readPublicKey(await readInput(keyPath, io));
  const signature = await readInput(signaturePath, io);
  return [
    {
      publicKey,
      signature: parseField(signature, 'signature', 'the signature file'),
      message: await readInput(path, io),
    },
  ];
}
