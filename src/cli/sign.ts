/** `falconry sign`: signs files; writes triples of digest, key and signature. */
import { CodedError } from '../errors.ts';
import type { SignatureFormat } from '../falcon/index.ts';
import { formatTaskFile, type TaskItem } from '../wire/triple.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, FLAG, type Invocation, OUT, TEXT } from './define.ts';
import { EXIT, EXIT_HELP } from './exitCodes.ts';
import { isStdout, readInput, refuseTwiceStdin, streamInput, writeOutput } from './io.ts';
import { falconOf, parseField } from './keyFile.ts';

const FORMATS: readonly string[] = ['compressed', 'padded', 'constantTime'];

const help = `Usage: falconry sign --key <key.json> <message>... [-o <task.json>] [options]

Signs the exact bytes of each file. Writes a task file for falconry aggregate and falconry verify:
a JSON array of {"digest", "public_key", "signature"}, in hex with 0x. The digest is the message
itself.

      --key <file>     a key file of falconry keygen, or the bare secret key of another program
  <message>...         files to sign; - reads standard input
  -o, --out <file>     where to write the task file (default: standard output)
      --raw            write the bare signature instead of a task file; for one message only, of
                       any length
      --format <name>  compressed (default), padded or constantTime
      --json           report as one line of JSON
  -q, --quiet          no report
  -h, --help           this text

Examples
  falconry sign --key key.json a.txt b.txt -o task.json
  echo hello | falconry sign --key key.json - --raw -o hello.sig

${EXIT_HELP}`;

/** The `sign` command. */
export const command: Command = defineCommand({
  name: 'sign',
  summary: 'sign files',
  help,
  options: { key: TEXT, out: OUT, raw: FLAG, format: { type: 'string', default: 'compressed' } },
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute({ io, positionals, option, flag, report }: Invocation): Promise<number> {
  const keyPath = option('key');
  const format = option('format')!;
  const out = option('out');
  if (keyPath === undefined) throw new UsageError('--key is missing');
  if (positionals.length === 0) throw new UsageError('expected at least one message');
  if (flag('raw') && positionals.length > 1) throw new UsageError('--raw takes only one message');
  if (!FORMATS.includes(format)) {
    throw new UsageError(`--format must be one of ${FORMATS.join(', ')}`);
  }
  refuseTwiceStdin([keyPath, ...positionals]);

  const secretKey = parseField(await readInput(keyPath, io), 'secret_key', 'the key file');
  const falcon = falconOf('secret_key', secretKey);
  if (falcon === undefined) throw noSecretKey();
  const count = positionals.length;
  if (flag('raw')) {
    const message = streamInput(positionals[0]!, io);
    const signature = await withKey(falcon, secretKey, (key) =>
      falcon.signStream(message, key, { format: format as SignatureFormat }),
    );
    await writeOutput(out, signature, io);
  } else {
    const messages: Uint8Array[] = [];
    for (const path of positionals) messages.push(await readInput(path, io));
    const items = await signAll(falcon, secretKey, messages, format as SignatureFormat);
    await writeOutput(out, formatTaskFile(items), io);
  }
  report(
    { ok: true, parameter_set: falcon.name, count, out: out ?? '-' },
    `${count} ${count === 1 ? 'message' : 'messages'} signed\n`,
  );
  return EXIT.ok;
}

type Falcon = NonNullable<ReturnType<typeof falconOf>>;
type Key = ReturnType<Falcon['expandSecretKey']>;

function signAll(
  falcon: Falcon,
  secretKey: Uint8Array,
  messages: readonly Uint8Array[],
  format: SignatureFormat,
): Promise<TaskItem[]> {
  return withKey(falcon, secretKey, (key) => {
    const publicKey = falcon.getPublicKey(secretKey);
    return messages.map((message) => ({
      message,
      publicKey,
      signature: falcon.sign(message, key, { format }),
    }));
  });
}

/** Destroys the expanded key afterwards. @throws CodedError `BAD_KEY_FILE` if it is no key */
async function withKey<T>(
  falcon: Falcon,
  secretKey: Uint8Array,
  use: (key: Key) => T | Promise<T>,
): Promise<T> {
  let key: Key;
  try {
    key = falcon.expandSecretKey(secretKey);
  } catch (cause) {
    throw noSecretKey(cause);
  }
  try {
    return await use(key);
  } finally {
    key.destroy();
  }
}

function noSecretKey(cause?: unknown): CodedError {
  return new CodedError('BAD_KEY_FILE', {
    message: 'the key file does not hold a valid secret key',
    cause,
  });
}
