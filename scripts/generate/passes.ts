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

/** (a, b) -> (a + w b, a - w b) */
export const butterfly = (
  a: number,
  b: number,
  [w, w1]: Twiddle,
  modulus: Modulus,
  reduces: boolean,
): string[] => [
  `t = mulmod(${x(b)}, ${w}, ${w1}, ${modulus.name});`,
  ...(reduces ? [`${x(a)} = ${modulus.reduce(x(a))};`] : []),
  `${x(b)} = i16x8.sub(${x(a)}, t);`,
  `${x(a)} = i16x8.add(${x(a)}, t);`,
];

/** The same with w = 1; when it reduces, both legs: nothing multiplies the other one. */
export const plainButterfly = (
  a: number,
  b: number,
  modulus: Modulus,
  reduces: boolean,
): string[] => [
  `t = ${reduces ? modulus.reduce(x(b)) : x(b)};`,
  ...(reduces ? [`${x(a)} = ${modulus.reduce(x(a))};`] : []),
  `${x(b)} = i16x8.sub(${x(a)}, t);`,
  `${x(a)} = i16x8.add(${x(a)}, t);`,
];

type Steps = readonly (readonly [a: number, b: number])[][];

/**
 * Three levels; `steps[k]` lists the butterflies that use twiddle k, which is loaded into w and c
 * just before.
 */
export function radix8(
  steps: Steps,
  twiddle: (k: number) => Twiddle,
  modulus: Modulus,
  reduces: (k: number) => boolean,
): string[] {
  return steps.flatMap((pairs, k) => {
    const [w, w1] = twiddle(k);
    return [
      `w = ${w};`,
      `c = ${w1};`,
      ...pairs.flatMap(([a, b]) => butterfly(a, b, ['w', 'c'], modulus, reduces(k))),
    ];
  });
}

/** The level, 0 to 2, of the butterflies that use twiddle k. */
export const levelOf = (k: number) => (k === 0 ? 0 : k < 3 ? 1 : 2);

/** Forward: halves, then quarters, then neighbours; twiddle 0, twiddles 1-2, twiddles 3-6. */
export const FORWARD_STEPS: Steps = [
  [0, 1, 2, 3].map((i) => [i, i + 4]),
  ...[0, 4].map((h): [number, number][] => [
    [h, h + 2],
    [h + 1, h + 3],
  ]),
  ...[0, 2, 4, 6].map((h): [number, number][] => [[h, h + 1]]),
];

/** Inverse: neighbours, then quarters, then halves, twiddles by position within the block. */
export const INVERSE_STEPS: Steps = [
  [0, 2, 4, 6].map((h) => [h, h + 1]),
  ...[0, 1].map((h): [number, number][] => [
    [h, h + 2],
    [h + 4, h + 6],
  ]),
  ...[0, 1, 2, 3].map((h): [number, number][] => [[h, h + 4]]),
];

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
