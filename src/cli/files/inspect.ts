/** `falconry inspect`: identifies a file, with sizes, and never prints a secret. */
import { type AggregateInfo, inspectAggregate } from '../../aggregate/index.ts';
import { importPublicKey, importSecretKey } from '../../falcon/keys/index.ts';
import { CodedError, isCodedError } from '../../shared/errors.ts';
import { parseResultFile } from '../../wire/resultFile.ts';
import { parseStatementFile, parseTaskFile } from '../../wire/taskFile.ts';
import { type Command, FILE_EXITS } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { readInput } from '../lib/io.ts';
import { FILE_LIMITS } from '../lib/tasks.ts';
import { columns, plural } from '../lib/text.ts';
import { FALCONS, keyContents, parseField, textOf } from './keyFile.ts';

export const command: Command = defineCommand({
  name: 'inspect',
  summary: 'identify a file: key, signature, task file, aggregate, result',
  usage: ['[<file>]'],
  about: [
    'Identifies a key, a signature, a task file, a list of statements, an aggregate or a result ' +
      'file, and prints its parameter set, form and sizes. Nothing is verified, and no secret is ' +
      'printed.',
  ],
  operands: { '<file>': '-: standard input' },
  examples: ['falconry inspect key.json', 'falconry inspect out.json --json'],
  exits: FILE_EXITS,
  takes: [0, 1],
  execute,
});

const LIMITS = { ...FILE_LIMITS, maxSignatures: Number.POSITIVE_INFINITY };

/** `kind` and its properties; sizes in bytes. */
type Facts = { readonly kind: string } & Readonly<Record<string, unknown>>;

async function execute({ io, positionals, report }: Invocation): Promise<void> {
  const [path = '-'] = positionals;
  const file = await readInput(path, io);
  const { kind, ...facts } = identify(file);
  const rows = Object.entries(facts).map(([name, value]): [string, string] => [
    name.replaceAll('_', ' '),
    Array.isArray(value) ? value.join(', ') : String(value),
  ]);
  const lines = columns(rows).map((line) => `  ${line}\n`);
  report(
    { ok: true, file_bytes: file.length, kind, ...facts },
    `${kind}, ${plural(file.length, 'byte')}\n${lines.join('')}`,
  );
}

/** @throws CodedError `BAD_KEY_FILE` if it is nothing that falconry reads or writes */
function identify(file: Uint8Array): Facts {
  const start = new TextDecoder().decode(file.subarray(0, 64)).trimStart();
  if (start.startsWith('[')) return listFacts(file);
  if (start.startsWith('{') && /"aggregate"\s*:/.test(new TextDecoder().decode(file))) {
    const { processId, aggregate } = parseResultFile(file);
    const facts = infoFacts(inspectAggregate(aggregate));
    return { kind: 'result file', process_id: processId, ...facts };
  }
  const found =
    aggregateFacts(file) ??
    secretKeyFacts(file) ??
    keyFacts(file, 'public', importPublicKey) ??
    signatureFacts(file);
  if (found !== null) return found;
  throw new CodedError('BAD_KEY_FILE', {
    message: 'the file is no key, signature, task file, aggregate or result file',
  });
}

function listFacts(file: Uint8Array): Facts {
  const statements = parseStatementFile(file, LIMITS);
  const size = (items: readonly object[], name: string) =>
    items.reduce((sum, item) => sum + (item as Record<string, Uint8Array>)[name]!.length, 0);
  const facts = {
    count: statements.length,
    digest_bytes: size(statements, 'message'),
    public_key_bytes: size(statements, 'publicKey'),
  };
  const isTask = new TextDecoder().decode(file).includes('"signature"');
  if (!isTask) return { kind: 'statements', ...facts };
  const signature_bytes = size(parseTaskFile(file, LIMITS), 'signature');
  return { kind: 'task file', ...facts, signature_bytes };
}

/** Null if it is none; a damaged one is an error. */
function aggregateFacts(file: Uint8Array): Facts | null {
  try {
    const info = inspectAggregate(file);
    return { kind: `aggregate (${info.format})`, ...infoFacts(info) };
  } catch (error) {
    if (isCodedError(error) && error.cause === 'magic') return null;
    throw error;
  }
}

const infoFacts = ({
  format,
  version,
  count,
  profile,
  parameterSets,
  sizes,
  elements,
}: AggregateInfo) => ({
  format,
  version,
  count,
  profile,
  parameter_sets: parameterSets,
  aggregate_bytes: sizes.total,
  header_bytes: sizes.header,
  salt_bytes: sizes.salts,
  body_bytes: sizes.body,
  ...(elements && {
    elements: elements.map((one) => {
      const kind = format === 'merged' ? 'part' : one.format;
      return `${kind} of ${one.count} (${one.sizes.total} bytes)`;
    }),
  }),
});

/** The result of `read`; null if the file is something else. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isCodedError(error) && ['BAD_KEY', 'BAD_KEY_FILE'].includes(error.code)) return null;
    throw error;
  }
}

/** The form of a key file, by its name on the command line. */
function formOf(file: Uint8Array, contents: Uint8Array, form: string): string {
  if (contents !== file) return 'hex';
  return form === 'pkcs8' || form === 'spki' ? 'der' : form;
}

function secretKeyFacts(file: Uint8Array): Facts | null {
  try {
    const facts = keyFacts(file, 'secret', importSecretKey);
    return facts && { ...facts, encrypted: false };
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'PASSPHRASE_NEEDED') throw error;
    return {
      kind: 'secret key',
      form: textOf(file) === undefined ? 'der' : 'pem',
      encrypted: true,
    };
  }
}

/** The facts of a key, which is cleared; null if there is none. */
function keyFacts(
  file: Uint8Array,
  which: 'public' | 'secret',
  read: typeof importPublicKey | typeof importSecretKey,
) {
  const input = attempt(() => keyContents(file, which));
  const found = input && attempt(() => read(input));
  if (!input || !found) return null;
  const { parameterSet: parameter_set, key, form } = found;
  key.fill(0);
  const facts = { parameter_set, form: formOf(file, input, form), key_bytes: key.length };
  return { kind: `${which} key`, ...facts };
}

const DETERMINISTIC = 0x80;
const COMPRESSED = 0x30;
const CONSTANT_TIME = 0x50;

/** By header and length (Falcon, 3.11.3). */
function signatureFacts(file: Uint8Array): Facts | null {
  const bytes = attempt(() => parseField(file, 'signature', 'the file'));
  const header = bytes?.[0] ?? 0;
  const falcon = { 9: FALCONS.falcon512, 10: FALCONS.falcon1024 }[header & 0x0f];
  if (bytes === null || falcon === undefined) return null;
  const deterministic = (header & DETERMINISTIC) !== 0;
  const { signature, signaturePadded, signatureConstantTime } = falcon.lengths;
  const isPadded = !deterministic && bytes.length === signaturePadded;
  const formats: Record<number, [format: string, longest: number]> = {
    [COMPRESSED]: [isPadded ? 'padded' : 'compressed', signature],
    [CONSTANT_TIME]: ['constantTime', signatureConstantTime],
  };
  const [format, longest] = formats[header & 0x70] ?? ['', 0];
  if (bytes.length > longest) return null;
  const facts = { parameter_set: falcon.name, format, deterministic };
  return { kind: 'signature', ...facts, signature_bytes: bytes.length };
}
