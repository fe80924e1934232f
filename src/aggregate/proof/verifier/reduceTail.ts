/**
 * The tail (docs/protocol.md, 9.4): recovers the values of the last row, and compares them with
 * their seals.
 */
import { equal } from '../../../shared/bytes.ts';
import type { Parameters, TailLevel } from '../../parameters/rows.ts';
import { COEFS_BYTES, type Labrador, SUM_BYTES, type Vecs } from '../../wasm.ts';
import { packResidues } from '../bits.ts';
import { expandKeys, Seed, sampleCs } from '../challenges.ts';
import type { Claim, QuadraticTerm } from '../claim.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import { SEAL, type Transcript } from '../transcript.ts';
import { openSeeds } from './openSeeds.ts';
import type { ParsedTail } from './parse.ts';
import { foldExtensions, reduceRows, type Summand } from './reduceLevel.ts';
import type { TailSeeds } from './replay.ts';
import { add, combination, inverse, multiply, type Poly, polyOf, subtract } from './tailRing.ts';

/** The values mod q that are computed in the module. */
interface TailSums {
  /** M z + e, by row of M */
  readonly image: readonly Poly[];
  /** <z, z> */
  readonly square: Poly;
  /** <phi_z, z> + <phi_e, e> */
  readonly value: Poly;
  /** small integers, as numbers */
  readonly c: readonly Float64Array[];
  readonly quadratic: readonly QuadraticTerm[];
  readonly b: Poly;
}

/** Returns whether both seals match those sent. The norm must have been checked. */
export function reduceTail(
  lab: Labrador,
  { levels, tail }: Parameters,
  claim: Claim,
  folds: readonly Summand[],
  fields: ParsedTail,
  seeds: TailSeeds,
  transcript: Transcript,
): boolean {
  const sums = lab.scope(() => sumsOf(lab, tail, levels.length, claim, folds, fields, seeds));
  const { r } = tail;
  const lastC = polyOf(sums.c[r - 1]!);
  const firstC = polyOf(sums.c[0]!);
  const lastSquare = multiply(lastC, lastC);
  const unit = inverse(lastC);
  const difference = inverse(subtract(lastSquare, multiply(firstC, firstC)));
  if (unit === undefined || difference === undefined) return false;

  const g = polynomials(fields.g);
  const t = unpack(lab, fields.t, Q_BITS - tail.cut, tail.cut);
  const lastT = recoverT(tail, sums, t, unit);
  const lastG = multiply(multiply(unit, unit), restOfSquare(tail, sums, g));
  transcript.st = seeds.stateOfT;
  const sealT = transcript.seal(SEAL.t, packPolys([...lastT, lastG]));

  const lastH = multiply(
    difference,
    restOfValue(tail, sums, multiply(firstC, firstC), g, unpack(lab, fields.h, Q_BITS)),
  );
  transcript.st = seeds.stateOfH;
  const sealH = transcript.seal(SEAL.h, packPolys([lastH]));
  return equal(sealT, fields.sealT) && equal(sealH, fields.sealH);
}

function sumsOf(
  lab: Labrador,
  tail: TailLevel,
  number: number,
  claim: Claim,
  folds: readonly Summand[],
  fields: ParsedTail,
  seeds: TailSeeds,
): TailSums {
  const { n, kappa } = tail;
  const open = openSeeds(lab, seeds, number, tail.r);
  const { folding, quadratic, b } = reduceRows(lab, tail, [claim], folds, fields, open, false);
  const onE = foldExtensions(lab, tail, open);
  // Reduced mod q before the next multiplication.
  for (const { sum } of [folding, onE]) lab.kernels.reduceColumns(sum.at, 0, sum.columns);

  const z = integersToVec(lab, fields.z);
  const e = integersToVec(lab, fields.e);
  const sums = lab.sums(kappa + 2);
  const square = { ...sums, at: sums.at + SUM_BYTES * kappa, count: 1 };
  const value = { ...sums, at: sums.at + SUM_BYTES * (kappa + 1), count: 1 };
  lab.products({ ...sums, count: kappa }, expandKeys(lab, kappa, { to: n }), z);
  lab.products(square, z, z);
  lab.products(value, folding.sum, z);
  lab.products(value, onE.sum, e);
  const out = lab.coefs(kappa + 3);
  lab.kernels.manySumsToCoefs(out.at, sums.at, kappa + 2);
  lab.kernels.formToCoefs(out.at + COEFS_BYTES * (kappa + 2), b);
  const smalls = sampleCs(lab, new Seed(lab, seeds.amortise, number), tail.r);

  const all = lab.i64(out);
  const coefficients = lab.i16(smalls);
  return {
    image: Array.from({ length: kappa }, (_, i) =>
      add(polyOf(all, 64 * i), polyOf(fields.e, 64 * i)),
    ),
    square: polyOf(all, 64 * kappa),
    value: polyOf(all, 64 * (kappa + 1)),
    c: Array.from({ length: tail.r }, (_, a) =>
      Float64Array.from(coefficients.subarray(64 * a, 64 * (a + 1))),
    ),
    quadratic,
    b: polyOf(all, 64 * (kappa + 2)),
  };
}

