/**
 * A second reader and writer of bundles, made from docs/bundle-format.md alone: big integers, one
 * list of bytes, no tables but the frequencies, nothing shared with src/aggregate. Slow and plain.
 */
import { createHash } from 'node:crypto';
import { FREQUENCIES_512, FREQUENCIES_1024 } from '../../src/aggregate/gaussianTables.gen.ts';
import type { Item } from './batches.ts';

const M = 1n << 24n;
const L = 1n << 32n;

/** f and c of a value v in -2047..2047. */
function slots(n: number): { f: bigint; c: bigint }[] {
  const table = n === 512 ? FREQUENCIES_512 : FREQUENCIES_1024;
  const list: { f: bigint; c: bigint }[] = [];
  let c = 0n;
  for (let v = -2047; v <= 2047; v++) {
    const f = BigInt(table[Math.abs(v)]!);
    list.push({ f, c });
    c += f;
  }
  return list;
}

const modelOf = { 512: slots(512), 1024: slots(1024) };

type Check = readonly [number, number];

export function referenceEncode(n: 512 | 1024, values: readonly number[], check: Check) {
  const model = modelOf[n];
  const x = check.map((word) => L + BigInt(word));
  const bytes: number[] = []; // from the last byte to the first
  for (let i = values.length - 1; i >= 0; i--) {
    const { f, c } = model[values[i]! + 2047]!;
    let state = x[i % 2]!;
    while (state >= f << 24n) {
      bytes.push(Number(state & 255n), Number((state >> 8n) & 255n));
      state >>= 16n;
    }
    x[i % 2] = (state / f) * M + (state % f) + c;
  }
  for (const state of [x[1]!, x[0]!]) {
    for (let i = 0n; i < 6n; i++) bytes.push(Number((state >> (8n * i)) & 255n));
  }
  return Uint8Array.from(bytes.reverse());
}

export function referenceDecode(
  n: 512 | 1024,
  bytes: Uint8Array,
  count: number,
  check: Check,
): { values: number[]; end: number } {
  const model = modelOf[n];
  let at = 0;
  const next = () => {
    if (at >= bytes.length) throw new Error('too few bytes');
    return BigInt(bytes[at++]!);
  };
  const x = [0n, 0n];
  for (const s of [0, 1]) for (let i = 0; i < 6; i++) x[s] = (x[s]! << 8n) | next();
  if (x[0]! < L || x[1]! < L) throw new Error('a state below 2^32');
  const values: number[] = [];
  for (let i = 0; i < count; i++) {
    const state = x[i % 2]!;
    const slot = state % M;
    const index = model.findLastIndex(({ c }) => c <= slot);
    const { f, c } = model[index]!;
    values.push(index - 2047);
    let popped = f * (state / M) + slot - c;
    while (popped < L) popped = (popped << 16n) | (next() << 8n) | next();
    x[i % 2] = popped;
  }
  check.forEach((word, i) => {
    if (x[i] !== L + BigInt(word)) throw new Error('the states do not end where they started');
  });
  return { values, end: at };
}

const FORMS = [
  { name: 'compressed', lengths: { 512: 0, 1024: 0 } },
  { name: 'padded', lengths: { 512: 666, 1024: 1280 } },
  { name: 'constantTime', lengths: { 512: 809, 1024: 1577 } },
] as const;

/** One string of '0' and '1' for bytes, and back, zeros filling the last byte. */
const toBits = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
const toBytes = (bits: string) =>
  (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2));

/** s2 of a signature, its set and its form, as the round-3 specification writes them. */
export function splitSignature(signature: Uint8Array) {
  const n = (signature[0]! & 15) === 9 ? 512 : 1024;
  const bits = toBits(signature.subarray(41));
  const s2: number[] = [];
  let at = 0;
  if (signature[0]! >> 4 === 5) {
    for (; s2.length < n; at += 12) {
      const v = Number.parseInt(bits.slice(at, at + 12), 2);
      s2.push(v < 2048 ? v : v - 4096);
    }
    return { n, form: 2, salt: signature.slice(1, 41), s2 } as const;
  }
  while (s2.length < n) {
    const low = Number.parseInt(bits.slice(at + 1, at + 8), 2);
    const stop = bits.indexOf('1', at + 8);
    const v = low + 128 * (stop - at - 8);
    s2.push(bits[at] === '1' ? -v : v);
    at = stop + 1;
  }
  // A compressed signature that fills the padded length has no zero byte at its end.
  const form = 41 + Math.ceil(at / 8) < signature.length ? 1 : 0;
  return { n, form, salt: signature.slice(1, 41), s2 } as const;
}

