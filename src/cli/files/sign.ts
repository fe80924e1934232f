/** `falconry sign`: signs files; writes triples of digest, key and signature. */
import type {
  ExpandedSecretKey,
  Falcon,
  SignatureFormat,
  SignOptions,
} from '../../falcon/index.ts';
import { formatTaskFile, type TaskItem } from '../../wire/triple.ts';
import { type Command, EXIT, FILE_EXITS, OUT, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import {
  isStdout,
  readInput,
  refuseBinary,
  refuseTwiceStdin,
  streamInput,
  writeOutput,
} from '../lib/io.ts';
import { PASSPHRASE, readPassphrase } from '../lib/passphrase.ts';
import { plural } from '../lib/text.ts';
import { falconOf, readSecretKey, SIGNATURE_FORMATS } from './keyFile.ts';

const SALTS = ['random', 'derived'] as const;

/** The `sign` command. */
export const command: Command = defineCommand({
  name: 'sign',
  summary: 'sign files',
  usage: ['--key <file> <message>… [-o <file>] [options]'],
  about: [
    'Signs the exact bytes of each file. Writes a task file for falconry aggregate and falconry ' +
      'verify: a JSON array of {"digest", "public_key", "signature"}, in hex with 0x. The digest ' +
      'is the message itself.',
  ],
  operands: { '<message>…': 'files to sign; -: standard input' },
  options: [
    { name: 'key', value: 'file', about: 'secret key in any form: JSON, PEM, DER, JWK or raw' },
    PASSPHRASE,
    { ...OUT, about: 'where to write the task file [standard output]' },
    {
      name: 'raw',
      about: 'write the bare signature instead; for only one message, of any length',
    },
    {
      name: 'format',
      value: SIGNATURE_FORMATS,
      about: 'format of the signatures',
      fallback: 'compressed',
    },
    {
      name: 'salt',
      value: SALTS,
      about:
        'salts (with derived ones, from key and message, a message has only one signature, and ' +
        'its salt needs no room in an aggregate)',
      fallback: 'random',
    },
    {
      name: 'deterministic',
      about: 'sign with deterministic Falcon, as Algorand does (not padded)',
    },
  ],
  examples: [
    'falconry sign --key key.json a.txt b.txt -o task.json',
    'echo hello | falconry sign --key key.json - --raw -o hello.sig',
  ],
  exits: FILE_EXITS,
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute({ io, positionals, option, flag, report }: Invocation): Promise<number> {
  const keyPath = option('key');
  const out = option('out');
  if (keyPath === undefined) throw new UsageError('--key is missing');
  if (positionals.length === 0) throw new UsageError('expected at least one message');
  if (flag('raw') && positionals.length > 1) throw new UsageError('--raw takes only one message');
  if (flag('raw')) refuseBinary(out, io);
  const way = wayOf(option('format') as SignatureFormat, option('salt')!, flag('deterministic'));
  const passphraseFile = option('passphrase-file');
  refuseTwiceStdin([keyPath, passphraseFile, ...positionals]);

  const ask = () => readPassphrase(io, passphraseFile);
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
    `${plural(count, 'message')} signed\n`,
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

/** @throws UsageError for options that exclude each other */
function wayOf(format: SignatureFormat, salt: string, isDeterministic: boolean): Way {
  if (!isDeterministic) {
    const options: SignOptions = { format, ...(salt === 'derived' && { salt }) };
    return {
      sign: (falcon, message, key) => falcon.sign(message, key, options),
      streaming: salt === 'random' ? { format } : undefined,
    };
  }
  if (salt === 'derived') throw new UsageError('--deterministic excludes --salt derived');
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
