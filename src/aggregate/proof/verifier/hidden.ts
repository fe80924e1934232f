/**
 * Hidden messages (docs/protocol.md, 6.4 and 8.5): what the level behind a hidden one proves over
 * S_q, the field of q^2 elements, of x, the digits of the messages. Their scalars, their right
 * sides, and the key matrix folded by them.
 */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import type { Forms, Labrador } from '../../wasm.ts';
import { Seed, sampleOmegas, shortForms } from '../challenges.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import type { OrdinaryFields } from '../fields.ts';
import { type KeyUse, LOW_BITS, shortCoefficients } from '../foldKeys.ts';
import { formAt, zeroForms } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import { PROJECTION_LENGTH, projectionOf } from '../projection.ts';
import { EQUATIONS_OF_ROW, QUARTER, quarterBytes } from '../quarters.ts';
import type { Values } from '../ring.ts';
import { SHORT } from '../transcript.ts';
import { addProduct } from './folding.ts';
import type { Claim } from './reduceConstraints.ts';
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

/** The words of stream 4 of one lift: where the scalars of each kind of equation begin. */
interface Scalars {
  /** of (P_x); those of (P) are before them */
  readonly ofX: number;
  /** of (Q), message by message */
  readonly quarters: readonly number[];
  /** of (T_b) */
  readonly lifts: number;
  readonly end: number;
}

/** @param before the level before, number `number`: an open one leaves the scalars of (P) alone */
export function scalarsBehind({ w, k, messages }: OrdinaryLevel, number: number): Scalars {
  const ofX = PROJECTION_LENGTH;
  if (w === 0) return { ofX, quarters: [], lifts: ofX, end: ofX };
  const each = 2 * EQUATIONS_OF_ROW * k;
  const quarters = messages.map((_, i) => 2 * PROJECTION_LENGTH + each * i);
  const lifts = 2 * PROJECTION_LENGTH + each * messages.length;
  return { ofX, quarters, lifts, end: lifts + 2 * liftsOf(number).count };
}

/** The scalars of every lift of the level behind `before`, which is number `number`. */
export const scalarsOf = (
  lab: Labrador,
  lift: Seed,
  before: OrdinaryLevel,
  number: number,
): Values[] => sampleOmegas(lab, lift, scalarsBehind(before, number).end);

/**
 * Readies the kernels that collapse the projection for the places of x, with the scalars of (P) and
 * (P_x) together: at most q in magnitude.
 */
export function prepareOmegaOnX(lab: Labrador, lift: Seed): void {
  const omegas = sampleOmegas(lab, lift, 2 * PROJECTION_LENGTH);
  lab.scope(() => {
    const at = lab.room(8 * PROJECTION_LENGTH * omegas.length);
    const to = new BigInt64Array(lab.kernels.memory.buffer, at, PROJECTION_LENGTH * omegas.length);
    for (const [i, omega] of omegas.entries()) {
      for (let j = 0; j < PROJECTION_LENGTH; j++) {
        to[PROJECTION_LENGTH * i + j] = omega[j]! + omega[PROJECTION_LENGTH + j]!;
      }
    }
    lab.kernels.collapseStart(at, omegas.length);
  });
}

/**
 * The right sides of (P_x), (Q) and (T_b), in the order of their scalars, two numbers each. Behind
 * an open level there are none.
 */
export function hiddenRights(
  lab: Labrador,
  { level, hidden }: Claim,
  yOfX: ArrayLike<number> | undefined,
): bigint[] {
  if (hidden === undefined) return [];
  const ofQuarters = hidden.quarters.flatMap((bytes) => {
    const values = residues(lab, bytes, QUARTER.length * level.k);
    return Array.from({ length: level.k }, (_, row) =>
      Array.from({ length: EQUATIONS_OF_ROW }, (_, j) => QUARTER.length * row + j),
    )
      .flat()
      .flatMap((at) => [values[at]!, values[at + EQUATIONS_OF_ROW]!]);
  });
  return [...projectionOf(yOfX!).map(BigInt), ...ofQuarters, ...hidden.lifts.flat()];
}

/** Coefficients 32 of the lifts of level 0. */
export const readB32 = (lab: Labrador, bytes: Uint8Array): bigint[] =>
  residues(lab, bytes, liftsOf(0).count);

