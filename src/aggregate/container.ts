/**
 * The container: the start of every aggregate, whatever its body is.
 *
 *   at  bytes
 *    0      4  "FLRY"
 *    4      1  format: 1 = bundle, 2 = proof
 *    5      1  version of that format
 *    6     32  statement commitment
 *   38      2  count of items, 1..8192
 *   40    2 R  runs of equal kind: 3 bits of kind, 13 bits of length - 1
 *    .  40 C  salts, in the order of the items
 *    .      .  the body
 *
 * Integers are big-endian. A kind is 3 s + form: s is 0 for Falcon-512 and 1 for Falcon-1024, form
 * is 0 compressed, 1 padded, 2 constant-time. Neighbouring runs differ in kind, and their lengths
 * sum to the count exactly, so a list of kinds has one encoding. A proof keeps no signatures and
 * hence no forms: its kinds are 0 and 3.
 */
import type { ParameterSet, SignatureFormat } from '../falcon/index.ts';

/** Maximum number of items in one aggregate: the largest length of a run. */
export const MAX_ITEMS = 8192;
export const SALT_BYTES = 40;
export const COMMITMENT_BYTES = 32;

/** The formats of the body, with their byte. */
export const FORMATS = Object.freeze({ bundle: 1, proof: 2 } as const);
export type AggregateFormat = keyof typeof FORMATS;

const MAGIC = [0x46, 0x4c, 0x52, 0x59]; // "FLRY"
const FORMAT_AT = 4;
const VERSION_AT = 5;
const STATEMENT_AT = 6;
const COUNT_AT = STATEMENT_AT + COMMITMENT_BYTES;
const RUNS_AT = COUNT_AT + 2;
const RUN_BYTES = 2;
const LENGTH_BITS = 13;

const SETS: readonly ParameterSet[] = Object.freeze(['falcon512', 'falcon1024']);
const FORMS: readonly SignatureFormat[] = Object.freeze(['compressed', 'padded', 'constantTime']);
const KINDS = SETS.length * FORMS.length;
/** The kinds that a format allows, as a bit mask. */
const KINDS_OF: Readonly<Record<AggregateFormat, number>> = Object.freeze({
  bundle: 0b111111,
  proof: 0b001001,
});

/** The number of a (set, form) pair in the runs. */
export function kindOf(set: ParameterSet, form: SignatureFormat): number {
  return FORMS.length * SETS.indexOf(set) + FORMS.indexOf(form);
}

export function setOfKind(kind: number): ParameterSet {
  return SETS[Math.floor(kind / FORMS.length)]!;
}

export function formOfKind(kind: number): SignatureFormat {
  return FORMS[kind % FORMS.length]!;
}

/** Everything before the body. */
export interface BatchHeader {
  readonly format: AggregateFormat;
  readonly version: number;
  readonly statement: Uint8Array;
  /** kind of every item, in order */
  readonly kinds: Uint8Array;
  /** 40 bytes for every item, in order */
  readonly salts: Uint8Array;
}

/** The bytes before the body. */
export function encodeHeader(header: BatchHeader): Uint8Array<ArrayBuffer> {
  const { kinds } = header;
  const runs: number[] = [];
  for (let i = 0, first = 0; i < kinds.length; i++) {
    if (kinds[i + 1] === kinds[i]) continue;
    runs.push((kinds[i]! << LENGTH_BITS) | (i - first));
    first = i + 1;
  }
  const saltsAt = RUNS_AT + RUN_BYTES * runs.length;
  const bytes = new Uint8Array(saltsAt + header.salts.length);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  bytes[FORMAT_AT] = FORMATS[header.format];
  bytes[VERSION_AT] = header.version;
  bytes.set(header.statement, STATEMENT_AT);
  view.setUint16(COUNT_AT, kinds.length);
  for (const [i, run] of runs.entries()) view.setUint16(RUNS_AT + RUN_BYTES * i, run);
  bytes.set(header.salts, saltsAt);
  return bytes;
}

/** A parsed header, and the offset of the body. */
export interface ParsedHeader extends BatchHeader {
  readonly bodyAt: number;
}

/**
 * Reads the header. Allocates one byte per item, but only if the salts of that many items are
 * present. Statement and salts are views of the given bytes.
 *
 * @returns undefined unless encodeHeader would write exactly the bytes before `bodyAt`
 */
export function parseHeader(bytes: Uint8Array): ParsedHeader | undefined {
  if (bytes.length < RUNS_AT || MAGIC.some((byte, i) => bytes[i] !== byte)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const format = formatOf(bytes[FORMAT_AT]!);
  const count = view.getUint16(COUNT_AT);
  if (format === undefined || count < 1 || count > MAX_ITEMS) return undefined;
  // If the salts fit, so do the runs, of which there are at most `count`.
  if (bytes.length < RUNS_AT + RUN_BYTES + SALT_BYTES * count) return undefined;

  const kinds = new Uint8Array(count);
  let at = RUNS_AT;
  let filled = 0;
  for (let previous = KINDS; filled < count; at += RUN_BYTES) {
    const run = view.getUint16(at);
    const kind = run >> LENGTH_BITS;
    const length = (run & ((1 << LENGTH_BITS) - 1)) + 1;
    if (kind === previous || length > count - filled) return undefined;
    if (((KINDS_OF[format] >> kind) & 1) === 0) return undefined;
    kinds.fill(kind, filled, filled + length);
    filled += length;
    previous = kind;
  }
  const bodyAt = at + SALT_BYTES * count;
  if (bytes.length < bodyAt) return undefined;
  return {
    format,
    version: bytes[VERSION_AT]!,
    statement: bytes.subarray(STATEMENT_AT, COUNT_AT),
    kinds,
    salts: bytes.subarray(at, bodyAt),
    bodyAt,
  };
}

function formatOf(byte: number): AggregateFormat | undefined {
  return (Object.keys(FORMATS) as AggregateFormat[]).find((name) => FORMATS[name] === byte);
}
