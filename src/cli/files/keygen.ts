/** `falconry keygen`: writes a key pair to a file. */

import {
  type Falcon,
  falcon512,
  falcon1024,
  type KeyPair,
  type ParameterSet,
} from '../../falcon/index.ts';
import { SEED_BYTES } from '../../falcon/params.ts';
import { CodedError } from '../../shared/errors.ts';
import { type Command, EXIT, FILE_EXITS, OUT, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import {
  isStdout,
  readInput,
  refuseOnTerminal,
  refuseTwiceStdin,
  SHOW,
  writeOutput,
} from '../lib/io.ts';
import { FIRST, NEW_PASSPHRASE, readPassphrase } from '../lib/passphrase.ts';
import {
  checkEncryptable,
  falconOf,
  formatEncryptedKey,
  formatPublicKey,
  formatSecretKey,
  KEY_FORMATS,
  type KeyFormat,
  parseField,
} from './keyFile.ts';

/** The `keygen` command. */
export const command: Command = defineCommand({
  name: 'keygen',
  summary: 'make a key pair',
  usage: ['[-o <file>] [--public <file>] [options]'],
  about: [
    'Makes a key pair. The key file is JSON, {"parameter_set", "public_key", "secret_key"}, in ' +
      'hex with 0x. Only its owner can read it, and an existing file is never replaced.',
  ],
  options: [
    {
      name: 'set',
      value: [falcon512.name, falcon1024.name],
      about: 'parameter set',
      fallback: 'falcon512',
    },
    { ...OUT, about: 'where to write the key file [standard output]' },
    { name: 'public', value: 'file', about: 'also write the public key, in the same format' },
    {
      name: 'key-format',
      value: KEY_FORMATS,
      about: 'format of both files [json; pem with a passphrase]',
    },
    { name: 'encrypt', about: 'encrypt the secret key under a passphrase' },
    NEW_PASSPHRASE,
    {
      name: 'seed-file',
      value: 'file',
      about:
        'derive the key from 8 to 128 bytes (best: 48), bare or in hex with 0x; keep them secret',
    },
    SHOW,
  ],
  examples: [
    'falconry keygen -o key.json --public public.json',
    'falconry keygen --set falcon1024 -o key1024.json',
    'falconry keygen --key-format pem -o key.pem --public public.pem',
  ],
  exits: FILE_EXITS,
  mostArguments: 0,
  writesToStdout: ({ option }) => isStdout(option('out')) || option('public') === '-',
  execute,
});

async function execute(invocation: Invocation): Promise<number> {
  const { io, option, flag, report } = invocation;
  const falcon = falconOf(option('set') as ParameterSet);
  const out = option('out');
  const publicOut = option('public');
  if (publicOut !== undefined && isStdout(out) && isStdout(publicOut)) {
    throw new UsageError('only one of --out and --public can be standard output');
  }
  const isEncrypted = flag('encrypt') || option('passphrase-file') !== undefined;
  const format = (option('key-format') ?? (isEncrypted ? 'pem' : 'json')) as KeyFormat;
  if (isEncrypted) checkEncryptable(format);
  if (isStdout(out) && !isEncrypted) {
    refuseOnTerminal(invocation, 'the secret key', 'give a file with -o');
  }
  refuseTwiceStdin([option('seed-file'), option('passphrase-file')]);
  const seed = await readSeed(option('seed-file'), io);
  const pair = falcon.keygen(seed);
  const file = isEncrypted
    ? await encrypted(pair, format, invocation)
    : formatSecretKey(falcon, pair, format);
  await writeOutput(out, file, io, 'create');
  if (publicOut !== undefined) {
    await writeOutput(publicOut, formatPublicKey(falcon, pair.publicKey, format), io);
  }
  report(
    { ok: true, parameter_set: falcon.name, out: out ?? '-', public: publicOut },
    reportText(falcon, out, isEncrypted),
  );
  return EXIT.ok;
}

function reportText(falcon: Falcon, out: string | undefined, isEncrypted: boolean): string {
  const what = isStdout(out) ? 'it' : out;
  const advice = isEncrypted ? `${what} is encrypted` : `keep ${what} secret`;
  return `${falcon.name} key pair made; ${advice}\n`;
}

async function encrypted({ secretKey }: KeyPair, format: KeyFormat, { io, option }: Invocation) {
  const passphrase = await readPassphrase(io, option('passphrase-file'), FIRST);
  try {
    return await formatEncryptedKey(secretKey, passphrase, format);
  } finally {
    passphrase.fill(0);
  }
}

async function readSeed(
  path: string | undefined,
  io: Invocation['io'],
): Promise<Uint8Array | undefined> {
  if (path === undefined) return undefined;
  const seed = parseField(await readInput(path, io), 'seed', 'the seed file');
  const { min, max } = SEED_BYTES;
  if (seed.length < min || seed.length > max) {
    throw new CodedError('BAD_KEY_FILE', {
      message: `the seed file holds ${seed.length} bytes; a seed has ${min} to ${max}`,
    });
  }
  return seed;
}
