/**
 * Hidden messages (docs/protocol.md, 6.4 and 8.5): the proof, in the level after a hidden one,
 * about x, the digits of the messages, over S_q, the field of q^2 elements. Provides their scalars,
 * their right sides, and the key matrix folded by them.
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { COEFS_BYTES, type Forms, type Labrador } from '../../wasm.ts';
import { Seed, sampleOmegas, shortForms } from '../challenges.ts';
import type { Claim } from '../claim.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import type { OrdinaryFields } from '../fields.ts';
import { type KeyUse, LOW_BITS, shortCoefficients } from '../foldKeys.ts';
import { formAt } from '../forms.ts';
import { liftsOf, QUARTERS_AT, scalarsBehind } from '../lifts.ts';
import { PROJECTION_LENGTH, projectionOf } from '../projection.ts';
import { EQUATIONS_OF_ROW, QUARTER, quarterBytes } from '../quarters.ts';
import {
  centred,
  joinLists,
  numbersOf,
  slice,
  sumOfLists,
  type Values,
  writeParts,
} from '../ring.ts';
import { SHORT } from '../transcript.ts';
import type { LevelSeeds } from './replay.ts';

/** p of every message, and coefficients 32 of the lifts, which are empty above level 0. */
export function hiddenFields(
  { k, messages }: OrdinaryLevel,
  { first, b, second }: Pick<OrdinaryFields, 'first' | 'b' | 'second'>,
): { quarters: Uint8Array[]; b32: Uint8Array } {
  const outer = [...first, second];
  const ofLifts = b.subarray(0, quarterBytes(k));
  const quarters = messages.map(({ isLifts }) => (isLifts ? ofLifts : outer.shift()!));
  return { quarters, b32: b.subarray(ofLifts.length) };
}

/**
 * The words of stream 4 at which upsilon of every part begins, two each, after `end` others
 * (docs/merged.md, 1.4). An ordinary level has one part, without upsilon.
 */
export const upsilonsAt = ({ parts }: Pick<Shape, 'parts'>, end: number): (number | undefined)[] =>
  parts === undefined ? [undefined] : Array.from({ length: parts.count }, (_, i) => end + 2 * i);

/**
 * The first words of omega^(k) of every lift, for a part times its upsilon^(k), as elements of S_q.
 *
 * @param upsilonAt of `upsilonsAt`
 */
function scalars(lab: Labrador, lift: Seed, count: number, upsilonAt?: number): Values[] {
  if (upsilonAt === undefined) return sampleOmegas(lab, lift, count);
  return sampleOmegas(lab, lift, upsilonAt + 2).map((words) => {
    const [real, imaginary] = [words[upsilonAt]!, words[upsilonAt + 1]!];
    return words.slice(0, count).map((word, i) => {
      const other = words[i ^ 1]!;
      return centred(
        i % 2 === 0 ? word * real - other * imaginary : other * imaginary + word * real,
      );
    });
  });
}

/** The scalars of every lift of the level after `before`, which is number `number`. */
export const scalarsOf = (
  lab: Labrador,
  lift: Seed,
  before: OrdinaryLevel,
  number: number,
  upsilonAt?: number,
): Values[] => scalars(lab, lift, scalarsBehind(before, number).end, upsilonAt);

/**
 * Prepares the kernels that collapse the projection, with the scalars of (P), for the places of x
 * with those of (P) and (P_x) together.
 */
export function prepareScalars(
  lab: Labrador,
  lift: Seed,
  isOnX: boolean,
  upsilonAt?: number,
): void {
  const count = (isOnX ? 2 : 1) * PROJECTION_LENGTH;
  const sums = scalars(lab, lift, count, upsilonAt).map((words) =>
    sumOfLists(
      isOnX ? [words.subarray(0, PROJECTION_LENGTH), words.subarray(PROJECTION_LENGTH)] : [words],
    ),
  );
  lab.scope(() => {
    const at = lab.put(new Uint8Array(joinLists(sums).buffer));
    lab.kernels.collapseStart(at, sums.length);
  });
}

/**
 * The right sides of (P_x), (Q) and (T_b), in the order of their scalars, two numbers each. Empty
 * after an open level.
 */
export function hiddenRights(
  lab: Labrador,
  { level, hidden }: Claim,
  yOfX: ArrayLike<number> | undefined,
): number[] {
  if (hidden === undefined) return [];
  const ofQuarters = hidden.quarters.flatMap((bytes) => {
    const values = residues(lab, bytes, QUARTER.length * level.k);
    return Array.from({ length: EQUATIONS_OF_ROW * level.k }, (_, i) => {
      const row = Math.floor(i / EQUATIONS_OF_ROW);
      return QUARTER.length * row + (i % EQUATIONS_OF_ROW);
    }).flatMap((at) => [values[at]!, values[at + EQUATIONS_OF_ROW]!]);
  });
  return [...projectionOf(yOfX!), ...ofQuarters, ...hidden.lifts.flat().map(Number)];
}

