/** Batches that are the same in every run, and the header that stands before their proof. */
import { createHash } from 'node:crypto';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';

export type SetName = 'falcon512' | 'falcon1024';

export interface SignedItem {
  readonly set: SetName;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

const SETS = { falcon512, falcon1024 } as const;
const SALT_AT = 1;
const SALT_BYTES = 40;
const PROOF_FORMAT = 2;
const PROOF_VERSION = 1;
const KIND = { falcon512: 0, falcon1024: 3 } as const;

/** Bytes that depend on their label alone. */
export const bytesOf = (label: string, length: number): Uint8Array =>
  new Uint8Array(createHash('shake256', { outputLength: length }).update(label).digest());

const made = new Map<string, SignedItem>();

/** Item `number` of a set: a key and a message of its own, 0 to 40 bytes long. */
export function signedItem(set: SetName, number: number): SignedItem {
  const label = `reference ${set} ${number}`;
  let item = made.get(label);
  if (item === undefined) {
    const { keygen, sign } = SETS[set];
    const { publicKey, secretKey } = keygen(bytesOf(`${label} key`, 48));
    const message = bytesOf(`${label} message`, (7 * number) % 41);
    const testSeed = {
      salt: bytesOf(`${label} salt`, 40),
      samplerSeed: bytesOf(`${label} sampler`, 48),
    };
    item = { set, publicKey, message, signature: sign(message, secretKey, { testSeed }) };
    made.set(label, item);
  }
  return item;
}

export const signedItems = (set: SetName, count: number): SignedItem[] =>
  Array.from({ length: count }, (_, number) => signedItem(set, number));

const bigEndian = (value: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => Math.floor(value / 256 ** (length - 1 - i)) % 256);

/** The statement commitment, as docs/protocol.md 2.1 and the bundle have it. */
export function commitmentOf(items: readonly SignedItem[]): Uint8Array {
  const hash = createHash('shake256', { outputLength: 32 });
  hash.update('falconry statement v1').update(bigEndian(items.length, 4));
  for (const { set, publicKey, message } of items) {
    hash.update(Uint8Array.of(set === 'falcon512' ? 9 : 10)).update(publicKey);
    hash.update(bigEndian(message.length, 4)).update(message);
  }
  return new Uint8Array(hash.digest());
}

/** All bytes of a proof before its body. */
export function headerOf(items: readonly SignedItem[]): Uint8Array {
  const runs: number[] = [];
  for (let i = 0, first = 0; i < items.length; i++) {
    if (items[i + 1]?.set === items[i]!.set) continue;
    const run = 2 ** 13 * KIND[items[i]!.set] + (i - first);
    runs.push(...bigEndian(run, 2));
    first = i + 1;
  }
  const salts = items.map(({ signature }) => signature.slice(SALT_AT, SALT_AT + SALT_BYTES));
  return Uint8Array.from([
    ...new TextEncoder().encode('FLRY'),
    PROOF_FORMAT,
    PROOF_VERSION,
    ...commitmentOf(items),
    ...bigEndian(items.length, 2),
    ...runs,
    ...salts.flatMap((salt) => [...salt]),
  ]);
}
