/** Test bytes that are the same in every run: SHAKE256 of a label, read as a stream. */
import { createHash } from 'node:crypto';

export interface TestRandom {
  bytes(length: number): Uint8Array<ArrayBuffer>;
  /** An integer in [0, bound), bound at most 2^32. */
  below(bound: number): number;
  /** An integer in [low, high]. */
  between(low: number, high: number): number;
  /** One element of a list. */
  pick<T>(list: readonly T[]): T;
}

export function testRandom(label: string): TestRandom {
  let block = 0;
  let buffer = new Uint8Array(0);
  const bytes = (length: number): Uint8Array<ArrayBuffer> => {
    const out = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (buffer.length === 0) {
        const hash = createHash('shake256', { outputLength: 4096 });
        buffer = new Uint8Array(hash.update(`${label}\0${block++}`).digest());
      }
      const part = buffer.subarray(0, length - filled);
      out.set(part, filled);
      filled += part.length;
      buffer = buffer.subarray(part.length);
    }
    return out;
  };
  const below = (bound: number): number => {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const word = new DataView(bytes(4).buffer).getUint32(0);
      if (word < limit) return word % bound;
    }
  };
  return {
    bytes,
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: (list) => list[below(list.length)]!,
  };
}
