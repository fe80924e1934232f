/**
 * The container: the start of every aggregate of either format (docs/bundle-format.md, 1).
 *
 *   at    bytes
 *    0        4  "FLRY"
 *    4        1  format: 1 = bundle, 2 = proof
 *    5        1  version of that format: 2 for a bundle, 3 for a proof
 *    6       32  statement commitment
 *   38        2  count of items, 1..8192
 *   40        4  proof only: the tag of the rows of parameters that it uses
 *    .      2 R  runs of equal kind: 3 bits of kind, 13 bits of length - 1
 *    .   1 or 2  the profile of each set that has items, the same for both
 *    .   2 or 3  each: runs of salts: 3 bits of coding, 13 bits of length - 1, and a version byte
 *                for constant ones
 *    .     40 E  the explicit salts, in the order of their items
 *    .        .  the body
 *
 * Integers are big-endian. A kind is 3 s + form: s is 0 for Falcon-512 and 1 for Falcon-1024, form
 * is 0 compressed, 1 padded, 2 constant-time. Neighbouring runs differ, and their lengths sum to
 * the count exactly, so each list of kinds or salts has exactly one encoding. A proof contains no
 * signatures and hence no forms: its kinds are 0 and 3.
 */
import type { ParameterSet, Profile, SignatureFormat } from '../falcon/index.ts';
import { hasProfile, PROFILE_NUMBERS } from '../falcon/params.ts';
import { shake256 } from '../falcon/points.ts';
import { isConstantSalt, SALT_BYTES } from '../falcon/salts.ts';
import { concat } from '../shared/bytes.ts';
import type { MergedParameters } from './parameters/rows.ts';
import { parametersFor } from './proof/index.ts';
import { CODINGS, type CodedSalts, type SaltRun } from './salts.ts';
import { COMMITMENT_BYTES } from './statement.ts';

/** Maximum number of items in one aggregate: the maximum length of a run. */
export const MAX_ITEMS = 8192;
/** The formats of the body and their bytes. */
export const FORMATS = Object.freeze({ bundle: 1, proof: 2 } as const);
export type AggregateFormat = keyof typeof FORMATS;
/** The only version of each format that is written and read. */
export const FORMAT_VERSIONS = Object.freeze({ bundle: 2, proof: 3 } as const);

/** "FLRY" */
export const MAGIC = Object.freeze([0x46, 0x4c, 0x52, 0x59] as const);
const LENGTH_BITS = 13;

const TAG_BYTES = 4;

/** The parameter sets, in the order of their sections. */
export const SETS: readonly ParameterSet[] = Object.freeze(['falcon512', 'falcon1024']);
const FORMS: readonly SignatureFormat[] = Object.freeze(['compressed', 'padded', 'constantTime']);
/** The kinds that a format allows, as a bit mask. */
const KINDS_OF: Readonly<Record<AggregateFormat, number>> = Object.freeze({
  bundle: 0b111111,
  proof: 0b001001,
});
/** Returns the profile with this byte, if it is the same for all of the sets. */
function profileOf(byte: number, sets: readonly ParameterSet[]): Profile | undefined {
  return (Object.keys(PROFILE_NUMBERS) as Profile[]).find(
    (name) => PROFILE_NUMBERS[name] === byte && sets.every((set) => hasProfile(name, set)),
  );
}

/** Returns the number of a (set, form) pair in the runs. */
export function kindOf(set: ParameterSet, form: SignatureFormat): number {
  return FORMS.length * SETS.indexOf(set) + FORMS.indexOf(form);
}

export function setOfKind(kind: number): ParameterSet {
  return SETS[Math.floor(kind / FORMS.length)]!;
}

export function formOfKind(kind: number): SignatureFormat {
  return FORMS[kind % FORMS.length]!;
}

/** Returns the sets that occur, Falcon-512 first. */
export const setsOfKinds = (kinds: Uint8Array): ParameterSet[] =>
  SETS.filter((set) => kinds.some((kind) => setOfKind(kind) === set));

/**
 * Returns the tag of the rows that a proof of these items uses: SHAKE256 of the hashes of
 * the rows, one for each section; undefined if a section is too long for any row.
 */
export function rowTag(kinds: Uint8Array): Uint8Array | undefined {
  const hashes: Uint8Array[] = [];
  for (const set of setsOfKinds(kinds)) {
    const count = kinds.filter((kind) => setOfKind(kind) === set).length;
    const parameters = parametersFor(set, count);
    if (parameters === undefined) return undefined;
    hashes.push(parameters.rowHash);
  }
  return tagOf(hashes);
}

