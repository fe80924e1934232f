/** `falconry verify`: verifies one signature, or every signature in a task file. */
import { findInvalid } from '../../aggregate/index.ts';
import { toOrdinary } from '../../falcon/deterministic.ts';
import type { SignatureFormat } from '../../falcon/index.ts';
import type { InvalidItem } from '../../shared/errors.ts';
import { parseTaskFile } from '../../wire/taskFile.ts';
import { type Command, FILE_EXITS, valued } from '../lib/command.ts';
import { defineCommand, describeInvalid, type Invocation } from '../lib/define.ts';
import { readInput, streamInput } from '../lib/io.ts';
import { FILE_LIMITS } from '../lib/tasks.ts';
import { plural } from '../lib/text.ts';
import { FALCONS, parseField, readPublicKey, SIGNATURE_FORMATS } from './keyFile.ts';

export const command: Command = defineCommand({
  name: 'verify',
  summary: 'verify a signature, or every signature in a task file',
  usage: ['<task file>', '--key <file> --signature <file> <message>'],
  about: [
    'Verifies every signature in a task file, as written by falconry sign, and lists the invalid ' +
      'ones with the reasons. With --key and --signature, verifies one signature of one message ' +
      'of any length.',
  ],
  operands: { '<task file>, <message>': '-: standard input' },
  takes: [1, 1, 'one task file, or one message'],
  options: [
    valued('key', 'file', 'public key in any form: JSON, hex, PEM, DER, JWK or raw', {
      needs: 'signature',
      isInput: true,
    }),
    valued('signature', 'file', 'signature, in hex with 0x or bare', {
      needs: 'key',
      isInput: true,
    }),
    valued('format', SIGNATURE_FORMATS, 'with --key: accept only this format', { needs: 'key' }),
  ],
  examples: [
    'falconry verify task.json',
    'falconry verify --key public.json --signature hello.sig hello.txt',
  ],
  exits: FILE_EXITS,
  execute,
});

async function execute(invocation: Invocation): Promise<void> {
  const { positionals, report, option } = invocation;
  const verify = option('key') === undefined ? verifyFile : verifyOne;
  const { count, invalid } = await verify(positionals[0]!, invocation);
  if (invalid.length === 0) {
    report({ ok: true, count }, `valid: ${plural(count, 'signature')}\n`);
    return;
  }
  report(
    { ok: false, code: 'INVALID_SIGNATURES', count, invalid },
    `invalid: ${invalid.length} of ${count}\n${describeInvalid(invalid)}`,
  );
}

type Verdicts = { readonly count: number; readonly invalid: readonly InvalidItem[] };

/** A few milliseconds of work between two updates of the progress bar. */
const CHUNK = 256;

async function verifyFile(path: string, { io, progress }: Invocation): Promise<Verdicts> {
  const items = parseTaskFile(await readInput(path, io), FILE_LIMITS);
  const invalid: InvalidItem[] = [];
  for (let from = 0; from < items.length; from += CHUNK) {
    progress.update({ phase: 'verifying', done: from, total: items.length });
    const found = findInvalid(items.slice(from, from + CHUNK));
    invalid.push(...found.map((item) => ({ ...item, index: from + item.index })));
  }
  return { count: items.length, invalid };
}

/** One signature of a message that is read in pieces. */
async function verifyOne(path: string, { io, option }: Invocation): Promise<Verdicts> {
  const format = option('format') as SignatureFormat | undefined;
  const options = format === undefined ? {} : { format };
  const { key: publicKey, parameterSet } = readPublicKey(await readInput(option('key')!, io));
  const file = await readInput(option('signature')!, io);
  const falcon = FALCONS[parameterSet];
  const signature = toOrdinary(parseField(file, 'signature', 'the signature file'));
  const message = streamInput(path, io);
  if (await falcon.verifyStream(signature, message, publicKey, options)) {
    return { count: 1, invalid: [] };
  }
  // The reason is that of any message, unless key and signature are well-formed.
  const item = { publicKey, signature, message: new Uint8Array(0) };
  const [found] = falcon.verifyBatch([item], options);
  return { count: 1, invalid: [{ index: 0, reason: found?.reason ?? 'signatureMismatch' }] };
}
