/**
 * What an honest prover leaves to the level after it, computed from sections 6 and 7 of
 * docs/protocol.md on rows of small numbers: for tests of the slow verifier's constraints.
 */
import {
  amortiserOf,
  keyRow,
  type Pair,
  projectionOf,
  scalars,
} from '../../reference/verifier/challenges.ts';
import type { Claim } from '../../reference/verifier/claim.ts';
import { liftsOf, type SentProjection } from '../../reference/verifier/lifts.ts';
import {
  add,
  centred,
  fromIntegers,
  inner,
  mod,
  multiply,
  type Poly,
  scale,
  zero,
} from '../../reference/verifier/ring.ts';
import type { Ordinary } from '../../reference/verifier/shapes.ts';
import { STREAM, stream } from '../../reference/verifier/streams.ts';

const KEY = Uint8Array.from({ length: 32 }, (_, i) => 200 - i);

/** Integers, of either sign. */
export type Integers = readonly bigint[];

/** A random element of R_q. */
export const anyPoly = (level: number, index: number): Poly =>
  scalars(stream(KEY, { type: STREAM.eta, level, index }), 64);

/** A polynomial of small integers. */
function smallPoly(index: number): Integers {
  const bytes = stream(KEY, { type: STREAM.short, level: 77, index }).take(64);
  return Array.from(bytes, (x) => BigInt(x % 32) - 16n);
}

/** 1: balanced digits of an integer. */
export function digitsOf(x: bigint, count: number, bits: number): bigint[] {
  const list: bigint[] = [];
  let rest = x;
  for (let j = 0; j < count - 1; j++) {
    const digit = BigInt.asIntN(bits, rest);
    list.push(digit);
    rest = (rest - digit) >> BigInt(bits);
  }
  return [...list, rest];
}

/** For every digit, that digit of all polynomials in order. */
const spread = (list: readonly Integers[], count: number, bits: number): Integers[] => {
  const all = list.map((a) => a.map((x) => digitsOf(x, count, bits)));
  return Array.from({ length: count }, (_, j) => all.map((a) => a.map((x) => x[j]!))).flat();
};

const reduced = (list: readonly Integers[]): Poly[] => list.map((a) => a.map(mod));
const centredPoly = (a: Poly): Integers => a.map(centred);
const timesM = (rank: number, x: readonly Poly[]): Poly[] =>
  Array.from({ length: rank }, (_, row) => inner(keyRow(row, x.length), x));
const subtractAll = (a: readonly Integers[], b: readonly Integers[]): Integers[] =>
  a.map((x, i) => x.map((c, j) => c - b[i]![j]!));

/** 6.2: u' or t', and e; centred or from [0, q). */
function cutOff(u: readonly Integers[], cut: number): { kept: Integers[]; e: Integers[] } {
  if (cut === 0) return { kept: [...u], e: [] };
  const kept = u.map((a) => a.map((x) => x >> BigInt(cut)));
  const half = 1n << BigInt(cut - 1);
  const hat = kept.map((a) => a.map((x) => (x << BigInt(cut)) + half));
  return { kept, e: subtractAll(hat, u) };
}

export interface Left {
  readonly claim: Claim;
  /** z_0, …, z_{f-1}, v */
  readonly parts: readonly (readonly Integers[])[];
  readonly z: readonly Poly[];
  /** the messages of a hidden level, in their order */
  readonly x: readonly (readonly Integers[])[];
}

/** Σ_a c_a rows[a], column by column. */
const fold = (c: readonly Poly[], rows: readonly (readonly Poly[])[]): Poly[] =>
  (rows[0] ?? []).map((_, i) =>
    inner(
      c,
      rows.map((row) => row[i]!),
    ),
  );

/** Random rows s_a with their t'_a and e_a, random φ_a, and g and h of both. */
function garbageOf({ n, kappa, r, pairs, ct }: Ordinary, variant: number) {
  const s = Array.from({ length: r }, (_, a) =>
    Array.from({ length: n }, (_, i) => smallPoly(100000 * variant + 1000 * a + i)),
  );
  const sq = s.map(reduced);
  const inners = sq.map((row) => cutOff(timesM(kappa, row).map(centredPoly), ct));
  const g = pairs.map(([i, j]) => inner(sq[i]!, sq[j]!));
  // rows and forms are extended if there is an e
  const width = n + (ct > 0 ? kappa : 0);
  const phi = sq.map((_, a) =>
    Array.from({ length: width }, (_, i) => anyPoly(90 + a, 1000 * variant + i)),
  );
  const long = sq.map((row, a) => [...row, ...reduced(inners[a]!.e)]);
  const h = pairs.map(([i, j]) => {
    const first = inner(phi[i]!, long[j]!);
    return i === j ? first : add(first, inner(phi[j]!, long[i]!));
  });
  return { s, inners, g, h, phi };
}

/**
 * A level with random rows and linear forms, as it leaves it.
 *
 * @param variant another one has other values throughout
 */
