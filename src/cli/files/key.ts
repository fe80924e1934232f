/** `falconry key`: derives public keys, converts key files, and changes their passphrases. */
import type { ImportedSecretKey } from '../../falcon/keys/index.ts';
import { isCodedError } from '../../shared/errors.ts';
import { type Command, EXIT, FILE_EXITS, OUT, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import {
  isStdout,
  readInput,
  refuseBinary,
  refuseOnTerminal,
  refuseTwiceStdin,
  SHOW,
  writeOutput,
} from '../lib/io.ts';
import { NEW_ONE, PASSPHRASE, readPassphrase } from '../lib/passphrase.ts';
import {
  checkEncryptable,
  falconOf,
  formatEncryptedKey,
  formatPublicKey,
  formatSecretKey,
  KEY_FORMATS,
  type KeyFormat,
  readPublicKey,
  readSecretKey,
} from './keyFile.ts';

const VERBS = {
  public: 'write the public key of a secret key',
  convert: 'write a public or secret key in another format; a passphrase stays',
  passphrase: 'add, change or remove the passphrase of a secret key',
} as const;
type Verb = keyof typeof VERBS;

/** The `key` command. */
export const command: Command = defineCommand({
  name: 'key',
  summary: 'derive public keys, convert key files, change passphrases',
  usage: [
    'public <key file> [-o <file>] [--to <name>]',
    'convert <key file> --to <name> [-o <file>]',
    'passphrase <key file> [--remove] [-o <file>]',
  ],
  about: [
    'Reads a key file in any form: JSON, PEM, DER, JWK, raw, with or without a passphrase. Files ' +
      'with secret keys can be read only by their owner, and replace an existing file only with ' +
      '--force.',
    'Keys with a passphrase are PKCS#8 in PEM or DER; falconry key passphrase writes PEM unless ' +
      '--to is der.',
  ],
  verbs: VERBS,
  operands: { '<key file>': '-: standard input' },
  options: [
    { ...OUT, about: 'where to write the key [standard output]' },
    { name: 'to', value: KEY_FORMATS, about: 'format of the key that is written' },
    PASSPHRASE,
    {
      name: 'new-passphrase-file',
      value: 'file',
      verbs: ['passphrase'],
      about:
        'the new passphrase, without its last line end; otherwise that of ' +
        '$FALCONRY_NEW_PASSPHRASE, or the terminal asks for it',
    },
    { name: 'remove', verbs: ['passphrase'], about: 'write the key without a passphrase' },
    { name: 'force', about: 'replace the file of -o if it exists' },
    { ...SHOW, verbs: ['convert', 'passphrase'] },
  ],
  examples: [
    'falconry key public key.json -o derived.json',
    'falconry key convert key.json --to pem -o converted.pem',
    'falconry key passphrase key.json --new-passphrase-file pass.txt -o encrypted.pem',
    'falconry key passphrase encrypted.pem --passphrase-file pass.txt --remove -o plain.pem',
  ],
  exits: FILE_EXITS,
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

/** What is written, and the facts of the report. */
interface Made {
  readonly file: string | Uint8Array;
  readonly kind: 'public' | 'secret';
  readonly parameterSet: string;
  readonly format: KeyFormat;
  readonly encrypted: boolean;
}

async function execute(invocation: Invocation): Promise<number> {
  const { io, positionals, option, flag, report } = invocation;
  const verb = invocation.verb as Verb;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) throw new UsageError('expected one key file');
  if (verb === 'convert' && option('to') === undefined) throw new UsageError('--to is missing');
  if (flag('remove') && option('new-passphrase-file') !== undefined) {
    throw new UsageError('--remove excludes --new-passphrase-file');
  }
  refuseTwiceStdin([path, option('passphrase-file'), option('new-passphrase-file')]);
  const out = option('out');
  const input = await readInput(path, io);
  const { file, kind, parameterSet, format, encrypted } = await make[verb](input, invocation);
  if (kind === 'secret' && !encrypted && isStdout(out)) {
    refuseOnTerminal(invocation, 'the secret key', 'give a file with -o');
  }
  if (typeof file !== 'string') refuseBinary(out, io);
  await writeOutput(out, file, io, secrecyOf(kind, flag('force')));
  report(
    { ok: true, kind, parameter_set: parameterSet, format, encrypted, out: out ?? '-' },
    `${parameterSet} ${kind} key in ${format}${encrypted ? ', encrypted' : ''}\n`,
  );
  return EXIT.ok;
}

const secrecyOf = (kind: Made['kind'], isForced: boolean) =>
  kind === 'secret' && (isForced ? 'replace' : 'create');

type Maker = (input: Uint8Array, invocation: Invocation) => Promise<Made>;

const make: Readonly<Record<Verb, Maker>> = {
  async public(input, invocation) {
    return publicFile(await withSecret(input, invocation, async (key) => key), invocation);
  },
  async convert(input, invocation) {
    const format = invocation.option('to') as KeyFormat;
    const publicKey = asPublic(input);
    if (publicKey !== null)
      return publicFile({ ...publicKey, publicKey: publicKey.key }, invocation);
    return withSecret(input, invocation, async (key, passphrase) =>
      passphrase === null ? plainFile(key, format) : encryptedFile(key, passphrase, format),
    );
  },
  async passphrase(input, invocation) {
    const { io, option, flag } = invocation;
    const format = (option('to') ?? 'pem') as KeyFormat;
    if (!flag('remove')) checkEncryptable(format);
    return withSecret(input, invocation, async (key) => {
      if (flag('remove')) return plainFile(key, format);
      const passphrase = await readPassphrase(io, option('new-passphrase-file'), NEW_ONE);
      try {
        return await encryptedFile(key, passphrase, format);
      } finally {
        passphrase.fill(0);
      }
    });
  },
};

/** Reads the secret key, and clears it and its passphrase after use. */
async function withSecret<T>(
  input: Uint8Array,
  { io, option }: Invocation,
  use: (key: ImportedSecretKey, passphrase: Uint8Array | null) => Promise<T>,
): Promise<T> {
  let passphrase: Uint8Array | null = null;
  let key: ImportedSecretKey | undefined;
  try {
    key = await readSecretKey(input, async () => {
      passphrase = await readPassphrase(io, option('passphrase-file'));
      return Uint8Array.from(passphrase);
    });
    return await use(key, passphrase);
  } finally {
    (passphrase as Uint8Array | null)?.fill(0);
    key?.key.fill(0);
  }
}

/** The public key of a file that holds no secret key; null for any other file. */
function asPublic(input: Uint8Array): ReturnType<typeof readPublicKey> | null {
  const text = new TextDecoder().decode(input.subarray(0, 16_384));
  if (/"secret_key"|"priv"|PRIVATE KEY/.test(text)) return null;
  try {
    return readPublicKey(input);
  } catch (error) {
    if (isCodedError(error)) return null;
    throw error;
  }
}

function publicFile(
  { publicKey, parameterSet }: Pick<ImportedSecretKey, 'publicKey' | 'parameterSet'>,
  { option }: Invocation,
): Made {
  const format = (option('to') ?? 'json') as KeyFormat;
  const file = formatPublicKey(falconOf(parameterSet), publicKey, format);
  return { file, kind: 'public', parameterSet, format, encrypted: false };
}

function plainFile({ key, publicKey, parameterSet }: ImportedSecretKey, format: KeyFormat): Made {
  const pair = { publicKey, secretKey: key };
  const file = formatSecretKey(falconOf(parameterSet), pair, format);
  return { file, kind: 'secret', parameterSet, format, encrypted: false };
}

async function encryptedFile(
  { key, parameterSet }: ImportedSecretKey,
  passphrase: Uint8Array,
  format: KeyFormat,
): Promise<Made> {
  const file = await formatEncryptedKey(key, passphrase, format);
  return { file, kind: 'secret', parameterSet, format, encrypted: true };
}
