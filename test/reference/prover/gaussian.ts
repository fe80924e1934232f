/** Section 11.2 of docs/protocol.md: the Gaussian code, written. */
import { BitWriter, concat } from './encode.ts';
import { mod } from './ring.ts';

/** Values, all with one index t. */
export interface Coded {
  readonly values: readonly bigint[];
  readonly t: number;
}

const LEAST = -256;
const MOST = 255;
const SLOTS = 24n;
const START = 1n << 32n;
const STATE_BYTES = 6;

interface Frequency {
  readonly f: bigint;
  /** the sum of all below */
  readonly c: bigint;
}

/** f_j(h) and c_j(h), h = -256..255. */
export function frequencies(j: number): Frequency[] {
  const sigma = 8 * 2 ** (j / 8);
  const w = (h: number): number => Math.exp(-((h + 0.5) ** 2) / (2 * sigma ** 2));
  let total = 0;
  for (let h = MOST; h >= 0; h--) total += 2 * w(h);
  const upper = Array.from(
    { length: MOST + 1 },
    (_, h) => 1 + Math.round(((2 ** 24 - 512) * w(h)) / total),
  );
  upper[0] = 2 ** 23 - upper.slice(1).reduce((sum, f) => sum + f, 0);
  let c = 0n;
  return [...upper.toReversed(), ...upper].map((f) => {
    const below = c;
    c += BigInt(f);
    return { f: BigInt(f), c: below };
  });
}

const TABLES = Array.from({ length: 8 }, (_, j) => frequencies(j));

const high = (x: bigint, t: number): bigint => x >> BigInt(Math.floor(t / 8));

export const hasCode = (x: bigint, t: number): boolean => high(x, t) >= LEAST && high(x, t) <= MOST;

/**
 * One field: the coder's bytes, then the low parts.
 *
 * @param start of both states, for tests: a reader accepts 2^32 alone
 * @throws RangeError if a value has no code
 */
export function gaussianField(lists: readonly Coded[], start = START): Uint8Array {
  const all = lists.flatMap(({ values, t }) => values.map((x) => ({ x, t })));
  const none = all.find(({ x, t }) => !hasCode(x, t));
  if (none !== undefined) throw new RangeError(`${none.x} has no code with t = ${none.t}`);

  // the coder, from the last byte to the first
  const reversed: number[] = [];
  const states = [start, start];
  for (let i = all.length - 1; i >= 0; i--) {
    const { x, t } = all[i]!;
    const { f, c } = TABLES[t % 8]![Number(high(x, t)) - LEAST]!;
    let state = states[i % 2]!;
    while (state >= f << SLOTS) {
      reversed.push(Number(state & 255n), Number((state >> 8n) & 255n));
      state >>= 16n;
    }
    states[i % 2] = ((state / f) << SLOTS) + (state % f) + c;
  }
  for (const state of states.toReversed()) {
    for (let i = 0; i < STATE_BYTES; i++) {
      reversed.push(Number((state >> BigInt(8 * i)) & 255n));
    }
  }

  const low = new BitWriter();
  for (const { x, t } of all) {
    const s = Math.floor(t / 8);
    low.write(mod(x, 1n << BigInt(s)), s);
  }
  return concat(Uint8Array.from(reversed.reverse()), low.bytes());
}