/** The signature of these parts. */
export function joinSignature(parts: {
  n: 512 | 1024;
  form: number;
  salt: Uint8Array;
  s2: readonly number[];
}): Uint8Array {
  const { n, form, salt, s2 } = parts;
  const header = (form === 2 ? 0x50 : 0x30) + (n === 512 ? 9 : 10);
  const bits = s2.map((v) => {
    if (form === 2) return (v & 4095).toString(2).padStart(12, '0');
    const size = Math.abs(v);
    const low = (size & 127).toString(2).padStart(7, '0');
    return `${v < 0 ? '1' : '0'}${low}${'0'.repeat(size >> 7)}1`;
  });
  const bytes = Uint8Array.from([header, ...salt, ...toBytes(bits.join(''))]);
  const padded = new Uint8Array(Math.max(bytes.length, FORMS[form]!.lengths[n]));
  padded.set(bytes);
  return padded;
}

export function referenceCommitment(statements: readonly Omit<Item, 'signature'>[]): Uint8Array {
  const hash = createHash('shake256', { outputLength: 32 });
  const u32 = (value: number) =>
    Uint8Array.of(value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255);
  hash.update('falconry statement v1').update(u32(statements.length));
  for (const { publicKey, message } of statements) {
    hash.update(Uint8Array.of(publicKey.length === 897 ? 9 : 10)).update(publicKey);
    hash.update(u32(message.length)).update(message);
  }
  return new Uint8Array(hash.digest());
}

type Coding = 'explicit' | 'constant' | 'derived';

const DETERMINISTIC = Buffer.from('FALCON_DET');

/** The salt of deterministic Falcon. */
export const referenceConstantSalt = (n: number, version: number): Uint8Array =>
  Uint8Array.from([version, n === 512 ? 9 : 10, ...DETERMINISTIC, ...new Uint8Array(28)]);

export function referenceDerivedSalt({ publicKey, message }: Omit<Item, 'signature'>): Uint8Array {
  const hash = createHash('shake256', { outputLength: 40 }).update('falconry salt v1');
  return new Uint8Array(hash.update(publicKey).update(message).digest());
}

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

/** The one coding of a salt. */
function saltCoding(item: Omit<Item, 'signature'>, salt: Uint8Array): Coding {
  const n = item.publicKey.length === 897 ? 512 : 1024;
  if (same(salt, referenceConstantSalt(n, salt[0]!))) return 'constant';
  return same(salt, referenceDerivedSalt(item)) ? 'derived' : 'explicit';
}

const CODINGS: readonly Coding[] = ['explicit', 'constant', 'derived'];

/** Replacements for true values, to make bundles that are wrong in one respect alone. */
interface Lies {
  /** numbers of forms, item by item */
  readonly forms?: readonly number[];
  readonly version?: number;
  /** of every set that occurs */
  readonly profile?: number;
  /** how the salt of each item is coded, whether it is right or not */
  readonly codings?: readonly Coding[];
  /** runs of salts of one item each */
  readonly singleRuns?: boolean;
  /** the list that the commitment is of */
  readonly statements?: readonly Omit<Item, 'signature'>[];
  /** Changes all bytes before the body, which is bound to what this returns. */
  readonly header?: (honest: Uint8Array) => Uint8Array;
}

/** The whole bundle of these items, valid or not. */
export function referenceBundle(items: readonly Item[], lies: Lies = {}): Uint8Array {
  const parts = items.map((item) => splitSignature(item.signature));
  const kinds = parts.map(({ n, form }, i) => (n === 512 ? 0 : 3) + (lies.forms?.[i] ?? form));
  const runs: { kind: number; length: number }[] = [];
  for (const kind of kinds) {
    const last = runs.at(-1);
    if (last?.kind === kind) last.length++;
    else runs.push({ kind, length: 1 });
  }
  const u16 = (value: number) => [value >> 8, value & 255];
  const codings = parts.map(({ salt }, i) => lies.codings?.[i] ?? saltCoding(items[i]!, salt));
  const saltRuns: { coding: Coding; version: number; length: number }[] = [];
  for (const [i, coding] of codings.entries()) {
    const version = coding === 'constant' ? parts[i]!.salt[0]! : -1;
    const last = saltRuns.at(-1);
    const joins = last?.coding === coding && last.version === version && !lies.singleRuns;
    if (joins) last.length++;
    else saltRuns.push({ coding, version, length: 1 });
  }
  const honest = Uint8Array.from([
    ...[0x46, 0x4c, 0x52, 0x59, 1, lies.version ?? 2],
    ...referenceCommitment(lies.statements ?? items),
    ...u16(items.length),
    ...runs.flatMap(({ kind, length }) => u16((kind << 13) | (length - 1))),
    ...[512, 1024].filter((n) => parts.some((p) => p.n === n)).map(() => lies.profile ?? 0),
    ...saltRuns.flatMap(({ coding, version, length }) => [
      ...u16((CODINGS.indexOf(coding) << 13) | (length - 1)),
      ...(coding === 'constant' ? [version] : []),
    ]),
    ...parts.flatMap(({ salt }, i) => (codings[i] === 'explicit' ? [...salt] : [])),
  ]);
  const header = lies.header?.(honest) ?? honest;
  const check = createHash('shake256', { outputLength: 8 })
    .update('falconry bundle v2')
    .update(header)
    .digest();
  const words = [check.readUInt32BE(0), check.readUInt32BE(4)] as const;
  const sections = ([512, 1024] as const).flatMap((n) => {
    const values = parts.filter((part) => part.n === n).flatMap((part) => part.s2);
    return values.length === 0 ? [] : [...referenceEncode(n, values, words)];
  });
  return Uint8Array.from([...header, ...sections]);
}

