/**
 * The slow verifier's level 1 of merged proofs, without a prover: on what honest parts leave, its
 * constraints hold; each deviation is seen, unless the one protection that stops it is off.
 */
import { describe, expect, test } from 'vitest';
import type { BlockProjection } from '../../reference/merged/parseProof.ts';
import { mergedShapesOf } from '../../reference/merged/parseRow.ts';
import { MERGED_TOY_ROWS } from '../../reference/merged/toyRows.ts';
import type { Flaw } from '../../reference/merged/verifier.ts';
import {
  addMergedConstraints,
  type MergedConstraints,
  type MergedInput,
  valuesOfMerged,
} from '../../reference/merged/verifyLevel.ts';
import { scalars } from '../../reference/verifier/challenges.ts';
import { ALL_CHECKS, type Checks } from '../../reference/verifier/checks.ts';
import type { Claim } from '../../reference/verifier/claim.ts';
import type { SentProjection } from '../../reference/verifier/lifts.ts';
import type { Seeds } from '../../reference/verifier/replay.ts';
import {
  add,
  constant,
  equal,
  inverse,
  mod,
  multiply,
  type Packed,
  type Poly,
  pack,
  scale,
  subtract,
  unpack,
  zero,
} from '../../reference/verifier/ring.ts';
import { STREAM, stream } from '../../reference/verifier/streams.ts';
import { type Integers, type Left, leave, project } from '../reference/levelByHand.ts';

const PARTS = 2;
const key = (first: number) => Uint8Array.from({ length: 32 }, (_, i) => first + i);
const [JL, LIFT, COMBINE, OTHER_COMBINE] = [key(1), key(2), key(3), key(4)];
const seedsOf = (combine: Uint8Array): Seeds => ({ jl: JL, lift: LIFT, combine, amortise: JL });
const none = new Array<bigint>(64).fill(0n);
const reduced = (a: Integers): Poly => a.map(mod);

/** A witness of level 1, and what was sent of it. */
interface Honest {
  readonly input: Omit<MergedInput, 'flaws' | 'checks' | 'seeds'>;
  /** before any change */
  readonly claims: readonly Claim[];
  /** by row and column */
  readonly s: readonly (readonly Integers[])[];
}

/** Rows of n polynomials, the last one filled up with zeros. */
function cutIntoRows(list: readonly Integers[], n: number): Integers[][] {
  const rows: Integers[][] = [];
  for (let at = 0; at < list.length; at += n) {
    const row = list.slice(at, at + n);
    rows.push([...row, ...new Array<Integers>(n - row.length).fill(none)]);
  }
  return rows;
}

/** Two honest parts by a row, which may have room for more. */
function honestBy(name: string): Honest {
  const shapes = mergedShapesOf(MERGED_TOY_ROWS[name]!);
  const { most, zero: levelZero, levels } = shapes;
  const { n } = levels[0];
  const { f, m, lengthOfX } = levelZero;
  const lefts: Left[] = Array.from({ length: PARTS }, (_, i) => leave(levelZero, i + 1));
  const absent = (length: number) => new Array<Integers>(length).fill(none);
  const segment = (i: number, length: number): (readonly Integers[])[] =>
    Array.from({ length: most }, (_, part) => lefts[part]?.parts[i] ?? absent(length));
  const rowsOfZ = Array.from({ length: f }, (_, digit) => segment(digit, levelZero.n)).flat();
  const s = [...rowsOfZ.map((z) => cutIntoRows(z, n)), cutIntoRows(segment(f, m).flat(), n)].flat();
  const blocks = lefts.map(({ parts }): BlockProjection => {
    const all = parts.flat().map((poly, POLY) => [POLY, poly] as const);
    const firstOfV = f * levelZero.n;
    const x = all.slice(firstOfV, firstOfV + lengthOfX);
    return { y: project(JL, 1, all), yOfX: lengthOfX > 0 ? project(JL, 1, x) : undefined };
  });
  const sent = { bytes: new Uint8Array(0), values: [] };
  const message = { retry: 0, u: [sent], counter: 0, blocks, b: sent, b32: sent, u2: sent };
  const claims = lefts.map(({ claim }) => claim);
  return { input: { shapes, claims, message }, claims, s };
}

