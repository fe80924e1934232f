/** `falconry keygen`: writes a key pair to a file. */

import { type Falcon, falcon512, falcon1024, type KeyPair } from '../../falcon/index.ts';
import { SEED_BYTES } from '../../falcon/params.ts';
import { CodedError } from '../../shared/errors.ts';
import { type Command, UsageError } from '../lib/command.ts';
import { defineCommand, FLAG, type Invocation, OUT, oneOf, TEXT } from '../lib/define.ts';
import { EXIT, EXIT_HELP } from '../lib/exitCodes.ts';
import { isStdout, readInput, refuseTwiceStdin, writeOutput } from '../lib/io.ts';
import { PASSPHRASE_OPTIONS, readPassphrase } from '../lib/passphrase.ts';
import { refuseOnTerminal, SHOW_OPTION } from '../lib/shownSecret.ts';
import {
  checkEncryptable,
  checkKeyFormat,
  formatEncryptedKey,
  formatPublicKey,
  formatSecretKey,
  KEY_FORMATS,
  type KeyFormat,
  parseField,
} from './keyFile.ts';

const help = `Usage: falconry keygen [--set <name>] [-o <key.json>] [--public <file>] [options]

Makes a key pair. The key file is JSON: {"parameter_set", "public_key", "secret_key"}, in hex with
0x. Only its owner can read it, and an existing file is never replaced.

      --set <name>        falcon512 (default) or falcon1024
  -o, --out <file>        where to write the key file (default: standard output)
      --public <file>     also write the public key alone, to give to others, in the same format
      --key-format <name> json (default, pem with a passphrase), pem (PKCS#8 and SPKI), der (the
                          same), jwk, raw, bare (without header bytes), extended (bare, both keys)
      --encrypt           encrypt the secret key under a passphrase: that of --passphrase-file or
                          $FALCONRY_PASSPHRASE, or the terminal asks for one
      --passphrase-file <file>  encrypt it under the passphrase in this file, without its last line
                          end
      --seed-file <file>  8 to 128 bytes (48 are best), bare or in hex with 0x, from which the key
                          is derived; keep them as secret as the key
      --show              print the secret key, unencrypted, even where standard output is a
                          terminal
      --json              report as one line of JSON
  -q, --quiet             no report
  -h, --help              this text

Examples
  falconry keygen -o key.json --public public.json
  falconry keygen --set falcon1024 -o key1024.json
  falconry keygen --key-format pem -o key.pem --public public.pem

${EXIT_HELP}`;

/** The `keygen` command. */
export const command: Command = defineCommand({
  name: 'keygen',
  summary: 'make a key pair',
  help,
  mostArguments: 0,
  options: {
    set: { ...oneOf([falcon512.name, falcon1024.name]), default: 'falcon512' },
    out: OUT,
    public: TEXT,
    'key-format': oneOf(KEY_FORMATS),
    encrypt: FLAG,
    ...PASSPHRASE_OPTIONS,
    'seed-file': TEXT,
    ...SHOW_OPTION,
  },
  writesToStdout: ({ option }) => isStdout(option('out')) || option('public') === '-',
  execute,
});

async function execute(invocation: Invocation): Promise<number> {
  const { io, option, flag, report } = invocation;
  const falcon = [falcon512, falcon1024].find(({ name }) => name === option('set'));
  if (falcon === undefined) throw new UsageError('--set must be falcon512 or falcon1024');
  const out = option('out');
  const publicOut = option('public');
  if (publicOut !== undefined && isStdout(out) && isStdout(publicOut)) {
    throw new UsageError('only one of --out and --public can be standard output');
  }
  const isEncrypted = flag('encrypt') || option('passphrase-file') !== undefined;
  const format = checkKeyFormat(option('key-format') ?? (isEncrypted ? 'pem' : 'json'));
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
  await writeOutput(out, file, io, true);
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
  const passphrase = await readPassphrase(io, option('passphrase-file'), true);
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
