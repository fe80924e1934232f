/** `falconry keygen`: writes a key pair to a file. */
import { SEED_BYTES } from '../../falcon/params.ts';
import { CodedError } from '../../shared/errors.ts';
import { type Command, FILE_EXITS, flag, out, UsageError, valued } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { isStdout, readInput, refuseOnTerminal, SHOW, writeOutput } from '../lib/io.ts';
import { NEW_PASSPHRASE, readPassphrase } from '../lib/passphrase.ts';
import {
  encryptedForm,
  FALCONS,
  falconsFor,
  formatKey,
  INTEGER,
  KEY_FORMATS,
  type KeyFormat,
  parseField,
} from './keyFile.ts';

export const command: Command = defineCommand({
  name: 'keygen',
  summary: 'make a key pair',
  usage: ['[-o <file>] [--public <file>] [options]'],
  about: [
    'Makes a key pair. The key file is JSON, {"parameter_set", "public_key", "secret_key"}, in ' +
      'hex with 0x. Only its owner can read it, and an existing file is never replaced.',
  ],
  options: [
    valued('set', Object.keys(FALCONS), 'parameter set', { fallback: 'falcon512' }),
    out('where to write the key file'),
    valued('public', 'file', 'also write the public key, in the same format'),
    valued('key-format', KEY_FORMATS, 'format of both files [json; pem with a passphrase]'),
    flag('encrypt', 'encrypt the secret key under a passphrase'),
    NEW_PASSPHRASE,
    valued(
      'seed-file',
      'file',
      'derive the key from 32 to 128 bytes (best: 48), bare or in hex with 0x; keep them secret',
      { isInput: true },
    ),
    INTEGER,
    SHOW,
  ],
  examples: [
    'falconry keygen -o key.json --public public.json',
    'falconry keygen --set falcon1024 -o key1024.json',
    'falconry keygen --key-format pem -o key.pem --public public.pem',
  ],
  exits: FILE_EXITS,
  writesToStdout: ({ option }) => isStdout(option('out')) || option('public') === '-',
  execute,
});

async function execute(invocation: Invocation): Promise<void> {
  const { io, option, flag, report } = invocation;
  const falcon = (await falconsFor(invocation))[option('set') as keyof typeof FALCONS];
  const secretOut = option('out');
  const publicOut = option('public');
  if (publicOut !== undefined && isStdout(secretOut) && isStdout(publicOut)) {
    throw new UsageError('only one of --out and --public can be standard output');
  }
  const isEncrypted = flag('encrypt') || option('passphrase-file') !== undefined;
  const format = (option('key-format') ?? (isEncrypted ? 'pem' : 'json')) as KeyFormat;
  if (isEncrypted) encryptedForm(format);
  else refuseOnTerminal(invocation, 'the secret key', 'give a file with -o', secretOut);
  const { publicKey, secretKey } = falcon.keygen(await readSeed(option('seed-file'), io));
  const passphrase = isEncrypted
    ? await readPassphrase(io, option('passphrase-file'), 'first')
    : null;
  const key = { parameterSet: falcon.name, publicKey };
  const file = await formatKey({ ...key, secretKey }, format, passphrase).finally(() =>
    passphrase?.fill(0),
  );
  await writeOutput(secretOut, file, io, 'create');
  if (publicOut !== undefined) await writeOutput(publicOut, await formatKey(key, format), io);
  const what = isStdout(secretOut) ? 'it' : secretOut;
  const advice = isEncrypted ? `${what} is encrypted` : `keep ${what} secret`;
  report(
    { ok: true, parameter_set: falcon.name, out: secretOut ?? '-', public: publicOut },
    `${falcon.name} key pair made; ${advice}\n`,
  );
}

async function readSeed(path: string | undefined, io: Invocation['io']) {
  if (path === undefined) return undefined;
  const seed = parseField(await readInput(path, io), 'seed', 'the seed file');
  const { min, max } = SEED_BYTES;
  if (seed.length >= min && seed.length <= max) return seed;
  const message = `the seed file holds ${seed.length} bytes; a seed has ${min} to ${max}`;
  throw new CodedError('BAD_KEY_FILE', { message });
}