/** Returns the tag in the header of a part of a merged proof (docs/merged.md, 1.2). */
export const partTag = (partHash: Uint8Array): Uint8Array => tagOf([partHash]);

const tagOf = (hashes: readonly Uint8Array[]): Uint8Array => shake256(hashes, TAG_BYTES).slice();

/** The items of an aggregate, or of a part of a merged proof. */
export interface HeaderContents {
  readonly statement: Uint8Array;
  /** kind of every item, in order */
  readonly kinds: Uint8Array;
  /** mapping from salt and message to a point, common to all items */
  readonly profile: Profile;
  readonly salts: CodedSalts;
}

/** Everything before the body. */
export interface BatchHeader extends HeaderContents {
  readonly format: AggregateFormat;
}

/** Returns the bytes before the body. No section of a proof may be too long for its rows. */
export function encodeHeader(header: BatchHeader): Uint8Array<ArrayBuffer> {
  const { format, kinds } = header;
  return concat(
    Uint8Array.of(...MAGIC, FORMATS[format], FORMAT_VERSIONS[format]),
    encodeContents(header, format === 'proof' ? rowTag(kinds)! : new Uint8Array(0)),
  );
}

/** Returns the header of a part of a merged proof (docs/merged.md, 1.2). */
export const encodePartHeader = (
  header: HeaderContents,
  { partHash }: Pick<MergedParameters, 'partHash'>,
): Uint8Array<ArrayBuffer> => encodeContents(header, partTag(partHash));

function encodeContents(
  { statement, kinds, profile, salts }: HeaderContents,
  tag: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return concat(
    statement,
    Uint8Array.of(...u16(kinds.length), ...tag),
    Uint8Array.from(runsOfKinds(kinds)),
    Uint8Array.from(setsOfKinds(kinds), () => PROFILE_NUMBERS[profile]),
    Uint8Array.from(salts.runs.flatMap(encodeSaltRun)),
    salts.explicit,
  );
}

const u16 = (value: number): number[] => [value >> 8, value & 255];

const encodeRun = (what: number, length: number): number[] =>
  u16((what << LENGTH_BITS) | (length - 1));

function runsOfKinds(kinds: Uint8Array): number[] {
  const bytes: number[] = [];
  for (let i = 0, first = 0; i < kinds.length; i++) {
    if (kinds[i + 1] === kinds[i]) continue;
    bytes.push(...encodeRun(kinds[i]!, i + 1 - first));
    first = i + 1;
  }
  return bytes;
}

const encodeSaltRun = ({ coding, version, count }: SaltRun): number[] => [
  ...encodeRun(CODINGS[coding], count),
  ...(coding === 'constant' ? [version] : []),
];

/** A parsed header, and the offset of what follows it: the body. */
export interface ParsedHeader extends BatchHeader {
  readonly bodyAt: number;
}

/**
 * The reason why a header is rejected: the bytes are not an aggregate (`magic`), use an unknown
 * format, version, table, profile or coding of salts, or are damaged (`header`). `saltCoding` also
 * covers a salt that has a shorter coding.
 */
export type HeaderFault =
  | 'magic'
  | 'format'
  | 'version'
  | 'table'
  | 'profile'
  | 'saltCoding'
  | 'header';

/**
 * Parses the header. Allocates one byte per item, plus at most what the bytes present justify.
 * Statement and explicit salts are views of the given bytes. This function checks that constant
 * salts have their shortest coding; `areCodedAs` checks derived ones.
 *
 * @returns the fault unless encodeHeader would write exactly the bytes before `bodyAt`
 */
export function parseHeader(bytes: Uint8Array): ParsedHeader | HeaderFault {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) return 'magic';
  const reader = new HeaderReader(bytes, MAGIC.length);
  const format = formatOf(reader.u8());
  if (format === undefined) return reader.or('format');
  if (reader.u8() !== FORMAT_VERSIONS[format]) return reader.or('version');
  const isProof = format === 'proof';
  const limits = { most: MAX_ITEMS, kinds: KINDS_OF[format], tag: isProof ? rowTag : undefined };
  return parseContents(reader, format, limits);
}

/**
 * Parses the header of a part of a merged proof at an offset (docs/merged.md, 1.2), like
 * `parseHeader`. Its items are of the row's set, and at most as many as the row has room for.
 */
export function parsePartHeader(
  bytes: Uint8Array,
  at: number,
  { set, bucket, partHash }: Pick<MergedParameters, 'set' | 'bucket' | 'partHash'>,
): ParsedHeader | HeaderFault {
  return parseContents(new HeaderReader(bytes, at), 'proof', {
    most: bucket,
    kinds: 1 << kindOf(`falcon${set}`, 'compressed'),
    tag: () => partTag(partHash),
  });
}

