/**
 * What the level behind a hidden one puts on x, the digits of the messages (docs/protocol.md, 8.5
 * and 10.1): the linear forms of (Q), (T_b), E1, E2 and E6, each times its short challenge. What
 * the projections put there is in the folds of the rows.
 */
import type { HiddenMessage, OrdinaryLevel } from '../../parameters/rows.ts';
import { FORM_BYTES, type Forms, type Labrador } from '../../wasm.ts';
import { DEGREE } from '../constants.ts';
import { constantForm, formAt, powerForms } from '../forms.ts';
import { type Blocks, slice } from '../ring.ts';
import { addProduct, allCoefficients, type Folding, scaled } from './folding.ts';
import { residuesOf, scalarsBehind, sumOfLifts } from './hidden.ts';
import type { Challenges, Claim, HiddenClaim, PartForms } from './reduceConstraints.ts';

/**
 * The forms on x of (Q), (T_b), E1, E2 and E6, and the right sides of E1 and E2. `v` must be zero
 * there.
 *
 * @param keys the key matrix, folded by `rowCoefficients`, for every message
 */
export function reduceHidden(
  { lab, beta }: Folding,
  v: PartForms,
  { number, level, hidden }: Claim,
  keys: readonly Blocks[],
  challenges: Challenges,
  omegas: readonly BigInt64Array[],
  b: number,
): void {
  if (hidden === undefined) return;
  const { messages, kappa1 } = level;
  const { lifts: ofLifts } = scalarsBehind(level, number);
  const outers = messages.filter(({ isLifts }) => !isLifts);
  for (const [i, message] of messages.entries()) {
    v.putBlocks(message.from, keys[i]!);
    if (message.isLifts) {
      const scalars = omegas.map((omega) => omega.subarray(ofLifts));
      reduceHiddenLifts(lab, v, level, message, hidden, beta, challenges.gamma, scalars);
      continue;
    }
    // E1 is the messages before the last one; E2 has challenges of its own.
    const block = outers.indexOf(message);
    const isLast = block === outers.length - 1;
    const own = isLast ? challenges.garbage : slice(challenges.outer, block * kappa1, kappa1);
    reduceHiddenOuter(lab, v, level, message, own, b);
  }
}

/**
 * (T_b) and E6 on the digits of the lifts: 2^(w j) times one polynomial for each lift.
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
  scalars: readonly BigInt64Array[],
): void {
  lab.scope(() => {
    const before: Forms = { kind: 'forms', at: lab.put(hidden.beta), count: polynomials };
    const form = lab.room(FORM_BYTES);
    const coefs = lab.coefs(1);
    const negative = constantForm(lab, -1n);
    for (let lift = 0; lift < polynomials; lift++) {
      const inField = scalars.map((words) => fieldElement(words.subarray(2 * lift)));
      const sum = sumOfLifts(lab, beta, inField);
      lab.kernels.mulForm(form, gamma, formAt(before, lift));
      lab.kernels.mulForm(form, form, negative);
      lab.kernels.addForm(sum, sum, form);
      const factor = residuesOf(lab, sum);
      for (let j = 0; j < digits; j++) {
        lab.i64(coefs).set(scaled(factor, 1n << BigInt(w * j)));
        lab.kernels.coefsToForm(form, coefs.at);
        v.add(from + j * polynomials + lift, form);
      }
    }
  });
}

/** E1 or E2 on the digits of u', and the constant that stands for what was cut off. */
function reduceHiddenOuter(
  lab: Labrador,
  v: PartForms,
  { w, cut }: OrdinaryLevel,
  { from, polynomials, digits }: HiddenMessage,
  challenges: Forms,
  b: number,
): void {
  lab.scope(() => {
    const powers = powerForms(lab, digits, w, cut);
    const form = lab.room(FORM_BYTES);
    const negative = constantForm(lab, -1n);
    for (let row = 0; row < polynomials; row++) {
      for (let j = 0; j < digits; j++) {
        lab.kernels.mulForm(form, formAt(challenges, row), formAt(powers, j));
        lab.kernels.mulForm(form, form, negative);
        v.add(from + j * polynomials + row, form);
      }
      if (cut > 0)
        addProduct(lab, b, formAt(challenges, row), allCoefficients(1n << BigInt(cut - 1)));
    }
  });
}

/** x_0 + x_1 X^32 */
function fieldElement(x: BigInt64Array): BigInt64Array {
  const out = new BigInt64Array(DEGREE);
  out[0] = x[0]!;
  out[DEGREE / 2] = x[1]!;
  return out;
}