export function leave(shape: Ordinary, variant = 0): Left {
  const { n, f, b, fu, bu, fg, bg, kappa1, cut, r, ct, ft, level, w } = shape;
  const { s, inners, g, h, phi } = garbageOf(shape, variant);
  const c = Array.from({ length: r }, (_, index) =>
    fromIntegers(
      amortiserOf(stream(KEY, { type: STREAM.amortise, level, index: 100 * variant + index })).c,
    ),
  );
  const sumOf = (rows: readonly (readonly Integers[])[]): Integers[] =>
    fold(c, rows.map(reduced)).map(centredPoly);
  const z = sumOf(s);
  const e = sumOf(inners.map((x) => x.e));

  const vt = inners.map(({ kept }) => spread(kept, ft, bu));
  const vg = spread(g.map(centredPoly), fg, bg);
  const vh = spread(h.map(centredPoly), fu, bu);
  const firsts =
    level === 0
      ? [vt.slice(0, shape.firstRow[2]!).flat(), [...vt.slice(shape.firstRow[2]!).flat(), ...vg]]
      : [[...vt.flat(), ...vg]];
  const u = [...firsts, vh].map((x) => timesM(kappa1, reduced(x)));
  const outer = u.map((list) => cutOff(w > 0 ? list.map(centredPoly) : list, cut));

  const lifts = liftsOf(level).map((k) => anyPoly(80, 10 * variant + k));
  const kept = outer.map((list) => list.kept);
  const messages = [...kept.slice(0, -1), lifts.map(centredPoly), kept.at(-1)!];
  const x = shape.messages.map(({ digits }, i) => spread(messages[i]!, digits, w));
  const v = [
    ...[...x.flat(), ...vt.flat(), ...vg, ...vh],
    ...(ct > 0 ? spread(e, f, b) : []),
    ...outer.flatMap((list) => list.e),
  ];
  const zDigits = spread(z, f, b);
  const all = fold(c, phi);
  const folded = { c, phiZ: all.slice(0, n), phiE: all.slice(n) };
  return {
    claim: { ...claimFor(shape, g, h, lifts, x, outer, variant), ...folded },
    parts: [...Array.from({ length: f }, (_, i) => zDigits.slice(n * i, n * (i + 1))), v],
    z: reduced(z),
    x,
  };
}

/** The public values, for two quadratic terms and the right side that all of it has. */
function claimFor(
  shape: Ordinary,
  g: readonly Poly[],
  h: readonly Poly[],
  lifts: readonly Poly[],
  x: readonly (readonly Integers[])[],
  outer: readonly { kept: Integers[] }[],
  variant: number,
): Omit<Claim, 'c' | 'phiZ' | 'phiE'> {
  const quadratic = new Map([0, 3].map((pair) => [pair, anyPoly(70, 10 * variant + pair)]));
  let b = zero();
  for (const [pair, factor] of quadratic) b = add(b, multiply(factor, g[pair]!));
  for (const [pair, [i, j]] of shape.pairs.entries()) if (i === j) b = add(b, h[pair]!);
  if (shape.w === 0) {
    const half = shape.cut > 0 ? 1n << BigInt(shape.cut - 1) : 0n;
    const u = outer.map(({ kept }) =>
      kept.map((a) => a.map((value) => (value << BigInt(shape.cut)) + half)),
    );
    return { shape, quadratic, b, u, hidden: undefined };
  }
  const beta = lifts.map((_, k) => fromIntegers(smallPoly(100000 * variant + k + 50).map(Number)));
  for (const [k, lift] of lifts.entries()) {
    b = add(b, scale(multiply(beta[k]!, lift), -1n));
  }
  const values = lifts.map((lift): Pair => [lift[0]!, lift[32]!]);
  return { shape, quadratic, b, u: [], hidden: { beta, p: x.map(quartersOf(shape.k)), values } };
}

/** 6.4: Q_k, by rows. */
export const quartersOf =
  (k: number) =>
  (x: readonly Integers[]): bigint[][] =>
    timesM(k, reduced(x)).map((a) => a.filter((_, i) => i % 4 === 0));

/** 5.3: y_j, y*_j of these polynomials, as they would be sent. */
export function project(
  seed: Uint8Array,
  level: number,
  places: readonly (readonly [POLY: number, s: Integers])[],
): SentProjection {
  const y = Array.from({ length: 137 }, (): [number, number] => [0, 0]);
  for (const [number, s] of places) {
    const entries = projectionOf(seed, level, number);
    for (const [j, sums] of y.entries()) {
      for (let c = 0; c < 64; c++) {
        if (entries[64 * j + c] === 0) continue;
        sums[0] += Number(s[c]!);
        // X^32 π has a 1 at c + 32, or -1 at c - 32
        sums[1] += c < 32 ? Number(s[c + 32]!) : -Number(s[c - 32]!);
      }
    }
  }
  const [U, V] = y[136]!;
  const rows = y
    .slice(0, 136)
    .flatMap(([a, b]) => [a - Math.floor((U + V) / 2), b - Math.floor((V - U) / 2)]);
  return { rows, U, V };
}