/** @param limits `kinds` is a bit mask, `tag` returns the tag for these kinds, if there is one */
function parseContents(
  reader: HeaderReader,
  format: AggregateFormat,
  limits: {
    readonly most: number;
    readonly kinds: number;
    readonly tag: ((kinds: Uint8Array) => Uint8Array | undefined) | undefined;
  },
): ParsedHeader | HeaderFault {
  const statement = reader.bytes(COMMITMENT_BYTES);
  const count = reader.u16();
  if (!(count >= 1 && count <= limits.most)) return 'header';
  const tag = reader.bytes(limits.tag === undefined ? 0 : TAG_BYTES);
  const kinds = reader.kinds(count, limits.kinds);
  if (kinds === undefined) return 'header';
  if (limits.tag !== undefined && !limits.tag(kinds)?.every((byte, i) => tag[i] === byte)) {
    return reader.or('table');
  }
  const profile = reader.profile(setsOfKinds(kinds));
  if (profile === undefined) return reader.or('profile');
  const salts = reader.salts(kinds);
  if (typeof salts === 'string') return salts;
  return { format, statement, kinds, profile, salts, bodyAt: reader.at };
}

function formatOf(byte: number): AggregateFormat | undefined {
  return (Object.keys(FORMATS) as AggregateFormat[]).find((name) => FORMATS[name] === byte);
}

function codingOf(number: number): SaltRun['coding'] | undefined {
  return (Object.keys(CODINGS) as SaltRun['coding'][]).find((name) => CODINGS[name] === number);
}

/** Reads integers and runs; integers beyond the end are NaN. */
class HeaderReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  u8(): number {
    return Number(this.#bytes[this.at++]);
  }

  u16(): number {
    return 256 * this.u8() + this.u8();
  }

  /** Returns a view of at most this many bytes. */
  bytes(count: number): Uint8Array {
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  /** Returns the fault, or `header` if bytes were missing. */
  or(fault: HeaderFault): HeaderFault {
    return this.at > this.#bytes.length ? 'header' : fault;
  }

  /**
   * Reads runs of allowed kinds. @returns undefined unless they fill `count` and neighbours differ
   */
  kinds(count: number, allowed: number): Uint8Array | undefined {
    const kinds = new Uint8Array(count);
    for (let filled = 0, previous = -1; filled < count; ) {
      const run = this.u16();
      const kind = run >> LENGTH_BITS;
      const length = lengthOf(run);
      if (!(length <= count - filled) || kind === previous) return undefined;
      if (((allowed >> kind) & 1) === 0) return undefined;
      kinds.fill(kind, filled, filled + length);
      filled += length;
      previous = kind;
    }
    return kinds;
  }

  /** Reads the profile of every set. @returns undefined unless all sets have the same profile */
  profile(sets: readonly ParameterSet[]): Profile | undefined {
    const first = this.u8();
    const isOne = sets.slice(1).every(() => this.u8() === first);
    return isOne ? profileOf(first, sets) : undefined;
  }

  /** Reads runs of salts and the explicit salts that follow them. */
  salts(kinds: Uint8Array): CodedSalts | HeaderFault {
    const runs: SaltRun[] = [];
    const explicit: number[] = [];
    for (let filled = 0; filled < kinds.length; ) {
      const run = this.u16();
      const count = lengthOf(run);
      if (!(count <= kinds.length - filled)) return 'header';
      const coding = codingOf(run >> LENGTH_BITS);
      if (coding === undefined) return 'saltCoding';
      const version = coding === 'constant' ? this.u8() : 0;
      const last = runs.at(-1);
      if (last?.coding === coding && last.version === version) return 'saltCoding';
      if (coding === 'explicit') for (let i = 0; i < count; i++) explicit.push(filled + i);
      runs.push({ coding, version, count });
      filled += count;
    }
    const end = this.at + SALT_BYTES * explicit.length;
    if (end > this.#bytes.length) return 'header';
    const salts = this.#bytes.subarray(this.at, end);
    this.at = end;
    for (const [i, item] of explicit.entries()) {
      const salt = salts.subarray(SALT_BYTES * i, SALT_BYTES * (i + 1));
      if (isConstantSalt(salt, setOfKind(kinds[item]!))) return 'saltCoding';
    }
    return { runs, explicit: salts };
  }
}

/** Returns the length of a run; NaN if bytes are missing. */
const lengthOf = (run: number): number => (run % (1 << LENGTH_BITS)) + 1;
