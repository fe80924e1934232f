/** `falconry key`: derives public keys, converts key files, and changes their passphrases. */
import { isCodedError } from '../../shared/errors.ts';
import { type Command, FILE_EXITS, flag, out, valued } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { isStdout, readInput, refuseOnTerminal, SHOW, writeOutput } from '../lib/io.ts';
import { PASSPHRASE, readPassphrase } from '../lib/passphrase.ts';
import {
  encryptedForm,
  formatKey,
  KEY_FORMATS,
  type KeyFormat,
  type KeyParts,
  readPublicKey,
  withSecretKey,
} from './keyFile.ts';

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
  verbs: {
    public: 'write the public key of a secret key',
    convert: 'write a public or secret key in another format; a passphrase stays',
    passphrase: 'add, change or remove the passphrase of a secret key',
  },
  operands: { '<key file>': '-: standard input' },
  takes: [1, 1, 'one key file'],
  options: [
    out('where to write the key'),
    valued('to', KEY_FORMATS, 'format of the key that is written', { required: ['convert'] }),
    PASSPHRASE,
    valued(
      'new-passphrase-file',
      'file',
      'the new passphrase, without its last line end; otherwise that of ' +
        '$FALCONRY_NEW_PASSPHRASE, or the terminal asks for it',
      { verbs: ['passphrase'], isInput: true },
    ),
    flag('remove', 'write the key without a passphrase', {
      verbs: ['passphrase'],
      excludes: ['new-passphrase-file'],
    }),
    flag('force', 'replace the file of -o if it exists'),
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

async function execute(invocation: Invocation): Promise<void> {
  const { io, verb, positionals, option, flag } = invocation;
  const isNew = verb === 'passphrase' && !flag('remove');
  const format = (option('to') ?? (verb === 'passphrase' ? 'pem' : 'json')) as KeyFormat;
  if (isNew) encryptedForm(format);
  const input = await readInput(positionals[0]!, io);
  const found = verb === 'convert' ? publicKeyOf(input) : null;
  if (found !== null) return write(found, format, null, invocation);
  return withSecretKey(input, invocation, async (secret, passphrase) => {
    const { parameterSet, publicKey, key: secretKey } = secret;
    if (verb === 'public') return write({ parameterSet, publicKey }, format, null, invocation);
    const key = { parameterSet, publicKey, secretKey };
    const kept = verb === 'convert' ? passphrase : null;
    if (!isNew) return write(key, format, kept, invocation);
    const fresh = await readPassphrase(io, option('new-passphrase-file'), 'new');
    try {
      return await write(key, format, fresh, invocation);
    } finally {
      fresh.fill(0);
    }
  });
}

async function write(
  key: KeyParts,
  format: KeyFormat,
  passphrase: Uint8Array | null,
  invocation: Invocation,
): Promise<void> {
  const { io, option, flag, report } = invocation;
  const { parameterSet } = key;
  const to = option('out');
  const kind = key.secretKey === undefined ? 'public' : 'secret';
  const encrypted = passphrase !== null;
  const file = await formatKey(key, format, passphrase);
  if (kind === 'secret' && !encrypted) {
    refuseOnTerminal(invocation, 'the secret key', 'give a file with -o', to);
  }
  await writeOutput(to, file, io, kind === 'secret' && (flag('force') ? 'replace' : 'create'));
  report(
    { ok: true, kind, parameter_set: parameterSet, format, encrypted, out: to ?? '-' },
    `${parameterSet} ${kind} key in ${format}${encrypted ? ', encrypted' : ''}\n`,
  );
}

/** The public key of a file without a secret key; null for any other file. */
function publicKeyOf(input: Uint8Array): KeyParts | null {
  const text = new TextDecoder().decode(input.subarray(0, 16_384));
  if (/"secret_key"|"priv"|PRIVATE KEY/.test(text)) return null;
  try {
    const { parameterSet, key } = readPublicKey(input);
    return { parameterSet, publicKey: key };
  } catch (error) {
    if (isCodedError(error)) return null;
    throw error;
  }
}