function integersToVec(lab: Labrador, values: Int32Array): Vecs {
  const count = values.length / 64;
  const vec = lab.vecs(1, count);
  lab.scope(() => {
    const coefs = lab.coefs(count);
    const to = lab.i64(coefs);
    for (let i = 0; i < values.length; i++) to[i] = BigInt(values[i]!);
    lab.kernels.coefsToVec(vec.at, 0, coefs.at, COEFS_BYTES, count);
  });
  return vec;
}

/** t_last = c_last^-1 (M z + e - sum over the other rows of c_a t_a) */
function recoverT({ kappa, r }: TailLevel, sums: TailSums, t: readonly Poly[], unit: Poly): Poly[] {
  const c = sums.c.slice(0, r - 1);
  return sums.image.map((image, i) => {
    const others = combination(
      c,
      c.map((_, a) => t[a * kappa + i]!),
    );
    return multiply(unit, subtract(image, others));
  });
}

/** c_last^2 g_last,last: <z, z> without the pairs that were sent. */
function restOfSquare({ r }: TailLevel, { square, c }: TailSums, g: readonly Poly[]): Poly {
  const twice = c.map((x) => x.map((value) => 2 * value));
  let pair = 0;
  // Row by row: c_a times the sum of c_b g_ab.
  const rows = Array.from({ length: r - 1 }, (_, a) => {
    const here = g.slice(pair, pair + r - a);
    pair += r - a;
    return combination([c[a]!, ...twice.slice(a + 1)], here);
  });
  return subtract(square, combination(c.slice(0, r - 1), rows));
}

/** (c_last^2 - c_0^2) h_last,last. The first polynomial of `h` is that of pair 1. */
function restOfValue(
  { r }: TailLevel,
  { value, c, quadratic, b }: TailSums,
  firstSquare: Poly,
  g: readonly Poly[],
  h: readonly Poly[],
): Poly {
  let both = b; // h_00 + h_last,last
  for (const { pairs, factor } of quadratic) {
    const sum = pairs.map((pair) => g[pair]!).reduce(add);
    both = subtract(both, multiply(polyOf(factor), sum));
  }
  let at = 0;
  const rows = Array.from({ length: r - 1 }, (_, a) => {
    // h_00 is not sent.
    const first = a === 0 ? 1 : a;
    const here = h.slice(at, at + r - first);
    at += r - first;
    if (a > 0) both = subtract(both, here[0]!);
    return combination(c.slice(first), here);
  });
  const rest = subtract(value, combination(c.slice(0, r - 1), rows));
  return subtract(rest, multiply(firstSquare, both));
}

/** Polynomials with coefficients of `width` bits, whose `cut` low bits are cut off. */
function unpack(lab: Labrador, bytes: Uint8Array, width: number, cut = 0): Poly[] {
  const count = bytes.length / (8 * width);
  return lab.scope(() => {
    const coefs = lab.coefs(count);
    lab.kernels.unpackBits(coefs.at, lab.put(bytes), DEGREE * count, width, Q);
    const places = Array.from({ length: count }, (_, i) => coefs.at + COEFS_BYTES * i);
    for (const at of places) lab.kernels.restoreCut(at, at, cut);
    return polynomials(lab.i64(coefs));
  });
}

const polynomials = (values: Float64Array | BigInt64Array): Poly[] =>
  Array.from({ length: values.length / DEGREE }, (_, i) => polyOf(values, DEGREE * i));

/** pack_44. */
const packPolys = (list: readonly Poly[]): Uint8Array =>
  packResidues(list.flatMap((poly) => Array.from(poly, Number)));