const known = new Map<string, Honest>();
function honest(name: string): Honest {
  const found = known.get(name) ?? honestBy(name);
  known.set(name, found);
  return found;
}

interface Options {
  readonly flaws?: readonly Flaw[];
  readonly off?: readonly (keyof Checks)[];
  readonly combine?: Uint8Array;
}

const inputOf = ({ input }: Honest, options: Options): MergedInput => {
  const { flaws = [], off = [], combine = COMBINE } = options;
  const checks = { ...ALL_CHECKS, ...Object.fromEntries(off.map((name) => [name, false])) };
  return { ...input, seeds: seedsOf(combine), flaws: new Set(flaws), checks };
};

/** The constraint, with φ by row and column. */
interface Forms extends MergedConstraints {
  readonly phi: readonly (readonly [row: number, column: number, phi: Packed])[];
}

/** By the claims, on which and on the options alone it depends, but for D. */
const made = new WeakMap<readonly Claim[], Map<string, Forms>>();

function formsOf(all: Honest, options: Options): Forms {
  const { claims } = all.input;
  const ofClaims = made.get(claims) ?? new Map<string, Forms>();
  made.set(claims, ofClaims);
  const name = JSON.stringify([options.flaws, options.off, options.combine?.[0]]);
  const found = ofClaims.get(name);
  if (found !== undefined) return found;
  const phi: [number, number, Packed][] = [];
  const sink = { add: (row: number, column: number, x: Poly) => phi.push([row, column, pack(x)]) };
  const forms = { ...addMergedConstraints(sink, inputOf(all, options)), phi };
  ofClaims.set(name, forms);
  return forms;
}

/** Left side minus right side of the constraint, without lifts. */
function residueOf({ input, s }: Honest, { phi, quadratic, b }: Forms): Poly {
  const { pairs } = input.shapes.levels[0];
  const rows = s.map((row) => row.map((x) => pack(reduced(x))));
  let sum = 0n;
  for (const [row, column, form] of phi) sum += form * rows[row]![column]!;
  let value = unpack(sum);
  for (const [pair, factor] of quadratic) {
    const [i, j] = pairs[pair]!.map((row) => rows[row]!) as [Packed[], Packed[]];
    const form = unpack(i.reduce((all, x, column) => all + x * j[column]!, 0n));
    value = add(value, multiply(factor, form));
  }
  return subtract(value, b);
}