/** Values mod q from a bit string. */
function residues(lab: Labrador, bytes: Uint8Array, count: number): bigint[] {
  return lab.scope(() => {
    const at = lab.room(8 * count);
    lab.kernels.unpackBits(at, lab.put(bytes), count, Q_BITS, Q);
    return Array.from(new BigInt64Array(lab.kernels.memory.buffer, at, count));
  });
}

/** What folds the rows of the key matrix that a message of the level before meets in (Q). */
export interface QuarterScalars {
  /** the seed `lift` */
  readonly lift: Uint8Array;
  /** the first word, and how many of a lift are drawn */
  readonly from: number;
  readonly words: number;
}

/** A use of the key matrix, by challenges or by what (Q) puts on its rows. */
export interface FoldedUse extends KeyUse {
  readonly quarters?: QuarterScalars;
}

/** The key matrix as the quarters of the messages of level `number` use it. */
export function quarterUses(
  level: OrdinaryLevel,
  number: number,
  { combine: seed, lift }: LevelSeeds,
): FoldedUse[] {
  const { quarters, end: words } = scalarsBehind(level, number);
  return level.messages.map(({ polynomials, digits }, i) => ({
    columns: polynomials * digits,
    number: number + 1,
    seed,
    short: SHORT.lift,
    first: 0,
    rows: level.k,
    quarters: { lift, from: quarters[i]!, words },
  }));
}

/**
 * The polynomials that rows of the key matrix are folded by: short challenges, or what (Q) puts on
 * them, which is sum_k beta_k sum_j omega^(k)_(row, j) X^-4j. These are residues; their low and
 * high parts come apart, so that the products stay exact.
 */
export function rowCoefficients(lab: Labrador, use: FoldedUse): readonly Forms[] {
  const { number, seed, rows, quarters } = use;
  if (quarters === undefined) return shortCoefficients(lab, use);
  const parts = [lab.forms(rows), lab.forms(rows)];
  lab.scope(() => {
    const beta = shortForms(lab, new Seed(lab, seed, number), SHORT.lift, 0, liftsOf(number).count);
    const omegas = sampleOmegas(lab, new Seed(lab, quarters.lift, number), quarters.words);
    for (let row = 0; row < rows; row++) {
      const from = quarters.from + 2 * EQUATIONS_OF_ROW * row;
      const polynomials = omegas.map((omega) => ofQuarters(omega.subarray(from)));
      const whole = lab.scope(() => residuesOf(lab, sumOfLifts(lab, beta, polynomials)));
      const low = whole.map((x) => BigInt.asIntN(LOW_BITS, x));
      const high = whole.map((x, i) => (x - low[i]!) >> BigInt(LOW_BITS));
      lab.scope(() => {
        const coefs = lab.coefs(1);
        for (const [i, part] of [low, high].entries()) {
          lab.i64(coefs).set(part);
          lab.kernels.coefsToForm(formAt(parts[i]!, row), coefs.at);
        }
      });
    }
  });
  return parts;
}

/** sum_j omega_j X^-4j, j < 8, with i = X^32. */
function ofQuarters(omega: BigInt64Array): BigInt64Array {
  const out = new BigInt64Array(DEGREE);
  for (let j = 0; j < EQUATIONS_OF_ROW; j++) {
    if (j === 0) out[0] = omega[0]!;
    else out[DEGREE - 4 * j] = -omega[2 * j]!;
    out[DEGREE / 2 - 4 * j] = omega[2 * j + 1]!;
  }
  return out;
}

/** sum_k beta_k x_k as a form. Lives as long as the scope in which it is made. */
export function sumOfLifts(
  lab: Labrador,
  beta: Forms,
  polynomials: readonly BigInt64Array[],
): number {
  const sum = zeroForms(lab, 1).at;
  for (const [k, x] of polynomials.entries()) addProduct(lab, sum, formAt(beta, k), x);
  return sum;
}

/** The coefficients of a form, centred mod q. */
export function residuesOf(lab: Labrador, form: number): BigInt64Array {
  return lab.scope(() => {
    const coefs = lab.coefs(1);
    lab.kernels.formToCoefs(coefs.at, form);
    return lab.i64(coefs).slice();
  });
}
