/**
 * Runs the text of kernels on intervals: every lane is the set of values that it can take, and a
 * lane that can leave 16 bits is an error.
 */

export type Interval = readonly [low: number, high: number];
/** Eight lanes. */
export type Lanes = readonly Interval[];

/** A lane can take a value that 16 bits do not hold. */
export class Overflow extends Error {}

/** Lanes of a, then of b, by their numbers. */
const pick =
  (...from: number[]) =>
  (a: Lanes, b: Lanes): Lanes =>
    from.map((i) => (i < 8 ? a[i]! : b[i - 8]!));

export const lanes = (f: (lane: number) => Interval): Lanes => [0, 1, 2, 3, 4, 5, 6, 7].map(f);

const constant = ([low, high]: Interval): number => {
  if (low !== high) throw new TypeError('not a constant');
  return low;
};

/** a w - p round(a w' / 2^15), which may wrap */
export const product = (a: Lanes, w: Lanes, w1: Lanes, p: Lanes): Lanes =>
  lanes((i) => {
    const [modulus, companion] = [constant(p[i]!), constant(w1[i]!)];
    // the one product that the relaxed instruction leaves open is (-2^15)^2
    if (companion === -32768) throw new Overflow('companion');
    const error = 32768 * constant(w[i]!) - modulus * companion;
    const [x, y] = [a[i]![0] * error, a[i]![1] * error];
    const half = 16384 * modulus;
    return [
      Math.ceil((Math.min(x, y) - half) / 32768),
      Math.floor((Math.max(x, y) + half) / 32768),
    ];
  });

/** Memory of 16-bit lanes, at even addresses, and the instructions on them. */
export class IntervalMachine {
  /** The largest magnitude that a result of an instruction took. */
  inside = 0;
  readonly #memory: Interval[] = [];

  put(at: number, values: readonly Interval[]): void {
    for (const [i, value] of values.entries()) this.#memory[at / 2 + i] = value;
  }

  putConstants(at: number, values: readonly number[]): void {
    this.put(
      at,
      values.map((x) => [x, x]),
    );
  }

  /** The largest magnitude of so many lanes. */
  largest(at: number, count: number): number {
    const values = this.#memory.slice(at / 2, at / 2 + count);
    return values.reduce((most, [low, high]) => Math.max(most, -low, high), 0);
  }

  /** @throws Overflow */
  readonly checked = (result: Lanes): Lanes => {
    for (const [low, high] of result) {
      if (low < -32768 || high > 32767) throw new Overflow(`${low} to ${high}`);
      this.inside = Math.max(this.inside, -low, high);
    }
    return result;
  };

  readonly #add = (a: Lanes, b: Lanes): Lanes =>
    this.checked(lanes((i) => [a[i]![0] + b[i]![0], a[i]![1] + b[i]![1]]));

  readonly #load = (at: number, offset = 0): Lanes =>
    this.#memory.slice((at + offset) / 2, (at + offset) / 2 + 8);

  /** Instructions, and the functions of assembly/shared that both transforms call. */
  readonly instructions = {
    v128: {
      load: this.#load,
      load16_splat: (at: number, offset = 0): Lanes => {
        const value = this.#load(at, offset)[0]!;
        return lanes(() => value);
      },
      store: (at: number, x: Lanes, offset = 0) => this.put(at + offset, x),
    },
    i16x8: {
      add: this.#add,
      sub: (a: Lanes, b: Lanes): Lanes =>
        this.#add(
          a,
          b.map(([low, high]) => [-high, -low] as const),
        ),
      narrow_i32x4_s: this.checked,
    },
    mulmod: (a: Lanes, w: Lanes, w1: Lanes, p: Lanes) => this.checked(product(a, w, w1, p)),
    interleaveLow: pick(0, 8, 1, 9, 2, 10, 3, 11),
    interleaveHigh: pick(4, 12, 5, 13, 6, 14, 7, 15),
    zipLow: pick(0, 1, 8, 9, 2, 3, 10, 11),
    zipHigh: pick(4, 5, 12, 13, 6, 7, 14, 15),
    lowHalves: pick(0, 1, 2, 3, 8, 9, 10, 11),
    highHalves: pick(4, 5, 6, 7, 12, 13, 14, 15),
  };
}

/** Functions of AssemblyScript as JavaScript: without types, decorators, imports and exports. */
export const scriptOf = (text: string): string =>
  text
    .replaceAll(/^import[\s\S]*?;$/gm, '')
    .replaceAll(/^export /gm, '')
    .replaceAll(/^@inline$/gm, '')
    .replaceAll(/: (?:v128|usize|i32|void)\b|<(?:usize|i32)>/g, '');

/** @returns the named function of a script, with these names in its scope */
export const functionOf = (
  script: string,
  name: string,
  scope: Readonly<Record<string, unknown>>,
): ((...args: number[]) => void) =>
  new Function(...Object.keys(scope), `${script}\nreturn ${name};`)(...Object.values(scope));
