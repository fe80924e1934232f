/** `falconry verify`: verifies one signature, or every signature in a task file. */
import { findInvalid } from '../../aggregate/index.ts';
import { toOrdinary } from '../../falcon/deterministic.ts';
import type { InvalidItem } from '../../shared/errors.ts';
import { parseTaskFile } from '../../wire/taskFile.ts';
import type { TaskItem } from '../../wire/triple.ts';
import { type Command, UsageError } from '../lib/command.ts';
import { defineCommand, describeInvalid, type Invocation, oneOf, TEXT } from '../lib/define.ts';
import { EXIT, EXIT_HELP } from '../lib/exitCodes.ts';
import { readInput, refuseTwiceStdin, streamInput } from '../lib/io.ts';
import type { Progress } from '../lib/progress.ts';
import { FILE_LIMITS } from './aggregate.ts';
import {
  falconOf,
  parseField,
  readPublicKey,
  SIGNATURE_FORMATS,
  signatureFormat,
} from './keyFile.ts';

const help = `Usage: falconry verify <task.json> [--json]
       falconry verify --key <file> --signature <file> <message> [--json]

Verifies every signature in a task file, as written by falconry sign, and lists the invalid ones
with the reasons. With --key and --signature, verifies one signature of one message of any length.

  <task.json>           the task file; - reads standard input
      --key <file>      the public key in any form: a key file, hex with 0x, PEM, DER, JWK, raw
      --signature <file>  the signature: hex with 0x, or bare
  <message>             the signed file; - reads standard input
      --format <name>   with --key: accept only compressed, padded or constantTime signatures
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
  options: { key: TEXT, signature: TEXT, format: oneOf(SIGNATURE_FORMATS) },
  writesToStdout: () => false,
  execute,
});

async function execute(invocation: Invocation): Promise<number> {
  const { positionals, report, option } = invocation;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError('expected one task file, or one message');
  }
  const isOne = option('key') !== undefined || option('signature') !== undefined;
  if (!isOne && option('format') !== undefined) throw new UsageError('--format needs --key');
  const { count, invalid } = await (isOne ? verifyOne : verifyFile)(path, invocation);
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

interface Verdicts {
  readonly count: number;
  readonly invalid: readonly InvalidItem[];
}

/** Every signature of a task file. */
async function verifyFile(path: string, { io, progress }: Invocation): Promise<Verdicts> {
  const items = parseTaskFile(await readInput(path, io), FILE_LIMITS);
  return { count: items.length, invalid: findAll(items, progress) };
}

/** One signature of a message that is read in pieces. */
async function verifyOne(path: string, { io, option }: Invocation): Promise<Verdicts> {
  const keyPath = option('key');
  const signaturePath = option('signature');
  if (keyPath === undefined || signaturePath === undefined) {
    throw new UsageError('--key and --signature must be given together');
  }
  refuseTwiceStdin([keyPath, signaturePath, path]);
  const name = option('format');
  const options = name === undefined ? {} : { format: signatureFormat(name) };
  const { key: publicKey, parameterSet } = readPublicKey(await readInput(keyPath, io));
  const file = await readInput(signaturePath, io);
  const falcon = falconOf(parameterSet);
  const signature = toOrdinary(parseField(file, 'signature', 'the signature file'));
  const message = streamInput(path, io);
  if (await falcon.verifyStream(signature, message, publicKey, options)) {
    return { count: 1, invalid: [] };
  }
  // The reason is that of any message, unless key and signature are well-formed.
  const item = { publicKey, signature, message: new Uint8Array(0) };
  const [{ reason } = { reason: 'signatureMismatch' as const }] = falcon.verifyBatch(
    [item],
    options,
  );
  return { count: 1, invalid: [{ index: 0, reason }] };
}
