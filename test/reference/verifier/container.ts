/**
 * Sections 1 and 2 of docs/bundle-format.md, for proofs: the header, read strictly, the commitment
 * to the caller's list, and the salts that the header stands for.
 */
import { createHash } from 'node:crypto';
import type { Statement } from './verify.ts';

/** How the salt of an item was sent. */
type SaltCode =
  | { readonly kind: 'explicit'; readonly salt: Uint8Array }
  | { readonly kind: 'constant'; readonly version: number }
  | { readonly kind: 'derived' };

export interface Header {
  readonly commitment: Uint8Array;
  /** stands for the rows of the sections */
  readonly tag: Uint8Array;
  /** degree of every item */
  readonly sets: readonly (512 | 1024)[];
  readonly salts: readonly SaltCode[];
  /** bytes */
  readonly length: number;
}

const START = 'FLRY\x02\x03';
/** places behind the start */
const COUNT_AT = 32;
const TAG_AT = 34;
const FIXED_BYTES = 38;
const SALT_BYTES = 40;
const MOST_ITEMS = 8192;
const SET_OF_KIND: Readonly<Record<number, 512 | 1024>> = { 0: 512, 3: 1024 };
const PROFILES = [0];
const CODINGS = ['explicit', 'constant', 'derived'] as const;
const PUBLIC_KEY_BYTES: Readonly<Record<number, number>> = { 897: 9, 1793: 10 };

/** What is wrong with a header, by name. */
class Malformed extends Error {}

class HeaderReader {
  readonly bytes: Buffer;
  at = FIXED_BYTES;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  take(count: number): Uint8Array {
    if (this.at + count > this.bytes.length) throw new Malformed('end of the bytes');
    this.at += count;
    return new Uint8Array(this.bytes.subarray(this.at - count, this.at));
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  /** One value for each of `count` items; a run that goes on with the value before is refused. */
  runs<T>(count: number, name: string, read: (code: number) => { value: T; id: string }): T[] {
    const values: T[] = [];
    let before: string | undefined;
    while (values.length < count) {
      const word = 256 * this.byte() + this.byte();
      const { value, id } = read(word >> 13);
      const length = (word & 8191) + 1;
      if (id === before) throw new Malformed(`two runs of one ${name}`);
      if (values.length + length > count) throw new Malformed(`a run of ${name}s past the end`);
      for (let i = 0; i < length; i++) values.push(value);
      before = id;
    }
    return values;
  }

  saltRun(code: number): { value: { kind: SaltCode['kind']; version: number }; id: string } {
    const kind = CODINGS[code];
    if (kind === undefined) throw new Malformed('coding of salts');
    const version = kind === 'constant' ? this.byte() : -1;
    return { value: { kind, version }, id: `${kind} ${version}` };
  }
}

/** @returns what is wrong, unless the bytes begin with a header */
export function readHeader(bytes: Uint8Array): Header | string {
  const start = Buffer.from(bytes.subarray(0, START.length)).toString('latin1');
  if (bytes.length < START.length + FIXED_BYTES || start !== START) {
    return 'magic, format or version';
  }
  const header = readHeaderAfterStart(bytes.subarray(START.length));
  return typeof header === 'string' ? header : { ...header, length: START.length + header.length };
}

/** A header without magic, format and version. @returns what is wrong, if something is */
export function readHeaderAfterStart(bytes: Uint8Array): Header | string {
  if (bytes.length < FIXED_BYTES) return 'end of the bytes';
  const reader = new HeaderReader(bytes);
  try {
    const count = reader.bytes.readUInt16BE(COUNT_AT);
    if (count < 1 || count > MOST_ITEMS) return 'count';
    const sets = reader.runs(count, 'kind', (code) => {
      const value = SET_OF_KIND[code];
      if (value === undefined) throw new Malformed('kind');
      return { value, id: String(code) };
    });
    for (const _ of new Set(sets)) if (!PROFILES.includes(reader.byte())) return 'profile';
    const codes = reader.runs(count, 'coding', (code) => reader.saltRun(code));
    const salts = codes.map(({ kind, version }): SaltCode => {
      if (kind === 'explicit') return { kind, salt: reader.take(SALT_BYTES) };
      return kind === 'constant' ? { kind, version } : { kind };
    });
    const [commitment, tag] = [bytes.slice(0, COUNT_AT), bytes.slice(TAG_AT, FIXED_BYTES)];
    return { commitment, tag, sets, salts, length: reader.at };
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
}

/** The statement commitment. @returns undefined for keys of other lengths */
export function commitmentOf(statements: readonly Statement[]): Uint8Array | undefined {
  const hash = createHash('shake256', { outputLength: 32 });
  hash.update('falconry statement v1').update(u32(statements.length));
  for (const { publicKey, message } of statements) {
    const logn = PUBLIC_KEY_BYTES[publicKey.length];
    if (logn === undefined) return undefined;
    hash.update(Uint8Array.of(logn)).update(publicKey).update(u32(message.length)).update(message);
  }
  return hash.digest();
}

function u32(x: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(x);
  return bytes;
}

function constantSalt(set: 512 | 1024, version: number): Uint8Array {
  const logn = set === 512 ? 9 : 10;
  const salt = new Uint8Array(SALT_BYTES);
  salt.set([version, logn, ...Buffer.from('FALCON_DET', 'ascii')]);
  return salt;
}

function derivedSalt({ publicKey, message }: Statement): Uint8Array {
  const hash = createHash('shake256', { outputLength: SALT_BYTES });
  return hash.update('falconry salt v1').update(publicKey).update(message).digest();
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** The salt of an item. @returns undefined if there is a shorter coding of it */
export function saltOf(
  code: SaltCode,
  set: 512 | 1024,
  statement: Statement,
): Uint8Array | undefined {
  if (code.kind === 'constant') return constantSalt(set, code.version);
  const derived = derivedSalt(statement);
  const salt = code.kind === 'derived' ? derived : code.salt;
  const isConstant = same(salt, constantSalt(set, salt[0]!));
  return isConstant || (code.kind === 'explicit' && same(salt, derived)) ? undefined : salt;
}
