/** `falconry sign`: signs files; writes triples of digest, key and signature. */
import type { ExpandedSecretKey, Falcon, SignatureFormat } from '../../falcon/index.ts';
import { formatTaskFile } from '../../wire/triple.ts';
import {
  type Command,
  FILE_EXITS,
  flag,
  type Io,
  out,
  UsageError,
  valued,
} from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { isStdout, readInput, refuseBinary, streamInput, writeOutput } from '../lib/io.ts';
import { PASSPHRASE } from '../lib/passphrase.ts';
import { plural } from '../lib/text.ts';
import { FALCONS, SIGNATURE_FORMATS, withSecretKey } from './keyFile.ts';

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
  takes: [1, Number.POSITIVE_INFINITY, 'at least one message'],
  options: [
    valued('key', 'file', 'secret key in any form: JSON, PEM, DER, JWK or raw', {
      required: true,
      isInput: true,
    }),
    PASSPHRASE,
    out('where to write the task file'),
    flag('raw', 'write the bare signature instead; for only one message, of any length'),
    valued('format', SIGNATURE_FORMATS, 'format of the signatures', { fallback: 'compressed' }),
    valued(
      'salt',
      ['random', 'derived'],
      'salts (derived: from key and message, so that a message has only one signature, whose ' +
        'salt takes no space in an aggregate)',
      { fallback: 'random' },
    ),
    flag('deterministic', 'sign with deterministic Falcon, as Algorand does (not padded)'),
  ],
  examples: [
    'falconry sign --key key.json a.txt b.txt -o task.json',
    'echo hello | falconry sign --key key.json - --raw -o hello.sig',
  ],
  exits: FILE_EXITS,
  writesToStdout: ({ option }) => isStdout(option('out')),
  execute,
});

async function execute(invocation: Invocation): Promise<void> {
  const { io, positionals, option, flag, report } = invocation;
  const to = option('out');
  const isRaw = flag('raw');
  if (isRaw && positionals.length > 1) throw new UsageError('--raw accepts only one message');
  if (isRaw) refuseBinary(to, io);
  const way = wayOf(option('format') as SignatureFormat, option('salt')!, flag('deterministic'));
  const file = await readInput(option('key')!, io);
  const parameterSet = await withSecretKey(file, invocation, async (secret) => {
    const falcon = FALCONS[secret.parameterSet];
    const key = falcon.expandSecretKey(secret.key);
    secret.key.fill(0);
    try {
      const made = isRaw
        ? await signRaw(way, falcon, key, positionals[0]!, io)
        : await signAll(way, falcon, key, secret.publicKey, positionals, io);
      await writeOutput(to, made, io);
    } finally {
      key.destroy();
    }
    return secret.parameterSet;
  });
  const count = positionals.length;
  report(
    { ok: true, parameter_set: parameterSet, count, out: to ?? '-' },
    `${plural(count, 'message')} signed\n`,
  );
}

interface Way {
  readonly sign: (falcon: Falcon, message: Uint8Array, key: ExpandedSecretKey) => Uint8Array;
  /** The options of signing a stream; undefined if the message has to be read more than once. */
  readonly streaming: { readonly format: SignatureFormat } | undefined;
}

/** @throws UsageError for options that exclude each other */
function wayOf(format: SignatureFormat, salt: string, isDeterministic: boolean): Way {
  if (!isDeterministic) {
    const derived = salt === 'derived' ? { salt: 'derived' as const } : {};
    return {
      sign: (falcon, message, key) => falcon.sign(message, key, { format, ...derived }),
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

async function signRaw(way: Way, falcon: Falcon, key: ExpandedSecretKey, path: string, io: Io) {
  if (way.streaming === undefined) return way.sign(falcon, await readInput(path, io), key);
  return falcon.signStream(streamInput(path, io), key, way.streaming);
}

/** The task file of all messages; none is signed before all have been read. */
async function signAll(
  { sign }: Way,
  falcon: Falcon,
  key: ExpandedSecretKey,
  publicKey: Uint8Array,
  paths: readonly string[],
  io: Io,
): Promise<string> {
  const messages: Uint8Array[] = [];
  for (const path of paths) messages.push(await readInput(path, io));
  return formatTaskFile(
    messages.map((message) => ({ message, publicKey, signature: sign(falcon, message, key) })),
  );
}