const ONLY_LIFTS = ['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'padding'] as const;

/** b^(1), b^(2) of a witness: solved from two combinations of them, nothing else being checked. */
function liftsOf(all: Honest, flaws: readonly Flaw[]): Poly[] {
  // of F nothing depends on the claims
  const own = { ...all, input: { ...all.input, claims: all.claims } };
  const [first, second] = [COMBINE, OTHER_COMBINE].map((combine) => {
    const forms = formsOf(own, { flaws, off: ONLY_LIFTS, combine });
    return [...forms.beta, residueOf(own, forms)];
  });
  const [a, b, x] = first as [Poly, Poly, Poly];
  const [c, d, y] = second as [Poly, Poly, Poly];
  const unit = inverse(subtract(multiply(a, d), multiply(b, c)))!;
  return [
    multiply(unit, subtract(multiply(d, x), multiply(b, y))),
    multiply(unit, subtract(multiply(a, y), multiply(c, x))),
  ];
}

/** Whether T(b) of a lift is not D. */
function missesD(all: Honest, ...flaws: Flaw[]): boolean {
  const values = valuesOfMerged(inputOf(all, { flaws }));
  return liftsOf(all, flaws).some((b, k) => b[0] !== values[k]![0] || b[32] !== values[k]![1]);
}

/** Whether the combination of all equations does not hold with these lifts. */
function missesSum(all: Honest, ...flaws: (Flaw & ('oneChi' | keyof Checks))[]): boolean {
  const forms = formsOf(all, {
    flaws: flaws.filter((flaw) => flaw === 'oneChi'),
    off: flaws.filter((flaw) => flaw !== 'oneChi'),
  });
  const lifts = liftsOf(all, []);
  const ofLifts = lifts.reduce((sum, b, k) => add(sum, multiply(forms.beta[k]!, b)), zero());
  return !equal(residueOf(all, forms), ofLifts);
}

const changeClaims = (all: Honest, to: (claim: Claim, part: number) => Claim): Honest => ({
  ...all,
  input: { ...all.input, claims: all.input.claims.map(to) },
});
const plus = (sent: SentProjection, at: number, by: number): SentProjection => ({
  ...sent,
  rows: sent.rows.with(at, sent.rows[at]! + by),
});
/** y of two parts, one of whose numbers is shifted. */
function shift(all: Honest, by: readonly [number, number]): Honest {
  const { message } = all.input;
  const at = 11;
  const blocks = message.blocks.map((block, i) => ({ ...block, y: plus(block.y, at, by[i]!) }));
  return { ...all, input: { ...all.input, message: { ...message, blocks } } };
}

function exchange(all: Honest): Honest {
  const { message } = all.input;
  const blocks = message.blocks.map(({ yOfX }, i) => ({ y: message.blocks[1 - i]!.y, yOfX }));
  return { ...all, input: { ...all.input, message: { ...message, blocks } } };
}

/** Polynomial 0 of z of a part, recomposed. */
function firstOfZ({ input, s }: Honest, part: number): Poly {
  const { zero: levelZero, most, levels } = input.shapes;
  return Array.from({ length: levelZero.f }, (_, digit) => {
    const row = levels[0].firstRow[digit * most + part]!;
    return scale(reduced(s[row]![0]!), 2n ** BigInt(levelZero.b * digit));
  }).reduce(add, zero());
}

const anyPoly = (index: number): Poly =>
  Array.from(stream(LIFT, { type: STREAM.eta, level: 9, index }).take(64), BigInt);

const NAMES = Object.keys(MERGED_TOY_ROWS);
const [OPEN, OPEN_3, HIDDEN] = NAMES as [string, string, string];

describe.each(NAMES)('two honest parts: %s', (name) => {
  test('all equations hold', () => {
    expect([missesD(honest(name)), missesSum(honest(name))]).toEqual([false, false]);
  });

  test('a wrong coefficient of z or v of each part is seen', () => {
    const { s, input } = honest(name);
    const { zero: levelZero, levels } = input.shapes;
    const inV = (polynomial: number): readonly [number, number] => [
      levels[0].firstRow.at(-1)! + Math.floor(polynomial / levels[0].n),
      polynomial % levels[0].n,
    ];
    for (const [row, column] of [
      ...[[0, 0] as const, [levels[0].firstRow[1]!, 1] as const],
      ...[levelZero.lengthOfX, levelZero.m + levelZero.lengthOfX].map(inV),
    ]) {
      const wrong = s.with(row, s[row]!.with(column, s[row]![column]!.with(5, 12345n)));
      const all = { ...honest(name), s: wrong };
      expect([missesD(all), missesSum(all)], `${row} ${column}`).toEqual([true, true]);
    }
  });
});

test.each([OPEN, HIDDEN])('y_5 + 3 and y_5 - 3 in two parts; y exchanged: %s', (name) => {
  for (const wrong of [shift(honest(name), [3, -3]), exchange(honest(name))]) {
    expect(missesD(wrong)).toBe(true);
    expect(missesD(wrong, 'oneUpsilon')).toBe(false);
  }
  expect(missesD(shift(honest(name), [3, 0]), 'oneUpsilon')).toBe(true);
});

test('the places of an absent part are zero', () => {
  const all = honest(OPEN_3);
  const { most, zero: levelZero, levels } = all.input.shapes;
  const inV = (most - 1) * levelZero.m + 3;
  for (const [row, column] of [
    [levels[0].firstRow[most - 1]!, 2],
    [levels[0].firstRow.at(-1)! + Math.floor(inV / levels[0].n), inV % levels[0].n],
  ] as const) {
    const s = all.s.with(row, all.s[row]!.with(column, none.with(7, 1n)));
    expect([missesD({ ...all, s }), missesSum({ ...all, s })]).toEqual([false, true]);
    expect(missesSum({ ...all, s }, 'padding')).toBe(false);
    // one coefficient, which no χ multiplies
    const phi = formsOf(all, { flaws: [], off: [] }).phi.filter(
      ([a, b]) => a === row && b === column,
    );
    expect(phi).toEqual([[row, column, pack(shortOf(7, row * levels[0].n + column))]]);
  }
});

test('r and -r of D_before in two parts', () => {
  const wrong = changeClaims(honest(HIDDEN), (claim, part) => {
    const hidden = claim.hidden!;
    const [[a, b], ...rest] = hidden.values as [[bigint, bigint], ...[bigint, bigint][]];
    const values = [[a, mod(b + (part === 0 ? 5n : -5n))] as const, ...rest];
    return { ...claim, hidden: { ...hidden, values } };
  });
  expect(missesD(wrong)).toBe(true);
  expect(missesD(wrong, 'oneUpsilon')).toBe(false);
});

test('r and -r of E5, or of E6, in two parts', () => {
  const all = honest(OPEN);
  const r = anyPoly(1);
  const sign = (part: number): bigint => (part === 0 ? 1n : -1n);
  const ofE6 = changeClaims(all, (claim, part) => ({
    ...claim,
    b: add(claim.b, scale(r, sign(part))),
  }));
  const ofE5 = changeClaims(all, (claim, part) => {
    const moved = scale(multiply(r, inverse(firstOfZ(all, part))!), sign(part));
    return { ...claim, phiZ: claim.phiZ.with(0, add(claim.phiZ[0]!, moved)) };
  });
  for (const wrong of [ofE5, ofE6]) {
    expect([missesSum(wrong), missesSum(wrong, 'oneChi')]).toEqual([true, false]);
  }
  // E5 of one part and E6 of the other do not cancel, even with one χ
  const mixed = changeClaims(all, (_, part) => (part === 0 ? ofE5 : ofE6).input.claims[part]!);
  expect(missesSum(mixed, 'oneChi')).toBe(true);
});

test.each([
  [OPEN, 137],
  [HIDDEN, 137 + 137 + 8 * 6 * 4 + 3],
])('υ_1 and υ_2 follow the scalars of p. 8.5: %s', (name, before) => {
  const all = honest(name);
  /** D with a y*_5 of one block that is one more. */
  const values = (block: number) => {
    const by = [0, 1].map((other) => Number(other === block)) as [number, number];
    return valuesOfMerged(inputOf(shift(all, by), {}));
  };
  const old = values(2);
  for (const sub of [0, 1]) {
    const words = scalars(stream(LIFT, { type: 4, level: 1, sub }), 2 * (before + 2));
    // y*_5 is the part of i, and i² = -1
    const [a, b] = [words[10]!, words[11]!];
    for (const block of [0, 1]) {
      const at = 2 * (before + block);
      const [c, d] = [words[at]!, words[at + 1]!];
      const [real, i] = [a * c - b * d, a * d + b * c];
      const [x, y] = [0, 1].map((part) => values(block)[sub]![part]! - old[sub]![part]!);
      expect([mod(x!), mod(y!)], `${sub} ${block}`).toEqual([mod(-i), mod(real)]);
    }
  }
});

test('χ_ι is the short polynomial of stream 8, sub 8, index ι - 1', () => {
  const { input } = honest(NAMES[0]!);
  const { firstRow, pairs } = input.shapes.levels[0];
  const delta = shortOf(5, 0);
  const constraints = addMergedConstraints(
    { add: () => {} },
    { ...input, seeds: seedsOf(COMBINE), flaws: new Set(), checks: ALL_CHECKS },
  );
  const { most, zero: levelZero } = input.shapes;
  for (const part of [0, 1]) {
    const expected = scale(multiply(delta, shortOf(8, part)), -1n);
    const [a, b] = [firstRow[part]!, firstRow[most + part]!];
    const at = (i: number, j: number) => pairs.findIndex(([x, y]) => x === i && y === j);
    const power = 2n ** BigInt(levelZero.b);
    expect(constraints.quadratic.get(at(a, a))).toEqual(expected);
    expect(constraints.quadratic.get(at(a, b))).toEqual(scale(expected, 2n * power));
    expect(constraints.quadratic.get(at(b, b))).toEqual(scale(expected, power * power));
    expect(constraints.quadratic.get(at(firstRow[0]!, firstRow[1]!))).toBe(undefined);
  }
});

/** A polynomial of stream 8 of level 1, by the text. */
function shortOf(sub: number, index: number): Poly {
  const bytes = stream(COMBINE, { type: 8, level: 1, sub, index }).take(24);
  const all = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  return constant(0n).map((_, j) => mod(((all >> BigInt(3 * j)) & 7n) - 4n));
}