/** Coefficients 32 of the lifts of level 0. */
export const readB32 = (lab: Labrador, bytes: Uint8Array): bigint[] =>
  Array.from(residues(lab, bytes, liftsOf(0).count), BigInt);

/** Values mod q from a bit string. */
function residues(lab: Labrador, bytes: Uint8Array, count: number): Float64Array {
  return lab.scope(() => {
    const at = lab.room(8 * count);
    lab.kernels.unpackBits(at, lab.put(bytes), count, Q_BITS, Q);
    return numbersOf(new BigInt64Array(lab.kernels.memory.buffer as ArrayBuffer, at, count));
  });
}

/** The factors for the rows of the key matrix that a message of the previous level uses in (Q). */
export interface QuarterScalars {
  /** the seed `lift` */
  readonly lift: Uint8Array;
  /** the first row of this message, and the number of rows of its level */
  readonly from: number;
  readonly all: number;
  /** of the part whose message it is */
  readonly upsilonAt: number | undefined;
}

/** A use of the key matrix, folded by challenges or by the factors of (Q). */
export interface FoldedUse extends KeyUse {
  readonly quarters?: QuarterScalars;
}

/** The uses of the key matrix by the quarters of the messages of level `number`. */
export function quarterUses(
  { k, messages }: OrdinaryLevel,
  number: number,
  { combine: seed, lift }: LevelSeeds,
  upsilonAt?: number,
): FoldedUse[] {
  const all = k * messages.length;
  return messages.map(({ polynomials, digits }, i) => ({
    columns: polynomials * digits,
    number: number + 1,
    seed,
    short: SHORT.lift,
    first: 0,
    rows: k,
    quarters: { lift, from: k * i, all, upsilonAt },
  }));
}

/**
 * The polynomials that fold the rows of the key matrix, for every use: short challenges, or the
 * factors of (Q), which are computed once for all messages of a level or of a part.
 */
export function rowCoefficients(lab: Labrador, uses: readonly FoldedUse[]): (readonly Forms[])[] {
  const ofParts = new Map<string, readonly Forms[]>();
  return uses.map((use) => {
    const { number, rows, quarters } = use;
    if (quarters === undefined) return shortCoefficients(lab, use);
    const name = `${number} ${quarters.upsilonAt}`;
    const parts = ofParts.get(name) ?? quarterCoefficients(lab, use, quarters);
    ofParts.set(name, parts);
    return parts.map((part) => slice(part, quarters.from, rows));
  });
}

/**
 * sum_k beta_k sum_j omega^(k)_(row, j) X^-4j, for all rows of a level or a part. These are
 * residues, returned as separate low and high parts so that the products stay exact.
 */
function quarterCoefficients(
  lab: Labrador,
  { number, seed }: KeyUse,
  { lift, all, upsilonAt }: QuarterScalars,
): readonly Forms[] {
  const parts = [lab.forms(all), lab.forms(all)] as const;
  lab.scope(() => {
    const beta = shortForms(lab, new Seed(lab, seed, number), SHORT.lift, 0, liftsOf(number).count);
    const words = QUARTERS_AT + QUARTER.length * all;
    const omegas = scalars(lab, new Seed(lab, lift, number), words, upsilonAt);
    const [whole, low, high] = [lab.coefs(all), lab.coefs(all), lab.coefs(all)];
    const columns = lab.vecs(omegas.length, all);
    for (const [k, omega] of omegas.entries()) {
      putQuarters(lab.i64(whole), omega.subarray(QUARTERS_AT));
      lab.kernels.coefsToVec(lab.row(columns, k), 0, whole.at, COEFS_BYTES, all);
    }
    lab.combine(columns, 0, lab.addresses(columns), beta);
    lab.kernels.vecToCoefs(whole.at, columns.at, 0, all);
    writeParts(lab.i64(low), lab.i64(high), lab.i64(whole), LOW_BITS);
    for (const [i, part] of [low, high].entries()) {
      for (const row of Array(all).keys()) {
        lab.kernels.coefsToForm(formAt(parts[i]!, row), part.at + COEFS_BYTES * row);
      }
    }
  });
  return parts;
}

/** sum_j omega_j X^-4j, j < 8, with X^32 for i, for every row. X^-4j is -X^(64 - 4j). */
function putQuarters(to: Values, omega: Values): void {
  to.fill(0n);
  for (let i = 0; i < omega.length; i += 2) {
    const row = DEGREE * Math.floor(i / QUARTER.length);
    const exponent = 4 * ((i % QUARTER.length) / 2);
    if (exponent === 0) to[row] = omega[i]!;
    else to[row + DEGREE - exponent] = -omega[i]!;
    to[row + DEGREE / 2 - exponent] = omega[i + 1]!;
  }
}
