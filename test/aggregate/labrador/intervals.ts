/**
 * Runs the text of generated transforms on intervals: every lane is the set of values it can take,
 * and a lane that can leave 16 bits is an error.
 */
import { MAX_BLOCKS } from '../../../scripts/generate/labradorPlan.ts';

/** Eight lanes, least and greatest value. */
export type Lanes = readonly (readonly [number, number])[];

/** A lane can take a value that 16 bits do not hold. */
export class Overflow extends Error {}

/** Offsets into a prime's table, by their names, and the tables of all primes one after another. */
export interface Tables {
  readonly offsets: Readonly<Record<string, number>>;
  readonly size: number;
  readonly values: readonly number[];
}

export function tablesOf(text: string): Tables {
  const offsets = Object.fromEntries(
    [...text.matchAll(/const (T_\w+): usize = (\d+);/g)].map(([, name, at]) => [name!, Number(at)]),
  );
  const size = Number(/const TABLE_SIZE: usize = (\d+);/.exec(text)![1]);
  const list = /TABLES: usize = memory\.data<i16>\(\[([^\]]*)\]/.exec(text)![1]!;
  return { offsets, size, values: list.match(/-?\d+/g)!.map(Number) };
}

/** Lanes of a, then of b, by their numbers. */
const pick =
  (...from: number[]) =>
  (a: Lanes, b: Lanes): Lanes =>
    from.map((i) => (i < 8 ? a[i]! : b[i - 8]!));

/** The largest magnitudes in and behind a transform. */
export interface Extent {
  readonly inside: number;
  readonly result: number;
}

/** A transform of one prime: `input` is what vector or, for limbs, what limb it is given. */
export function runOnIntervals(
  body: string,
  tables: Tables,
  prime: number,
  input: (at: number) => readonly [number, number],
): Extent {
  let inside = 0;
  let result = 0;
  const base = (tables.size / 2) * prime;
  const checked = (low: number, high: number): readonly [number, number] => {
    if (low < -32768 || high > 32767) throw new Overflow(`${low} to ${high}`);
    inside = Math.max(inside, -low, high);
    return [low, high];
  };
  const lanes = (f: (lane: number) => readonly [number, number]): Lanes =>
    Array.from({ length: 8 }, (_, lane) => f(lane));
  const constant = ([low, high]: readonly [number, number]): number => {
    if (low !== high) throw new TypeError('not a constant');
    return low;
  };
  /** a w - p round(a w' / 2^15) */
  const product = (a: Lanes, w: Lanes, w1: Lanes, p: Lanes, check = checked): Lanes =>
    lanes((i) => {
      const [modulus, companion] = [constant(p[i]!), constant(w1[i]!)];
      // the one product that the relaxed instruction leaves open is (-2^15)^2
      if (companion === -32768) throw new Overflow('companion');
      const error = 32768 * constant(w[i]!) - modulus * companion;
      const ends = a[i]!.map((x) => x * error);
      const half = 16384 * modulus;
      const low = Math.ceil((Math.min(...ends) - half) / 32768);
      return check(low, Math.floor((Math.max(...ends) + half) / 32768));
    });
  const one = lanes(() => [1, 1]);
  const unchecked = (low: number, high: number) => [low, high] as const;
  const add = (a: Lanes, b: Lanes): Lanes =>
    lanes((i) => checked(a[i]![0] + b[i]![0], a[i]![1] + b[i]![1]));
  const scope = {
    ...tables.offsets,
    v128: {
      load: (from: 'a' | 'table', at: number): Lanes =>
        lanes((lane) => {
          if (from === 'a') return input(at);
          const value = tables.values[base + at / 2 + lane]!;
          return [value, value];
        }),
      store: (_to: string, x: Lanes) => {
        for (const [low, high] of x) result = Math.max(result, -low, high);
      },
    },
    i16x8: {
      add,
      sub: (a: Lanes, b: Lanes): Lanes =>
        add(
          a,
          b.map(([low, high]) => [-high, -low] as const),
        ),
      narrow_i32x4_s: (a: Lanes): Lanes => lanes((i) => checked(...a[i]!)),
    },
    mulmod: product,
    reduceLane: (a: Lanes, companion: Lanes, p: Lanes): Lanes => product(a, one, companion, p),
    fromLimbs: (l0: Lanes, ...[l1, l2, w1, w2, c1, c2, p]: [Lanes, ...Lanes[]]): Lanes => {
      // the sum wraps: only the result has to fit
      const a = product(l1!, w1!, c1!, p!, unchecked);
      const b = product(l2!, w2!, c2!, p!, unchecked);
      return lanes((i) =>
        checked(l0[i]![0] + a[i]![0] + b[i]![0], l0[i]![1] + a[i]![1] + b[i]![1]),
      );
    },
    /** (acc - p m) / 2^16, m any 16 bits */
    mred: (acc: Lanes, low: Lanes): Lanes => {
      const p = constant(low[0]!);
      return lanes((i) => [
        Math.floor((acc[i]![0] - p * 32767) / 65536),
        Math.floor((acc[i]![1] + p * 32768) / 65536),
      ]);
    },
    interleaveLow: pick(0, 8, 1, 9, 2, 10, 3, 11),
    interleaveHigh: pick(4, 12, 5, 13, 6, 14, 7, 15),
    zipLow: pick(0, 1, 8, 9, 2, 3, 10, 11),
    zipHigh: pick(4, 5, 12, 13, 6, 7, 14, 15),
    lowHalves: pick(0, 1, 2, 3, 8, 9, 10, 11),
    highHalves: pick(4, 5, 6, 7, 12, 13, 14, 15),
  };
  const run = new Function(...Object.keys(scope), 'out', 'a', 'table', body);
  run(...Object.values(scope), 'out', 'a', 'table');
  return { inside, result };
}

/** The body of a generated function, without types. */
export function bodyOf(text: string, name: string): string {
  const body = new RegExp(`function ${name}\\([^)]*\\): void \\{\\n([\\s\\S]*?)\\n\\}`).exec(text);
  return body![1]!.replaceAll(': v128', '');
}

/** Sums of MAX_BLOCKS blocks, each of which adds at most this much. */
export const sumsOf = (block: number): readonly [number, number] => [
  -MAX_BLOCKS * block,
  MAX_BLOCKS * block,
];
