/** The hashes of the other profiles, plainly, from the hash functions of other libraries. */
import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Degree } from './peers.ts';
import { Q } from './reference.ts';

/** Words below 5 q, as long as they are needed. */
function* accepted(words: Iterable<number>): Generator<number> {
  for (const word of words) if (word < 5 * Q) yield word % Q;
}

function take(degree: number, words: Iterable<number>): number[] {
  const point: number[] = [];
  for (const word of accepted(words)) {
    point.push(word);
    if (point.length === degree) return point;
  }
  throw new Error('the stream ended');
}

/** ETHFALCON: blocks of Keccak-256(Keccak-256(salt || message) || counter of 8 bytes). */
export function ethPoint(degree: Degree, salt: Uint8Array, message: Uint8Array): number[] {
  const digest = keccak_256.create().update(salt).update(message).digest();
  function* words(): Generator<number> {
    for (let counter = 0; ; counter++) {
      const number = new DataView(new ArrayBuffer(8));
      number.setBigUint64(0, BigInt(counter));
      const block = keccak_256
        .create()
        .update(digest)
        .update(new Uint8Array(number.buffer))
        .digest();
      for (let at = 0; at < 32; at += 2) yield 256 * block[at]! + block[at + 1]!;
    }
  }
  return take(degree, words());
}

/** The FN-DSA draft: little-endian words of SHAKE256(salt || mu). */
export function draftPoint(degree: Degree, salt: Uint8Array, mu: Uint8Array): number[] {
  const stream = createHash('shake256', { outputLength: 4 * degree });
  const bytes = stream.update(salt).update(mu).digest();
  function* words(): Generator<number> {
    for (let at = 0; at < bytes.length; at += 2) yield bytes.readUInt16LE(at);
  }
  return take(degree, words());
}