function claim(held: boolean, what: string): void {
  if (!held) throw new Error(what);
}

/** Profiles and salts of a header, from `at` on, and where they end. */
function readSalts(
  bytes: Uint8Array,
  begin: number,
  kinds: readonly number[],
  statements: readonly Omit<Item, 'signature'>[],
): { salts: Uint8Array[]; end: number } {
  const count = kinds.length;
  let at = begin;
  for (const isSmall of [true, false]) {
    if (kinds.some((kind) => kind < 3 === isSmall)) claim(bytes[at++] === 0, 'a profile');
  }
  const codings: { coding: Coding; version: number }[] = [];
  while (codings.length < count) {
    const run = 256 * bytes[at]! + bytes[at + 1]!;
    const coding = CODINGS[run >> 13];
    const length = (run & 8191) + 1;
    at += 2;
    if (coding === undefined) throw new Error('a coding');
    const version = coding === 'constant' ? bytes[at++]! : -1;
    const last = codings.at(-1);
    claim(last?.coding !== coding || last.version !== version, 'two runs of salts that are one');
    codings.push(
      ...new Array<{ coding: Coding; version: number }>(length).fill({ coding, version }),
    );
  }
  claim(codings.length === count, 'a run of salts beyond the count');
  const salts = codings.map(({ coding, version }, i) => {
    const n = kinds[i]! < 3 ? 512 : 1024;
    if (coding === 'constant') return referenceConstantSalt(n, version);
    if (coding === 'derived') return referenceDerivedSalt(statements[i]!);
    at += 40;
    return bytes.slice(at - 40, at);
  });
  salts.forEach((salt, i) => {
    claim(saltCoding(statements[i]!, salt) === codings[i]!.coding, 'a salt coded otherwise');
  });
  return { salts, end: at };
}

/** The signatures of a bundle about these statements; throws for any other bytes. Verifies none. */
export function referenceUnbundle(
  bytes: Uint8Array,
  statements: readonly Omit<Item, 'signature'>[],
): Uint8Array[] {
  const hex = Buffer.from(bytes).toString('hex');
  const u16 = (at: number) => Number.parseInt(hex.slice(2 * at, 2 * at + 4), 16);
  claim(hex.startsWith('464c52590102'), 'not a bundle of version 2');
  const commitment = Buffer.from(referenceCommitment(statements)).toString('hex');
  claim(hex.slice(12, 76) === commitment, 'about other statements');
  const count = u16(38);
  claim(count === statements.length && count >= 1 && count <= 8192, 'a wrong count');
  const kinds: number[] = [];
  let at = 40;
  for (; kinds.length < count; at += 2) {
    const kind = u16(at) >> 13;
    claim(kind < 6 && kind !== kinds.at(-1), 'a wrong kind');
    kinds.push(...new Array<number>((u16(at) & 8191) + 1).fill(kind));
  }
  claim(kinds.length === count, 'a run beyond the count');
  const { salts, end } = readSalts(bytes, at, kinds, statements);
  at = end;
  const check = createHash('shake256', { outputLength: 8 })
    .update('falconry bundle v2')
    .update(bytes.subarray(0, at))
    .digest();
  const words = [check.readUInt32BE(0), check.readUInt32BE(4)] as const;
  const signatures: Uint8Array[] = [];
  for (const n of [512, 1024] as const) {
    const members = [...kinds.keys()].filter((i) => kinds[i]! < 3 === (n === 512));
    if (members.length === 0) continue;
    const { values, end } = referenceDecode(n, bytes.subarray(at), n * members.length, words);
    at += end;
    members.forEach((i, place) => {
      const form = kinds[i]! % 3;
      const s2 = values.slice(n * place, n * (place + 1));
      signatures[i] = joinSignature({ n, form, salt: salts[i]!, s2 });
      claim(splitSignature(signatures[i]).form === form, 'a form by another name');
    });
  }
  claim(at === bytes.length, 'bytes after the end');
  return signatures;
}
