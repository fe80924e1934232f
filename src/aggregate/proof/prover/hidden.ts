/**
 * Hidden messages: their digits are part of v, as x, and what is sent is a short commitment to
 * them, quarters of rows of the key matrix.
 */
import { concat } from '../../../bytes.ts';
import type { HiddenMessage, OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import {
  COEFS_BYTES,
  type Coefs,
  type Labrador,
  SMALL_BYTES,
  type Smalls,
  type Vecs,
} from '../../wasm.ts';
import { packResidues } from '../bits.ts';
import { type Seed, sampleOmegas, startProjection } from '../challenges.ts';
import { ALL_PAIRS, DEGREE, Q_BITS } from '../constants.ts';
import { formAt } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import { PROJECTION_LENGTH } from '../projection.ts';
import { EQUATIONS_OF_ROW, QUARTER } from '../quarters.ts';
import { centred, slice, type Values } from '../ring.ts';
import { firstRows } from '../shapes.ts';
import type { Context } from './context.ts';
import { keyOf, type Output } from './output.ts';

/** Small polynomials as one row in NTT form. */
export function vecOfSmalls(lab: Labrador, smalls: Smalls): Vecs {
  const vec = lab.vecs(1, smalls.count);
  lab.kernels.widesToVec(vec.at, 0, smalls.at, SMALL_BYTES, smalls.count);
  return vec;
}

/** The first columns of the first k rows of the key matrix, as many as a message has digits. */
function keyOfDigits({ keys }: Context, k: number, count: number): Vecs {
  return keyOf({ keys: keys.take(k, { from: 0, to: count })! }, { from: 0, count });
}

const digitsOf = ({ polynomials, digits }: HiddenMessage): number => polynomials * digits;

/**
 * Writes the digits of a message into x.
 *
 * @param polynomials with signed coefficients
 * @returns the commitment to them, packed
 */
export function hideMessage(
  context: Context,
  { v, params }: Output,
  message: HiddenMessage,
  polynomials: Coefs,
): Uint8Array {
  const { lab } = context;
  const { kernels } = lab;
  const { w, k } = params;
  const x = slice(v, message.from, digitsOf(message));
  context.requireFit(
    kernels.decomposeMany(x.at, polynomials.at, message.polynomials, message.digits, w),
  );
  return lab.scope(() => {
    const sums = lab.sums(k);
    lab.products(sums, keyOfDigits(context, k, x.count), vecOfSmalls(lab, x));
    const products = lab.coefs(k);
    kernels.manySumsToCoefs(products.at, sums.at, k);
    const values = lab.i64(products);
    return packResidues(
      Array.from({ length: k }, (_, row) => row).flatMap((row) =>
        QUARTER.map((c) => Number(values[DEGREE * row + c]!)),
      ),
    );
  });
}

/** Hides the lifts. @returns the data of `b` */
export function hideLifts(context: Context, output: Output, lifts: Coefs): Uint8Array {
  const message = output.params.messages.find(({ isLifts }) => isLifts)!;
  const sent = hideMessage(context, output, message, lifts);
  if (context.level > 0) return sent;
  const values = context.lab.i64(lifts);
  const middle = Array.from({ length: lifts.count }, (_, i) =>
    Number(values[DEGREE * i + DEGREE / 2]!),
  );
  return concat(sent, packResidues(middle));
}

/** x of the level before as places of the projection of a level. */
export interface PlacesOfX {
  /** the address of the first polynomial, and its number in the projection */
  readonly at: number;
  readonly number: number;
  readonly count: number;
}

/** @returns undefined if the level before hides nothing */
export function placesOfX(
  shape: Pick<Shape, 'n' | 'rows'>,
  { v, params }: Pick<Output, 'v' | 'params'>,
): PlacesOfX | undefined {
  if (params.w === 0) return undefined;
  const number = shape.n * firstRows(shape)[params.f]!;
  return { at: v.at, number, count: params.lengthX };
}

/** Scalars of a lift behind a level that hides its messages, words of them, by kind. */
function planOfOmega({ k, messages }: OrdinaryLevel, lifts: number) {
  const ofX = PROJECTION_LENGTH;
  const quarters = ofX + PROJECTION_LENGTH;
  const ofMessage = 2 * k * EQUATIONS_OF_ROW;
  const ofLifts = quarters + ofMessage * messages.length;
  return { ofX, quarters, ofMessage, ofLifts, end: ofLifts + 2 * lifts };
}

/**
 * What the projection of x, the commitments to the messages and the coefficients of the hidden
 * lifts add to F at x.
 *
 * @returns F of every lift, polynomial by polynomial of x
 */
export function formsOnX(
  context: Context,
  { params }: Output,
  { number, count }: PlacesOfX,
  jl: Seed,
  lift: Seed,
): Values[] {
  const { lab } = context;
  const { k, w, messages } = params;
  const plan = planOfOmega(params, liftsOf(context.level - 1).count);
  return lab.scope(() => {
    const omegas = sampleOmegas(lab, lift, plan.end);
    const words = omegas.map((omega) => omega.subarray(plan.ofX, plan.quarters));
    const forms = projectedForms(lab, words, number, count, jl);
    for (const [i, omega] of omegas.entries()) {
      const F = forms[i]!;
      for (const [index, message] of messages.entries()) {
        const from = plan.quarters + plan.ofMessage * index;
        const on = quarterForms(context, k, message, omega.subarray(from, from + plan.ofMessage));
        addValues(F, DEGREE * message.from, on);
        if (!message.isLifts) continue;
        for (let digit = 0; digit < message.digits; digit++) {
          for (let lambda = 0; lambda < message.polynomials; lambda++) {
            const at = DEGREE * (message.from + digit * message.polynomials + lambda);
            for (const half of [0, 1]) {
              const place = at + half * (DEGREE / 2);
              const scalar = omega[plan.ofLifts + 2 * lambda + half]!;
              F[place] = centred(F[place]! + (scalar << BigInt(w * digit)));
            }
          }
        }
      }
    }
    return forms;
  });
}

function addValues(to: Values, from: number, values: Values): void {
  for (const [i, value] of values.entries()) to[from + i] = centred(to[from + i]! + value);
}

/** The sum of omega_j sigma(pi_j), by other scalars than those of the whole projection. */
function projectedForms(
  lab: Labrador,
  words: readonly BigInt64Array[],
  number: number,
  count: number,
  jl: Seed,
): Values[] {
  return lab.scope(() => {
    const { kernels } = lab;
    const at = lab.room(8 * PROJECTION_LENGTH * words.length);
    const buffer = kernels.memory.buffer as ArrayBuffer;
    for (const [k, list] of words.entries()) {
      new BigInt64Array(buffer, at + 8 * PROJECTION_LENGTH * k, 2 * ALL_PAIRS).set(list);
    }
    kernels.collapseStart(at, words.length);
    const vecs = words.map(() => lab.vecs(1, count));
    startProjection(jl);
    kernels.collapseToVecs(vecs[0]!.at, vecs[1]!.at, 0, number, count);
    return vecs.map((vec) => coefsOfVec(lab, vec));
  });
}

/** Scalars in two limbs: so the integers of their products with a key stay in bounds. */
const LIMB_BITS = Q_BITS / 2;
const LIMB_MASK = (1n << BigInt(LIMB_BITS)) - 1n;

/** At every digit of a message the sum over the rows of (sum of omega_j X^-4j) M[row][column]. */
function quarterForms(
  context: Context,
  k: number,
  message: HiddenMessage,
  omega: BigInt64Array,
): Values {
  const { lab } = context;
  return lab.scope(() => {
    const { kernels } = lab;
    const count = digitsOf(message);
    const key = keyOfDigits(context, k, count);
    const limbs = [lab.coefs(k), lab.coefs(k)];
    const [low, high] = limbs.map((coefs) => lab.i64(coefs).fill(0n)) as [Values, Values];
    const put = (row: number, exponent: number, scalar: bigint): void => {
      const isBack = exponent < 0;
      const place = DEGREE * row + (isBack ? exponent + DEGREE : exponent);
      const value = isBack ? -scalar : scalar;
      low[place] = value & LIMB_MASK;
      high[place] = value >> BigInt(LIMB_BITS);
    };
    for (let row = 0; row < k; row++) {
      for (let j = 0; j < EQUATIONS_OF_ROW; j++) {
        const at = 2 * (EQUATIONS_OF_ROW * row + j);
        put(row, -4 * j, omega[at]!);
        put(row, DEGREE / 2 - 4 * j, omega[at + 1]!);
      }
    }
    const [lows, highs] = limbs.map((coefs) => {
      const forms = lab.forms(k);
      for (let row = 0; row < k; row++) {
        kernels.coefsToForm(formAt(forms, row), coefs.at + COEFS_BYTES * row);
      }
      const folded = lab.vecs(1, count);
      lab.combine(folded, 0, lab.addresses(key), forms);
      return coefsOfVec(lab, folded);
    }) as [Values, Values];
    for (const [i, value] of highs.entries()) {
      lows[i] = centred(lows[i]! + (value << BigInt(LIMB_BITS)));
    }
    return lows;
  });
}

/** A row of columns as polynomials mod q, centred. */
function coefsOfVec(lab: Labrador, vec: Vecs): Values {
  return lab.scope(() => {
    const coefs = lab.coefs(vec.columns);
    lab.kernels.vecToCoefs(coefs.at, vec.at, 0, vec.columns);
    return lab.i64(coefs).slice();
  });
}
