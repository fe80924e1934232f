/** `falconry keygen`: writes a key pair to a file. */
import { CodedError } from '../errors.ts';
import { falcon512, falcon1024 } from '../falcon/index.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Invocation, OUT, TEXT } from './define.ts';
import { EXIT, EXIT_HELP } from './exitCodes.ts';
import { isStdout, readInput, writeOutput } from './io.ts';
import { formatKeyFile, parseField } from './keyFile.ts';

const help = `Usage: falconry keygen [--set falcon512|falcon1024] [-o <key.json>] [--public <file>]

Makes a key pair. The key file is JSON: {"parameter_set", "public_key", "secret_key"}, in hex with
0x. Only its owner can read it, and an existing file is never replaced.

      --set <name>        falcon512 (default) or falcon1024
  -o, --out <file>        where to write the key file (default: standard output)
      --public <file>     also write the public key alone, to give to others
      --seed-file <file>  48 bytes, bare or in hex with 0x, from which the key is derived; keep them
                          as secret as the key
      --json              report as one line of JSON
  -q, --quiet             no report
  -h, --help              this text

Examples
  falconry keygen -o key.json --public public.json
  falconry keygen --set falcon1024 -o key1024.json

${EXIT_HELP}`;

/** The `keygen` command. */
export const command: Command = defineCommand({
  name: 'keygen',
  summary: 'make a key pair',
  help,
  options: {
    set: { type: 'string', default: 'falcon512' },
    out: OUT,
    public: TEXT,
    'seed-file': TEXT,
  },
  writesToStdout: ({ option }) => isStdout(option('out')) || option('public') === '-',
  execute,
});

async function execute({ io, positionals, option, report }: Invocation): Promise<number> {
  if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
  const falcon = [falcon512, falcon1024].find(({ name }) => name === option('set'));
  if (falcon === undefined) throw new UsageError('--set must be falcon512 or falcon1024');
  const out = option('out');
  const publicOut = option('public');
  if (publicOut !== undefined && isStdout(out) && isStdout(publicOut)) {
    throw new UsageError('only one of --out and --public can be standard output');
  }
  const seed = await readSeed(option('seed-file'), io);
  const { publicKey, secretKey } = falcon.keygen(seed);
  await writeOutput(out, formatKeyFile(falcon, publicKey, secretKey), io, true);
  if (publicOut !== undefined) await writeOutput(publicOut, formatKeyFile(falcon, publicKey), io);
  report(
    { ok: true, parameter_set: falcon.name, out: out ?? '-', public: publicOut },
    `${falcon.name} key pair made; keep ${isStdout(out) ? 'it' : out} secret\n`,
  );
  return EXIT.ok;
}

async function readSeed(
  path: string | undefined,
  io: Invocation['io'],
): Promise<Uint8Array | undefined> {
  if (path === undefined) return undefined;
  const seed = parseField(await readInput(path, io), 'seed', 'the seed file');
  if (seed.length !== falcon512.lengths.seed) {
    throw new CodedError('BAD_KEY_FILE', {
      message: `the seed file holds ${seed.length} bytes instead of ${falcon512.lengths.seed}`,
    });
  }
  return seed;
}
