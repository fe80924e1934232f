/** `falconry sign`: signs files; writes triples of digest, key and signature. */
import type { SignatureFormat } from '../../falcon/index.ts';
import { formatTaskFile } from '../../wire/triple.ts';
import { type Command, FILE_EXITS, flag, out, UsageError, valued } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { isStdout, readInput, refuseBinary, streamInput, writeOutput } from '../lib/io.ts';
import { PASSPHRASE } from '../lib/passphrase.ts';
import { plural } from '../lib/text.ts';
import { falconsFor, INTEGER, SIGNATURE_FORMATS, withSecretKey } from './keyFile.ts';

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
    INTEGER,
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
  const format = option('format') as SignatureFormat;
  const isDeterministic = flag('deterministic');
  const isDerived = option('salt') === 'derived';
  if (isDeterministic && isDerived) throw new UsageError('--deterministic excludes --salt derived');
  if (isDeterministic && format === 'padded') {
    throw new UsageError('--deterministic has no padded form');
  }
  const falcons = await falconsFor(invocation);
  const file = await readInput(option('key')!, io);
  const parameterSet = await withSecretKey(file, invocation, async (secret) => {
    const { parameterSet, publicKey } = secret;
    const falcon = falcons[parameterSet];
    const key = falcon.expandSecretKey(secret.key);
    secret.key.fill(0);
    const sign = (message: Uint8Array) =>
      isDeterministic && format !== 'padded'
        ? falcon.det.sign(message, key, { format })
        : falcon.sign(message, key, { format, ...(isDerived && { salt: 'derived' }) });
    try {
      // Only a random salt needs the message no more than once.
      if (isRaw && !isDeterministic && !isDerived) {
        const message = streamInput(positionals[0]!, io);
        await writeOutput(to, await falcon.signStream(message, key, { format }), io);
        return parameterSet;
      }
      const messages: Uint8Array[] = [];
      for (const path of positionals) messages.push(await readInput(path, io));
      const items = messages.map((message) => ({ message, publicKey, signature: sign(message) }));
      await writeOutput(to, isRaw ? items[0]!.signature : formatTaskFile(items), io);
      return parameterSet;
    } finally {
      key.destroy();
    }
  });
  const count = positionals.length;
  report(
    { ok: true, parameter_set: parameterSet, count, out: to ?? '-' },
    `${plural(count, 'message')} signed\n`,
  );
}
