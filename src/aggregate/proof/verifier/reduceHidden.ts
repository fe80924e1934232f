/**
 * The constraints of the level after a hidden one on x, the digits of the messages
 * (docs/protocol.md, 8.5 and 10.1): the linear forms of (T_b), E1, E2 and E6, each times its short
 * challenge. (Q) is in the folds of the keys, and the projections are in those of the rows.
 */
import type { HiddenMessage, OrdinaryLevel } from '../../parameters/rows.ts';
import { FORM_BYTES, type Forms, type Labrador } from '../../wasm.ts';
import type { Claim } from '../claim.ts';
import { DEGREE, Q } from '../constants.ts';
import { formAt, writeConstant, zeroForms } from '../forms.ts';
import { scalarsBehind } from '../lifts.ts';
import type { Values } from '../ring.ts';
import { addProduct, allCoefficients, multiplesOf } from './folding.ts';
import { type Challenges, type FormsOnV, sumOf } from './reduceConstraints.ts';

/** The forms on x of E1, E2 and E6, and the right sides of E1 and E2. `v` must be zero. */
export function reduceHidden(
  lab: Labrador,
  v: FormsOnV,
  { level, hidden }: Claim,
  challenges: Challenges,
  b: number,
): void {
  if (hidden === undefined) return;
  const { messages } = level;
  const outers = messages.filter(({ isLifts }) => !isLifts);
  const powers = lab.forms(outers[0]!.digits);
  for (const j of Array(powers.count).keys()) {
    writeConstant(lab, formAt(powers, j), -(1n << BigInt(level.cut + level.w * j)) % Q);
  }
  for (const [i, message] of outers.entries()) {
    reduceHiddenOuter(lab, v, level, message, challenges.outer[i]!, powers, b);
  }
  lab.scope(() => {
    const before: Forms = { kind: 'forms', at: lab.put(hidden.beta), count: hidden.lifts.length };
    const [zero, form] = [zeroForms(lab, 1).at, lab.room(FORM_BYTES)];
    onDigitsOfLifts(
      lab,
      level,
      (lift) => {
        lab.kernels.mulForm(form, challenges.gamma, formAt(before, lift));
        lab.kernels.subForm(form, zero, form);
        return form;
      },
      (place, multiple) => v.add(place, multiple),
    );
  });
}

/**
 * (T_b) on the digits of the lifts.
 *
 * @param beta those of this level
 * @param omegas the scalars of this level
 * @param add adds a form to a place of v
 */
export function reduceScalars(
  lab: Labrador,
  { number, level, hidden }: Claim,
  beta: Forms,
  omegas: readonly Values[],
  add: (place: number, form: number) => void,
): void {
  if (hidden === undefined) return;
  const { lifts: from } = scalarsBehind(level, number);
  const ofLift = (lift: number): number => {
    const sum = zeroForms(lab, 1).at;
    for (const [k, omega] of omegas.entries()) {
      addProduct(lab, sum, formAt(beta, k), fieldElement(omega.subarray(from + 2 * lift)));
    }
    return sum;
  };
  lab.scope(() => onDigitsOfLifts(lab, level, ofLift, add));
}

/** Passes the forms of each lift, times 2^(w j) and reduced, to all digits j of its polynomials. */
function onDigitsOfLifts(
  lab: Labrador,
  { w, messages }: OrdinaryLevel,
  ofLift: (lift: number) => number,
  add: (place: number, form: number) => void,
): void {
  const { from, polynomials, digits } = messages.find(({ isLifts }) => isLifts)!;
  for (let lift = 0; lift < polynomials; lift++) {
    const multiples = multiplesOf(lab, ofLift(lift), digits, w);
    for (let j = 0; j < digits; j++) {
      add(from + j * polynomials + lift, formAt(multiples, j));
    }
  }
}

/**
 * E1 or E2 on the digits of u', and the constant representing the cut-off bits. Sets `v` there.
 *
 * @param powers -2^(cut + w j) for every digit
 */
function reduceHiddenOuter(
  lab: Labrador,
  v: FormsOnV,
  { cut }: OrdinaryLevel,
  { from, polynomials, digits }: HiddenMessage,
  challenges: Forms,
  powers: Forms,
  b: number,
): void {
  for (let j = 0; j < digits; j++) {
    v.putMultiples(from + j * polynomials, formAt(powers, j), challenges);
  }
  // 2^(cut - 1), or 0 if nothing is cut off
  const half = (1n << BigInt(cut)) / 2n;
  lab.scope(() => addProduct(lab, b, sumOf(lab, challenges), allCoefficients(half)));
}

/** x_0 + x_1 X^32 */
function fieldElement(x: BigInt64Array): BigInt64Array {
  const out = new BigInt64Array(DEGREE);
  out[0] = x[0]!;
  out[DEGREE / 2] = x[1]!;
  return out;
}
