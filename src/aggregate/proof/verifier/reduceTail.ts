/**
 * The tail (docs/protocol.md, 9.4): recovers the values of the last row, and compares them with
 * their seals.
 */
import { equal } from '../../../bytes.ts';
import type { Parameters, TailLevel } from '../../parameters/rows.ts';
import { COEFS_BYTES, type Labrador, SUM_BYTES, type Vecs } from '../../wasm.ts';
import { packResidues } from '../bits.ts';
import { expandKeys, Seed, sampleCs } from '../challenges.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import type { Blocks } from '../ring.ts';
import { SEAL, type Transcript } from '../transcript.ts';
import { Folding } from './folding.ts';
import { type OpenSeeds, openSeeds } from './openSeeds.ts';
import type { ParsedTail } from './parse.ts';
import type { Claim, FoldedKeys, QuadraticTerm } from './reduceConstraints.ts';
import { reduceRows } from './reduceLevel.ts';
import type { TailSeeds } from './replay.ts';
import { add, inverse, multiply, type Poly, polyOf, subtract } from './tailRing.ts';

/** The values mod q that are computed in the module. */
interface TailSums {
  /** M z + e, by row of M */
  readonly image: readonly Poly[];
  /** <z, z> */
  readonly square: Poly;
  /** <phi_z, z> + <phi_e, e> */
  readonly value: Poly;
  readonly c: readonly Poly[];
  readonly quadratic: readonly QuadraticTerm[];
  readonly b: Poly;
}

/** Whether both seals come out as they were sent. The norm has been checked before. */
export function reduceTail(
  lab: Labrador,
  { levels, tail }: Parameters,
  claim: Claim,
  keys: FoldedKeys,
  rows: Blocks,
  fields: ParsedTail,
  seeds: TailSeeds,
  transcript: Transcript,
): boolean {
  const sums = lab.scope(() => sumsOf(lab, tail, levels.length, claim, keys, rows, fields, seeds));
  const { r } = tail;
  const lastC = sums.c[r - 1]!;
  const firstC = sums.c[0]!;
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

  const lastH = multiply(difference, restOfValue(tail, sums, g, unpack(lab, fields.h, Q_BITS)));
  transcript.st = seeds.stateOfH;
  const sealH = transcript.seal(SEAL.h, packPolys([lastH]));
  return equal(sealT, fields.sealT) && equal(sealH, fields.sealH);
}

function sumsOf(
  lab: Labrador,
  tail: TailLevel,
  number: number,
  claim: Claim,
  keys: FoldedKeys,
  rows: Blocks,
  fields: ParsedTail,
  seeds: TailSeeds,
): TailSums {
  const { n, kappa } = tail;
  const open = openSeeds(lab, seeds, number, tail.r);
  const { folding, quadratic, b } = reduceRows(lab, tail, claim, keys, rows, fields, open);
  const onE = foldExtensions(lab, tail, open);
  // Reduced mod q before they are multiplied again.
  lab.kernels.reduceColumns(folding.sum.at, 0, n);
  lab.kernels.reduceColumns(onE.sum.at, 0, kappa);

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
    c: Array.from({ length: tail.r }, (_, a) => polyOf(coefficients, 64 * a)),
    quadratic,
    b: polyOf(all, 64 * (kappa + 2)),
  };
}

/** phi_e: on e_a there is nothing but the projection's part of the lifts (9.3). */
function foldExtensions(lab: Labrador, { n, kappa, r }: TailLevel, open: OpenSeeds): Folding {
  const folding = new Folding(lab, open, kappa);
  lab.scope(() => {
    const staging = lab.vecs(open.beta.count, kappa);
    for (let a = 0; a < r; a++) {
      folding.addProjection(staging, open.jl, a, r * n + a * kappa, kappa);
    }
  });
  return folding;
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
  return sums.image.map((image, i) => {
    let rest = image;
    for (let a = 0; a < r - 1; a++) {
      rest = subtract(rest, multiply(sums.c[a]!, t[a * kappa + i]!));
    }
    return multiply(unit, rest);
  });
}

/** c_last^2 g_last,last: <z, z> without the pairs that were sent. */
function restOfSquare({ r }: TailLevel, { square, c }: TailSums, g: readonly Poly[]): Poly {
  let rest = square;
  for (let a = 0, pair = 0; a < r - 1; a++) {
    for (let b = a; b < r; b++, pair++) {
      const product = multiply(multiply(c[a]!, c[b]!), g[pair]!);
      rest = subtract(rest, product);
      if (a !== b) rest = subtract(rest, product);
    }
  }
  return rest;
}

/** (c_last^2 - c_0^2) h_last,last. The first polynomial of `h` is that of pair 1. */
function restOfValue(
  { r }: TailLevel,
  { value, c, quadratic, b }: TailSums,
  g: readonly Poly[],
  h: readonly Poly[],
): Poly {
  let both = b; // h_00 + h_last,last
  for (const { pair, factor } of quadratic) {
    both = subtract(both, multiply(polyOf(factor), g[pair]!));
  }
  let rest = value;
  for (let a = 0, pair = 0; a < r - 1; a++) {
    for (let other = a; other < r; other++, pair++) {
      if (pair === 0) continue;
      rest = subtract(rest, multiply(multiply(c[a]!, c[other]!), h[pair - 1]!));
      if (a === other) both = subtract(both, h[pair - 1]!);
    }
  }
  return subtract(rest, multiply(multiply(c[0]!, c[0]!), both));
}

/** Polynomials whose coefficients have `width` bits, after `cut` low bits were cut off. */
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
