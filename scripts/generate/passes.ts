/**
 * Passes of a number-theoretic transform as straight-line code over eight vectors x0 to x7 of eight
 * 16-bit lanes.
 */

export const LANES = [0, 1, 2, 3, 4, 5, 6, 7];
export const x = (i: number) => `x${i}`;

export const indent = (lines: readonly string[], by: number) =>
  lines.map((line) => `${' '.repeat(by)}${line}`).join('\n');

/** The two operands of a product by a constant, as expressions: w and w'. */
export type Twiddle = readonly [w: string, companion: string];

/** How the code names its prime, and reduces a lane. */
export interface Modulus {
  readonly name: string;
  reduce(value: string): string;
}

type Steps = readonly (readonly [a: number, b: number])[][];

/** The level, 0 to 2, of the butterflies that use twiddle k. */
const levelOf = (k: number) => (k === 0 ? 0 : k < 3 ? 1 : 2);

/** Butterflies at a distance: where their blocks begin, and their positions within a block. */
const blocksOf = (distance: number) => LANES.filter((i) => i % (2 * distance) === 0);
const positionsOf = (distance: number) => LANES.filter((i) => i < distance);

/** Forward: halves, then quarters, then neighbours; each block has its twiddle. */
const FORWARD_STEPS: Steps = [4, 2, 1].flatMap((d) =>
  blocksOf(d).map((h) => positionsOf(d).map((i) => [h + i, h + i + d] as const)),
);

/** Inverse: neighbours, then quarters, then halves; each position in a block has its twiddle. */
const INVERSE_STEPS: Steps = [1, 2, 4].flatMap((d) =>
  positionsOf(d).map((i) => blocksOf(d).map((h) => [h + i, h + i + d] as const)),
);

/** Writers of the butterflies modulo one prime, which leave their results in x0 to x7. */
export function modulo(modulus: Modulus) {
  /** (a, b) -> (a + t, a - t) */
  const addAndSubtract = (a: number, b: number, t: string, reduces: boolean): string[] => [
    `t = ${t};`,
    ...(reduces ? [`${x(a)} = ${modulus.reduce(x(a))};`] : []),
    `${x(b)} = i16x8.sub(${x(a)}, t);`,
    `${x(a)} = i16x8.add(${x(a)}, t);`,
  ];

  /** (a, b) -> (a + w b, a - w b) */
  const butterfly = (a: number, b: number, [w, w1]: Twiddle, reduces: boolean): string[] =>
    addAndSubtract(a, b, `mulmod(${x(b)}, ${w}, ${w1}, ${modulus.name})`, reduces);

  /** The same with w = 1; when it reduces, both legs: nothing multiplies the other one. */
  const plainButterfly = (a: number, b: number, reduces: boolean): string[] =>
    addAndSubtract(a, b, reduces ? modulus.reduce(x(b)) : x(b), reduces);

  /**
   * Three levels; `steps[k]` lists the butterflies that use twiddle k, which is loaded into w and c
   * just before. `reduces` is asked with k, and with the level, 0 to 2, of these butterflies.
   */
  const radix8 =
    (steps: Steps) =>
    (twiddle: (k: number) => Twiddle, reduces: (k: number, level: number) => boolean): string[] =>
      steps.flatMap((pairs, k) => {
        const [w, w1] = twiddle(k);
        const here = reduces(k, levelOf(k));
        return [
          `w = ${w};`,
          `c = ${w1};`,
          ...pairs.flatMap(([a, b]) => butterfly(a, b, ['w', 'c'], here)),
        ];
      });

  return {
    butterfly,
    plainButterfly,
    forwardLevels: radix8(FORWARD_STEPS),
    inverseLevels: radix8(INVERSE_STEPS),
  };
}

/** The functions of assembly/shared/lanes.ts that `transpose` calls. */
export const TRANSPOSE_IMPORTS =
  'highHalves, interleaveHigh, interleaveLow, lowHalves, zipHigh, zipLow';

/** 8 x 8 transposition of lanes by interleaving. */
export function transpose(): string[] {
  const lines: string[] = [];
  for (const i of [0, 2, 4, 6]) {
    lines.push(`const y${i} = interleaveLow(${x(i)}, ${x(i + 1)});`);
    lines.push(`const y${i + 1} = interleaveHigh(${x(i)}, ${x(i + 1)});`);
  }
  for (const i of [0, 1, 4, 5]) {
    const at = i < 4 ? 2 * i : 2 * i - 4;
    lines.push(`const z${at} = zipLow(y${i}, y${i + 2});`);
    lines.push(`const z${at + 1} = zipHigh(y${i}, y${i + 2});`);
  }
  for (const i of [0, 1, 2, 3]) {
    lines.push(`${x(2 * i)} = lowHalves(z${i}, z${i + 4});`);
    lines.push(`${x(2 * i + 1)} = highHalves(z${i}, z${i + 4});`);
  }
  return lines;
}
