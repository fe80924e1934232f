/** Section 5.1 of docs/protocol.md: ChaCha with 8 rounds, and its streams. */

const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
const ROUNDS = 8;
export const BLOCK_BYTES = 64;

/** The types of streams, numbered from 1. */
const STREAMS = [
  'alpha',
  'projection',
  'rho',
  'omega',
  'theta',
  'psi',
  'eta',
  'short',
  'amortise',
  'keys',
  'tau',
] as const;
export type StreamName = (typeof STREAMS)[number];

export type Nonce = readonly [number, number, number];

export function nonceOf(name: StreamName, level: number, sub: number, index: number): Nonce {
  return [STREAMS.indexOf(name) + 1 + 256 * level + 65536 * sub, index, 0];
}

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));

function quarter(s: Int32Array, a: number, b: number, c: number, d: number): void {
  s[a] = s[a]! + s[b]!;
  s[d] = rotate(s[d]! ^ s[a]!, 16);
  s[c] = s[c]! + s[d]!;
  s[b] = rotate(s[b]! ^ s[c]!, 12);
  s[a] = s[a]! + s[b]!;
  s[d] = rotate(s[d]! ^ s[a]!, 8);
  s[c] = s[c]! + s[d]!;
  s[b] = rotate(s[b]! ^ s[c]!, 7);
}

/** One block of 64 bytes; other numbers of rounds are for tests. */
export function chacha8(
  key: Uint8Array,
  counter: number,
  nonce: Nonce,
  rounds = ROUNDS,
): Uint8Array {
  const keyView = new DataView(key.buffer, key.byteOffset, 32);
  const start = new Int32Array(16);
  start.set(CONSTANTS);
  for (let i = 0; i < 8; i++) start[4 + i] = keyView.getInt32(4 * i, true);
  start[12] = counter;
  start.set(nonce, 13);
  const s = start.slice();
  for (let round = 0; round < rounds / 2; round++) {
    for (let i = 0; i < 4; i++) quarter(s, i, 4 + i, 8 + i, 12 + i);
    for (let i = 0; i < 4; i++) {
      quarter(s, i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
    }
  }
  const out = new Uint8Array(BLOCK_BYTES);
  const view = new DataView(out.buffer);
  for (let i = 0; i < 16; i++) view.setInt32(4 * i, s[i]! + start[i]!, true);
  return out;
}

/** Anything that gives bytes in order. */
export interface ByteSource {
  bytes(count: number): Uint8Array;
}

/** One stream from its first byte. */
export function stream(key: Uint8Array, nonce: Nonce): ByteSource {
  let counter = 0;
  let block = new Uint8Array(0);
  let at = 0;
  return {
    bytes(count) {
      const out = new Uint8Array(count);
      for (let filled = 0; filled < count; ) {
        if (at === block.length) {
          block = Uint8Array.from(chacha8(key, counter++, nonce));
          at = 0;
        }
        const part = block.subarray(at, at + count - filled);
        out.set(part, filled);
        filled += part.length;
        at += part.length;
      }
      return out;
    },
  };
}

/** The source as 44-bit words: word i is bits 44 i to 44 i + 43. */
export function words44(source: ByteSource): () => bigint {
  let waiting: bigint | undefined;
  return () => {
    if (waiting !== undefined) {
      const word = waiting;
      waiting = undefined;
      return word;
    }
    // two words are 11 bytes
    const b = source.bytes(11);
    const low = b[0]! + 2 ** 8 * b[1]! + 2 ** 16 * b[2]! + 2 ** 24 * b[3]! + 2 ** 32 * b[4]!;
    const high = b[6]! + 2 ** 8 * b[7]! + 2 ** 16 * b[8]! + 2 ** 24 * b[9]! + 2 ** 32 * b[10]!;
    waiting = BigInt(16 * high + (b[5]! >> 4));
    return BigInt(low + 2 ** 40 * (b[5]! & 15));
  };
}
