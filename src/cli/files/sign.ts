/** `falconry sign`: signs files; writes triples of digest, key and signature. */
import type {
  ExpandedSecretKey,
  Falcon,
  SignatureFormat,
  SignOptions,
} from '../../falcon/index.ts';
import { formatTaskFile, type TaskItem } from '../../wire/triple.ts';
import { type Command, UsageError } from '../lib/command.ts';
import { defineCommand, FLAG, type Invocation, OUT, oneOf, TEXT } from '../lib/define.ts';
import { EXIT, EXIT_HELP } from '../lib/exitCodes.ts';
import { isStdout, readInput, refuseTwiceStdin, streamInput, writeOutput } from '../lib/io.ts';
import { PASSPHRASE_HELP, PASSPHRASE_OPTIONS, readPassphrase } from '../lib/passphrase.ts';
import { falconOf, readSecretKey, SIGNATURE_FORMATS, signatureFormat } from './keyFile.ts';

const help = `Usage: falconry sign --key <key.json> <message>... [-o <task.json>] [options]

Signs the exact bytes of each file. Writes a task file for falconry aggregate and falconry verify:
a JSON array of {"digest", "public_key", "signature"}, in hex with 0x. The digest is the message
itself.

      --key <file>     the secret key in any form: a key file of falconry keygen, PEM, DER, JWK, raw
${PASSPHRASE_HELP}
  <message>...         files to sign; - reads standard input
  -o, --out <file>     where to write the task file (default: standard output)
      --raw            write the bare signature instead of a task file; for one message only, of
                       any length
      --format <name>  compressed (default), padded or constantTime
      --salt <name>    random (default) or derived: from key and message, so that a message has one
                       signature, and its salt takes no room in an aggregate
      --deterministic  sign with deterministic Falcon, as Algorand does (not padded)
      --json           report as one line of JSON
  -q, --quiet          no report
  -h, --help           this text

Examples
  falconry sign --key key.json a.txt b.txt -o task.json
  echo hello | falconry sign --key key.json - --raw -o hello.sig

${EXIT_HELP}`;

const SALTS = ['random', 'derived'] as const;

/** The `sign` command. */
export const command: Command = defineCommand({
  name: 'sign',
  summary: 'sign files',
  help,
  options: {
    key: TEXT,
    ...PASSPHRASE_OPTIONS,
    out: OUT,
    raw: FLAG,
    format: { ...oneOf(SIGNATURE_FORMATS), default: 'compressed' },
    salt: { ...oneOf(SALTS), default: 'random' },
    deterministic: FLAG,
  },
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute({ io, positionals, option, flag, report }: Invocation): Promise<number> {
  const keyPath = option('key');
  const out = option('out');
  if (keyPath === undefined) throw new UsageError('--key is missing');
  if (positionals.length === 0) throw new UsageError('expected at least one message');
  if (flag('raw') && positionals.length > 1) throw new UsageError('--raw takes only one message');
  const way = wayOf(option('format')!, option('salt')!, flag('deterministic'));
  const passphraseFile = option('passphrase-file');
  refuseTwiceStdin([keyPath, passphraseFile, ...positionals]);

  const ask = () => readPassphrase(io, passphraseFile, false);
  const secret = await readSecretKey(await readInput(keyPath, io), ask);
  const falcon = falconOf(secret.parameterSet);
  const key = expandAndWipe(falcon, secret.key);
  try {
    const made = flag('raw')
      ? await signRaw(way, falcon, key, positionals[0]!, io)
      : formatTaskFile(await signAll(way, falcon, key, secret.publicKey, positionals, io));
    await writeOutput(out, made, io);
  } finally {
    key.destroy();
  }
  const count = positionals.length;
  report(
    { ok: true, parameter_set: falcon.name, count, out: out ?? '-' },
    `${count} ${count === 1 ? 'message' : 'messages'} signed\n`,
  );
  return EXIT.ok;
}

function expandAndWipe(falcon: Falcon, secretKey: Uint8Array): ExpandedSecretKey {
  try {
    return falcon.expandSecretKey(secretKey);
  } finally {
    secretKey.fill(0);
  }
}

/** How to sign. */
interface Way {
  readonly sign: (falcon: Falcon, message: Uint8Array, key: ExpandedSecretKey) => Uint8Array;
  /** The options of signing a stream; undefined if the message has to be read more than once. */
  readonly streaming: { readonly format: SignatureFormat } | undefined;
}

/** @throws UsageError for unknown values, or options that exclude each other */
function wayOf(name: string, salt: string, isDeterministic: boolean): Way {
  const format = signatureFormat(name);
  if (!(SALTS as readonly string[]).includes(salt)) {
    throw new UsageError(`--salt must be one of ${SALTS.join(', ')}`);
  }
  if (!isDeterministic) {
    const options: SignOptions = { format, ...(salt === 'derived' && { salt }) };
    return {
      sign: (falcon, message, key) => falcon.sign(message, key, options),
      streaming: salt === 'random' ? { format } : undefined,
    };
  }
  if (salt === 'derived') throw new UsageError('--deterministic has a salt of its own');
  if (format === 'padded') throw new UsageError('--deterministic has no padded form');
  return {
    sign: (falcon, message, key) => falcon.det.sign(message, key, { format }),
    streaming: undefined,
  };
}

async function signRaw(
  { sign, streaming }: Way,
  falcon: Falcon,
  key: ExpandedSecretKey,
  path: string,
  io: Invocation['io'],
): Promise<Uint8Array> {
  if (streaming === undefined) return sign(falcon, await readInput(path, io), key);
  return falcon.signStream(streamInput(path, io), key, streaming);
}

async function signAll(
  { sign }: Way,
  falcon: Falcon,
  key: ExpandedSecretKey,
  publicKey: Uint8Array,
  paths: readonly string[],
  io: Invocation['io'],
): Promise<TaskItem[]> {
  const messages: Uint8Array[] = [];
  for (const path of paths) messages.push(await readInput(path, io));
  return messages.map((message) => ({ message, publicKey, signature: sign(falcon, message, key) }));
}
