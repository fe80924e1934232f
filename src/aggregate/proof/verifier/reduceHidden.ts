/**
 * The constraints of the level after a hidden one on x, the digits of the messages
 * (docs/protocol.md, 8.5 and 10.1): the linear forms of (T_b), E1, E2 and E6, each times its short
 * challenge. (Q) is in the folds of the keys, and the projections are in those of the rows.
 */
import type { HiddenMessage, OrdinaryLevel } from '../../parameters/rows.ts';
import { FORM_BYTES, type Forms, type Labrador } from '../../wasm.ts';
import type { Claim, HiddenClaim } from '../claim.ts';
import { DEGREE, Q } from '../constants.ts';
import { formAt, writeConstant, zeroForms } from '../forms.ts';
import { scalarsBehind } from '../lifts.ts';
import type { Values } from '../ring.ts';
import { addProduct, allCoefficients, type Folding, multiplesOf } from './folding.ts';
import { type Challenges, type PartForms, sumOf } from './reduceConstraints.ts';

/** The forms on x of (T_b), E1, E2 and E6, and the right sides of E1 and E2. `v` must be zero. */
export function reduceHidden(
  { lab, beta }: Folding,
  v: PartForms,
  { number, level, hidden }: Claim,
  challenges: Challenges,
  omegas: readonly Values[],
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
  const { lifts: from } = scalarsBehind(level, number);
  const scalars = omegas.map((omega) => omega.subarray(from));
  const lifts = messages.find(({ isLifts }) => isLifts)!;
  reduceHiddenLifts(lab, v, level, lifts, hidden, beta, challenges.gamma, scalars);
}

/**
 * (T_b) and E6 on the digits of the lifts: 2^(w j) times one polynomial for each lift. `v` must be
 * zero there.
 *
 * @param beta those of this level
 * @param scalars of (T_b), from each lift of this level
 */
function reduceHiddenLifts(
  lab: Labrador,
  v: PartForms,
  { w }: OrdinaryLevel,
  { from, polynomials, digits }: HiddenMessage,
  hidden: HiddenClaim,
  beta: Forms,
  gamma: number,
  scalars: readonly Values[],
): void {
  lab.scope(() => {
    const before: Forms = { kind: 'forms', at: lab.put(hidden.beta), count: polynomials };
    const form = lab.room(FORM_BYTES);
    for (let lift = 0; lift < polynomials; lift++) {
      lab.kernels.mulForm(form, gamma, formAt(before, lift));
      const sum = zeroForms(lab, 1).at;
      lab.kernels.subForm(sum, sum, form);
      for (const [k, words] of scalars.entries()) {
        addProduct(lab, sum, formAt(beta, k), fieldElement(words.subarray(2 * lift)));
      }
      const multiples = multiplesOf(lab, sum, digits, w);
      for (let j = 0; j < digits; j++) {
        v.add(from + j * polynomials + lift, formAt(multiples, j));
      }
    }
  });
}

/**
 * E1 or E2 on the digits of u', and the constant representing the cut-off bits. Sets `v` there.
 *
 * @param powers -2^(cut + w j) for every digit
 */
function reduceHiddenOuter(
  lab: Labrador,
  v: PartForms,
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
