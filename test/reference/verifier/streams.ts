/** Section 5.1: streams of ChaCha with 8 rounds, and how words are cut from them. */

/** Anything that gives bytes in order; a test may hand in bytes of its own. */
export interface ByteSource {
  take(count: number): Uint8Array;
}

/** Types of streams, word 13. */
export const STREAM = Object.freeze({
  alpha: 1,
  projection: 2,
  rho: 3,
  omega: 4,
  theta: 5,
  psi: 6,
  eta: 7,
  short: 8,
  amortise: 9,
  key: 10,
  tau: 11,
} as const);

export interface StreamName {
  readonly type: number;
  readonly level: number;
  readonly sub?: number;
  readonly index?: number;
}

const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]; // "expand 32-byte k"
/**
 * One block of 64 bytes.
 *
 * @param key 32 bytes
 * @param nonce words 13, 14, 15
 * @param doubleRounds 4; a test compares 10 with another implementation
 */
export function chachaBlock(
  key: Uint8Array,
  counter: number,
  nonce: readonly [number, number, number],
  doubleRounds = 4,
): Uint8Array {
  const view = new DataView(key.buffer, key.byteOffset, 32);
  const start = new Uint32Array(16);
  start.set(CONSTANTS);
  for (let i = 0; i < 8; i++) start[4 + i] = view.getUint32(4 * i, true);
  start[12] = counter;
  start.set(nonce, 13);

  const x = start.slice();
  for (let double = 0; double < doubleRounds; double++) {
    for (let i = 0; i < 4; i++) quarterRound(x, i, 4 + i, 8 + i, 12 + i);
    for (let i = 0; i < 4; i++) {
      quarterRound(x, i, 4 + ((i + 1) & 3), 8 + ((i + 2) & 3), 12 + ((i + 3) & 3));
    }
  }
  const block = new Uint8Array(64);
  const out = new DataView(block.buffer);
  for (let i = 0; i < 16; i++) out.setUint32(4 * i, x[i]! + start[i]!, true);
  return block;
}

function quarterRound(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  x[a]! += x[b]!;
  x[d] = rotate(x[d]! ^ x[a]!, 16);
  x[c]! += x[d]!;
  x[b] = rotate(x[b]! ^ x[c]!, 12);
  x[a]! += x[b]!;
  x[d] = rotate(x[d]! ^ x[a]!, 8);
  x[c]! += x[d]!;
  x[b] = rotate(x[b]! ^ x[c]!, 7);
}

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

/** The block of a stream at a position. */
export function blockOf(key: Uint8Array, name: StreamName, at: number): Uint8Array {
  const { type, level, sub = 0, index = 0 } = name;
  return chachaBlock(key, at, [type + 256 * level + 65536 * sub, index, 0]);
}

/** A stream from its first byte on. */
export function stream(key: Uint8Array, name: StreamName): ByteSource {
  let next = 0;
  let block = new Uint8Array(0);
  let at = 0;
  return {
    take(count) {
      const bytes = new Uint8Array(count);
      for (let i = 0; i < count; i++) {
        if (at === block.length) {
          block = blockOf(key, name, next++) as Uint8Array<ArrayBuffer>;
          at = 0;
        }
        bytes[i] = block[at++]!;
      }
      return bytes;
    },
  };
}

/** Two words of 44 bits are 11 bytes. */
export function pairOfWords(bytes: Uint8Array, at: number): [bigint, bigint] {
  const middle = bytes[at + 5]!;
  let low = middle & 15;
  for (let i = 4; i >= 0; i--) low = low * 256 + bytes[at + i]!;
  let high = 0;
  for (let i = 10; i >= 6; i--) high = high * 256 + bytes[at + i]!;
  return [BigInt(low), BigInt(high * 16 + (middle >> 4))];
}

/** Bytes as one integer, the first byte the least significant. */
export function integerOf(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
