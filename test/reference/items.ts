/** Batches that are the same in every run, and the header that stands before their proof. */
import { createHash } from 'node:crypto';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { hashOfRow, tableRow } from './table.ts';

export type SetName = 'falcon512' | 'falcon1024';

export interface SignedItem {
  readonly set: SetName;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** How the salt of a signature is made: at random, from key and message, or by this version. */
export type SaltKind = 'random' | 'derived' | { readonly version: number };

const SETS = { falcon512, falcon1024 } as const;
const LOGN = { falcon512: 9, falcon1024: 10 } as const;
const SALT_AT = 1;
const SALT_BYTES = 40;
const PROOF_FORMAT = 2;
const PROOF_VERSION = 3;
const TAG_BYTES = 4;
const PROFILE = 0;
const KIND = { falcon512: 0, falcon1024: 3 } as const;
const CODING = { explicit: 0, constant: 1, derived: 2 } as const;

export const shake256 = (length: number, ...parts: (string | Uint8Array)[]): Uint8Array => {
  const hash = createHash('shake256', { outputLength: length });
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

/** Bytes that depend on their label alone. */
export const bytesOf = (label: string, length: number): Uint8Array => shake256(length, label);

export const saltOf = ({ signature }: Pick<SignedItem, 'signature'>): Uint8Array =>
  signature.slice(SALT_AT, SALT_AT + SALT_BYTES);

/** docs/bundle-format.md 1.2: the salt of deterministic Falcon. */
export const constantSalt = (set: SetName, version: number): Uint8Array =>
  Uint8Array.from([
    version,
    LOGN[set],
    ...new TextEncoder().encode('FALCON_DET'),
    ...new Uint8Array(28),
  ]);

/** docs/bundle-format.md 1.2. */
export const derivedSalt = (publicKey: Uint8Array, message: Uint8Array): Uint8Array =>
  shake256(SALT_BYTES, 'falconry salt v1', publicKey, message);

const made = new Map<string, SignedItem>();

/** Large batches have a hundred keys. */
const KEYS = 100;

/** Item `number` of a set: one of a hundred keys, a message of its own, 0 to 40 bytes long. */
export function signedItem(set: SetName, number: number, kind: SaltKind = 'random'): SignedItem {
  const label = `reference ${set} ${number}`;
  const name = `${label} ${JSON.stringify(kind)}`;
  let item = made.get(name);
  if (item === undefined) {
    const { keygen, sign } = SETS[set];
    const { publicKey, secretKey } = keygen(bytesOf(`reference ${set} ${number % KEYS} key`, 48));
    const message = bytesOf(`${label} message`, (7 * number) % 41);
    const salt =
      kind === 'random'
        ? bytesOf(`${label} salt`, SALT_BYTES)
        : kind === 'derived'
          ? derivedSalt(publicKey, message)
          : constantSalt(set, kind.version);
    const testSeed = { salt, samplerSeed: bytesOf(`${label} sampler`, 48) };
    item = { set, publicKey, message, signature: sign(message, secretKey, { testSeed }) };
    made.set(name, item);
  }
  return item;
}

export const signedItems = (set: SetName, count: number, kind: SaltKind = 'random'): SignedItem[] =>
  Array.from({ length: count }, (_, number) => signedItem(set, number, kind));

const bigEndian = (value: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => Math.floor(value / 256 ** (length - 1 - i)) % 256);

/** The statement commitment, docs/bundle-format.md 2. */
export function commitmentOf(items: readonly SignedItem[]): Uint8Array {
  const statements = items.flatMap(({ set, publicKey, message }) => [
    Uint8Array.of(LOGN[set]),
    publicKey,
    bigEndian(message.length, 4),
    message,
  ]);
  return shake256(32, 'falconry statement v1', bigEndian(items.length, 4), ...statements);
}

/** Runs of equal values: `value << 13 | (length - 1)` and what stands behind each run. */
function runsOf(values: readonly { value: number; behind?: number }[]): number[] {
  const out: number[] = [];
  let first = 0;
  for (const [i, { value, behind }] of values.entries()) {
    const next = values[i + 1];
    if (next !== undefined && next.value === value && next.behind === behind) continue;
    out.push(...bigEndian(2 ** 13 * value + (i - first), 2));
    if (behind !== undefined) out.push(behind);
    first = i + 1;
  }
  return out;
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** The one coding of an item's salt, with the version byte of a constant one. */
function codingOf(item: SignedItem): { value: number; behind?: number } {
  const salt = saltOf(item);
  const version = salt[0]!;
  if (same(salt, constantSalt(item.set, version))) {
    return { value: CODING.constant, behind: version };
  }
  const isDerived = same(salt, derivedSalt(item.publicKey, item.message));
  return { value: isDerived ? CODING.derived : CODING.explicit };
}

const setsOf = (items: readonly SignedItem[]): SetName[] =>
  (['falcon512', 'falcon1024'] as const).filter((set) => items.some((item) => item.set === set));

/** The hash of the row of each section. */
export const rowHashesOf = (items: readonly SignedItem[]): Uint8Array[] =>
  setsOf(items).map((set) =>
    hashOfRow(tableRow(set, items.filter((item) => item.set === set).length)),
  );

/** docs/protocol.md 2.1: what stands for the rows of the sections. */
export const tagOf = (rowHashes: readonly Uint8Array[]): Uint8Array =>
  shake256(TAG_BYTES, ...rowHashes);

/** All bytes of a proof before its body: docs/bundle-format.md 1, docs/protocol.md 2.1. */
export function headerOf(
  items: readonly SignedItem[],
  rowHashes: readonly Uint8Array[] = rowHashesOf(items),
): Uint8Array {
  const sets = setsOf(items);
  const codings = items.map(codingOf);
  const written = items.filter((_, i) => codings[i]!.value === CODING.explicit);
  return Uint8Array.from([
    ...new TextEncoder().encode('FLRY'),
    PROOF_FORMAT,
    PROOF_VERSION,
    ...commitmentOf(items),
    ...bigEndian(items.length, 2),
    ...tagOf(rowHashes),
    ...runsOf(items.map(({ set }) => ({ value: KIND[set] }))),
    ...sets.map(() => PROFILE),
    ...runsOf(codings),
    ...written.flatMap((item) => [...saltOf(item)]),
  ]);
}
