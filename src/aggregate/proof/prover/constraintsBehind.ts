/**
 * The constraints E1 to E6 that the previous level leaves (docs/protocol.md, 10.1), each times its
 * challenge, added up to a constraint on z_0, z_1, ... and v. The verifier's counterpart is
 * `../verifier/reduceCarry.ts`.
 */
import type { HiddenMessage, OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import {
  COEFS_BYTES,
  type Coefs,
  FORM_BYTES,
  type Forms,
  type Labrador,
  type Smalls,
  type Vecs,
} from '../../wasm.ts';
import { type Seed, shortForms } from '../challenges.ts';
import type { Placed } from '../columns.ts';
import { DEGREE, Q } from '../constants.ts';
import { LOW_BITS } from '../foldKeys.ts';
import { constantForm, formAt, powerForms, writeConstant, zeroForms } from '../forms.ts';
import { coefsOf, slice, type Values, valuesOf } from '../ring.ts';
import { digitOfRow, firstRows, pairIndex, rowsOfDigit, segmentOfZ } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { digitsOf, firstColumns, type Output } from './output.ts';
import { combineScalars } from './scalars.ts';

/** The combined constraint without its linear forms: quadratic coefficients and the right side. */
export type Target = Pick<Output, 'a' | 'aForms' | 'b'>;

/** The number of distinct values of a_ab at a level that follows one of f digits. */
export const distinctA = (f: number): number => (f * (f + 1)) / 2;

/** An output as the constraints on it need it, without its polynomials. */
export type Carried = Omit<Output, 'parts' | 'z' | 'v' | 'aForms'>;

/** What a level takes from the level before. */
export interface LevelInput {
  /** its output; at the merged level, the output of level 0 of every part */
  readonly outputs: readonly Carried[];
  /** their polynomials, in the order of `placesOfRows` */
  readonly rows: Smalls;
}

/**
 * Adds up the constraints, and the contribution of this level's lifts to hidden messages.
 *
 * @param target receives everything except the linear forms
 * @param scalars from `scalarsOnHidden` for every output, if the previous level hides its messages
 * @returns the linear forms on v, part by part; those on z_0, z_1, ... are left to `carryAmortised`
 */
export function carryConstraints(
  lab: Labrador,
  seed: Seed,
  shape: Shape,
  { outputs }: LevelInput,
  target: Target,
  scalars: readonly (readonly Coefs[] | undefined)[],
): Coefs {
  const { kernels } = lab;
  const { m } = outputs[0]!.params;
  const onV = lab.coefs(m * outputs.length);
  target.a.clear();
  lab.scope(() => {
    const right = zeroForms(lab, 1).at;
    for (const [part, before] of outputs.entries()) {
      lab.scope(() => {
        const sum = new Sum(lab, m);
        const delta = shortForms(lab, seed, SHORT.quadratic, 0, 1).at;
        carryOuter(lab, sum, before, seed);
        carryInner(lab, sum, before, seed);
        carryGarbage(lab, sum, before, seed, delta);
        carryHidden(lab, sum, before, seed);
        carryExtension(lab, sum, before, seed);
        if (shape.parts !== undefined) {
          const chi = shortForms(lab, seed, SHORT.part, part, 1).at;
          sum.multiply(chi);
          kernels.mulForm(delta, delta, chi);
        }
        const ofPart = scalars[part];
        if (ofPart !== undefined) carryScalars(lab, sum, before, seed, ofPart);
        kernels.addForm(right, right, sum.right);
        kernels.formsToCoefs(onV.at + COEFS_BYTES * m * part, sum.onV.at, m);
        carrySquares(lab, shape, before.params, part, delta, target);
      });
    }
    kernels.formToCoefs(target.b.at, right);
  });
  return onV;
}

/** Accumulates the linear forms on v and the right side. */
class Sum {
  readonly onV: Forms;
  /** the address of a form */
  readonly right: number;
  readonly #lab: Labrador;
  readonly #product: number;

  constructor(lab: Labrador, m: number) {
    this.#lab = lab;
    this.onV = zeroForms(lab, m);
    this.right = zeroForms(lab, 1).at;
    this.#product = lab.forms(1).at;
  }

  /** Adds a form to a place. */
  add(place: number, form: number): void {
    const at = formAt(this.onV, place);
    this.#lab.kernels.addForm(at, at, form);
  }

  /** Adds a form times powers of two to places `step` apart, those of the digits of one value. */
  addDigits(place: number, step: number, form: number, powers: Forms): void {
    for (let j = 0; j < powers.count; j++) {
      this.#lab.kernels.mulForm(this.#product, form, formAt(powers, j));
      this.add(place + j * step, this.#product);
    }
  }

  /** Adds the columns of a key, folded by the challenges of its rows, to places `from` onwards. */
  addKey(key: Vecs, from: number, challenges: Forms): void {
    const lab = this.#lab;
    const row = lab.vecs(1, key.columns);
    lab.combine(row, 0, lab.addresses(key), challenges);
    this.addColumns(row, from);
  }

  /** Adds the columns of a row to places `from` onwards. */
  addColumns(row: Vecs, from: number): void {
    for (let column = 0; column < row.columns; column++) {
      this.#lab.kernels.loadColumn(this.#product, row.at, column);
      this.add(from + column, this.#product);
    }
  }

  /** Multiplies everything, once it is reduced, by a short form. */
  multiply(form: number): void {
    const lab = this.#lab;
    const { kernels } = lab;
    lab.scope(() => {
      const coefs = lab.coefs(1).at;
      const places = Array.from({ length: this.onV.count }, (_, i) => formAt(this.onV, i));
      for (const at of [...places, this.right]) {
        kernels.formToCoefs(coefs, at);
        kernels.coefsToForm(at, coefs);
        kernels.mulForm(at, at, form);
      }
    });
  }

  /** Adds a polynomial times a form to the right side. */
  addRight(coefs: number, form: number): void {
    const { kernels } = this.#lab;
    kernels.coefsToForm(this.#product, coefs);
    kernels.mulForm(this.#product, this.#product, form);
    kernels.addForm(this.right, this.right, this.#product);
  }
}

/** E1 and E2: keys on the digits of t, g and h, the cut-off bits, and the value representing u. */
function carryOuter(lab: Labrador, sum: Sum, before: Carried, seed: Seed): void {
  const { outers, pieces, hats } = before;
  const { kappa1, cut } = before.params;
  const last = hats.length - 1;
  for (const [index, hat] of hats.entries()) {
    const challenges =
      index === last
        ? shortForms(lab, seed, SHORT.garbage, 0, kappa1)
        : shortForms(lab, seed, SHORT.outer, index * kappa1, kappa1);
    lab.scope(() => {
      const piece = outers[index]!;
      sum.addKey(firstColumns(before.keys, piece.count), piece.from, challenges);
      for (let row = 0; row < kappa1; row++) {
        const challenge = formAt(challenges, row);
        if (cut > 0) sum.add(pieces.e[index]! + row, challenge);
        sum.addRight(hat.at + COEFS_BYTES * row, challenge);
      }
    });
  }
}

/** Hidden messages on x: outer commitments in E1 and E2, lifts in E6. */
function carryHidden(lab: Labrador, sum: Sum, before: Carried, seed: Seed): void {
  const { params, beta } = before;
  const { w, cut, kappa1, messages } = params;
  if (w === 0) return;
  const last = before.hats.length - 1;
  lab.scope(() => {
    const powers = powerForms(lab, Math.max(...messages.map(({ digits }) => digits)), w);
    const [minus, minusCut] = [constantForm(lab, -1n), constantForm(lab, -1n << BigInt(cut))];
    const gamma = shortForms(lab, seed, SHORT.constraint, 0, 1).at;
    const product = lab.forms(1).at;
    let index = 0;
    for (const { isLifts, from, polynomials, digits } of messages) {
      const challenges =
        isLifts || index < last
          ? shortForms(lab, seed, SHORT.outer, index * kappa1, kappa1)
          : shortForms(lab, seed, SHORT.garbage, 0, kappa1);
      for (let i = 0; i < polynomials; i++) {
        if (isLifts) lab.kernels.mulForm(product, gamma, formAt(beta, i));
        const challenge = isLifts ? product : formAt(challenges, i);
        lab.kernels.mulForm(product, challenge, isLifts ? minus : minusCut);
        sum.addDigits(from + i, polynomials, product, slice(powers, 0, digits));
      }
      if (!isLifts) index++;
    }
  });
}

/**
 * (Q) and (T_b) on x, as combined by the lifts. Parts of the scalars are at most 2^22 in magnitude,
 * keys q/2, and powers of two are below q: all sums are below (k + 1) 2^27 q.
 */
function carryScalars(
  lab: Labrador,
  sum: Sum,
  before: Carried,
  seed: Seed,
  scalars: readonly Coefs[],
): void {
  const { k, w, messages } = before.params;
  lab.scope(() => {
    const beta = shortForms(lab, seed, SHORT.lift, 0, scalars.length);
    const parts = combineScalars(lab, beta, scalars);
    for (const [index, message] of messages.entries()) {
      const rows = parts.map((part) => slice(part, k * index, k));
      carryQuarters(lab, sum, before, message, rows);
      if (!message.isLifts) continue;
      const { from, polynomials, digits } = message;
      for (const [i, part] of parts.entries()) {
        const powers = powerForms(lab, digits, w, LOW_BITS * i);
        for (let lift = 0; lift < polynomials; lift++) {
          const form = formAt(part, k * messages.length + lift);
          sum.addDigits(from + lift, polynomials, form, powers);
        }
      }
    }
  });
}

/** The key matrix on the digits of a message, its rows times low and high parts of residues. */
function carryQuarters(
  lab: Labrador,
  sum: Sum,
  { quarterKeys }: Carried,
  message: HiddenMessage,
  parts: readonly Forms[],
): void {
  lab.scope(() => {
    const key = firstColumns(quarterKeys, digitsOf(message));
    const weights = lab.forms(2);
    const [low, high] = parts.map((factors, i) => {
      writeConstant(lab, formAt(weights, i), 1n << BigInt(LOW_BITS * i));
      const row = lab.vecs(1, key.columns);
      lab.combine(row, 0, lab.addresses(key), factors);
      return row;
    }) as [Vecs, Vecs];
    lab.kernels.reduceColumns(high.at, 0, high.columns);
    lab.combine(low, 0, [low.at, high.at], weights);
    sum.addColumns(low, message.from);
  });
}

/**
 * The e of cut inner commitments in E3 and E5, and the value representing the bits cut off in E3.
 */
function carryExtension(lab: Labrador, sum: Sum, before: Carried, seed: Seed): void {
  const { kernels } = lab;
  const { params, pieces, phiE, c } = before;
  const { ct, f, b, kappa } = params;
  if (ct === 0) return;
  lab.scope(() => {
    const minus = constantForm(lab, -1n);
    const powers = powerForms(lab, f, b);
    const challenges = shortForms(lab, seed, SHORT.amortised, 0, kappa);
    const phi = coefsOf(lab, [phiE]);
    const [form, total] = [lab.forms(1).at, zeroForms(lab, 1).at];
    for (let a = 0; a < c.count; a++) kernels.addForm(total, total, formAt(c, a));
    const right = lab.coefs(1);
    lab.i64(right).fill(-(1n << BigInt(ct - 1)));
    kernels.coefsToForm(form, right.at);
    kernels.mulForm(form, form, total);
    kernels.formToCoefs(right.at, form);
    for (let i = 0; i < kappa; i++) {
      sum.addRight(right.at, formAt(challenges, i));
      kernels.coefsToForm(form, phi.at + COEFS_BYTES * i);
      kernels.addForm(form, form, formAt(challenges, i));
      kernels.mulForm(form, form, minus);
      sum.addDigits(pieces.inner + i, kappa, form, powers);
    }
  });
}

/** E3 on the digits of t: sum of c_a t_a. */
function carryInner(lab: Labrador, sum: Sum, { pieces, c, params }: Carried, seed: Seed): void {
  const { r, ft, bu, kappa, ct } = params;
  lab.scope(() => {
    const powers = powerForms(lab, ft, bu, ct);
    const challenges = shortForms(lab, seed, SHORT.amortised, 0, kappa);
    const product = lab.forms(1).at;
    for (let a = 0; a < r; a++) {
      for (let k = 0; k < kappa; k++) {
        lab.kernels.mulForm(product, formAt(challenges, k), formAt(c, a));
        sum.addDigits(pieces.t + a * ft * kappa + k, kappa, product, powers);
      }
    }
  });
}

/** E4, E5 and E6 on the digits of g and h, and the right side of E6. */
function carryGarbage(lab: Labrador, sum: Sum, before: Carried, seed: Seed, delta: number): void {
  const { kernels } = lab;
  const { r, fu, bu, fg, bg, pairs } = before.params;
  const { pieces, c } = before;
  lab.scope(() => {
    const [powersU, powersG] = [powerForms(lab, fu, bu), powerForms(lab, fg, bg)];
    const gamma = shortForms(lab, seed, SHORT.constraint, 0, 1).at;
    const [onG, onH, product] = [lab.forms(1).at, lab.forms(1).at, lab.forms(1).at];
    const coefs = lab.coefs(1).at;
    for (let a = 0, pair = 0; a < r; a++) {
      for (let b = a; b < r; b++, pair++) {
        kernels.mulForm(onH, formAt(c, a), formAt(c, b));
        kernels.mulForm(onG, delta, onH);
        if (a === b) kernels.addForm(onH, onH, gamma);
        else kernels.addForm(onG, onG, onG);
        const quadratic = before.a.get(pair);
        if (quadratic !== undefined) {
          kernels.mulForm(product, gamma, quadratic);
          kernels.addForm(onG, onG, product);
          // Reduced below q, so that the powers of two keep it below CRT_PRODUCT / 2.
          kernels.formToCoefs(coefs, onG);
          kernels.coefsToForm(onG, coefs);
        }
        sum.addDigits(pieces.g + pair, pairs, onG, powersG);
        sum.addDigits(pieces.h + pair, pairs, onH, powersU);
      }
    }
    sum.addRight(before.b.at, gamma);
  });
}

/**
 * E3 and E5 on the first digit of z, in some columns: -(folded A + phi_z). On digit i it is 2^(b i)
 * times as much: see `writeForms`.
 *
 * @param foldedA the inner key of the previous level, folded by the challenges of E3
 * @param chi of the part, if the level takes those of several
 * @returns the linear form
 */
export function carryAmortised(lab: Labrador, foldedA: Vecs, phiZ: Values, chi?: Forms): Values {
  const { kernels } = lab;
  return lab.scope(() => {
    const n = foldedA.columns;
    const minus = lab.forms(2);
    for (const k of [0, 1]) writeConstant(lab, formAt(minus, k), -1n);
    const row = lab.vecs(1, n);
    const coefs = coefsOf(lab, [phiZ]);
    kernels.coefsToVec(row.at, 0, coefs.at, COEFS_BYTES, n);
    lab.combine(row, 0, [foldedA.at, row.at], minus);
    if (chi !== undefined) {
      kernels.reduceColumns(row.at, 0, n);
      lab.combine(row, 0, [row.at], chi);
    }
    kernels.vecToCoefs(coefs.at, row.at, 0, n);
    return valuesOf(lab, coefs);
  });
}

/**
 * Writes the linear form on a row of a level.
 *
 * @param to a row of zeros
 * @param bits of a digit of z
 * @param places from `placesOfForms`; `at` is the index of the first coefficient in `forms`
 */
export function writeForms(
  lab: Labrador,
  to: Vecs,
  shape: Shape,
  row: number,
  bits: number,
  places: readonly Placed[],
  forms: Values,
): void {
  const digit = digitOfRow(shape, row);
  const isZ = digit < digitOfRow(shape, shape.r);
  const from = isZ ? row - digit * rowsOfDigit(shape) : row;
  lab.scope(() => {
    for (const { column, count, at } of places.filter((placed) => placed.row === from)) {
      const coefs = coefsOf(lab, [forms.subarray(at, at + DEGREE * count)]);
      lab.kernels.coefsToVec(to.at, column, coefs.at, COEFS_BYTES, count);
    }
    if (!isZ || digit === 0) return;
    const power = lab.forms(1);
    writeConstant(lab, power.at, 1n << BigInt(bits * digit));
    lab.combine(to, 0, [to.at], power);
    lab.kernels.reduceColumns(to.at, 0, to.columns);
  });
}

/**
 * <z, z> of E4: a_ab on equal rows of the digits of a part.
 *
 * @param delta of E4; of a part, times chi
 */
function carrySquares(
  lab: Labrador,
  shape: Shape,
  { f, b }: OrdinaryLevel,
  part: number,
  delta: number,
  { a, aForms }: Target,
): void {
  const { kernels } = lab;
  const first = firstRows(shape);
  const coefs = lab.coefs(1).at;
  let at = formAt(aForms, part * distinctA(f));
  for (let i = 0; i < f; i++) {
    for (let k = i; k < f; k++, at += FORM_BYTES) {
      const factor = (-(i === k ? 1n : 2n) * (1n << BigInt(b * (i + k)))) % Q;
      writeConstant(lab, at, factor);
      kernels.mulForm(at, at, delta);
      kernels.formToCoefs(coefs, at);
      kernels.coefsToForm(at, coefs);
      const [ofI, ofK] = [i, k].map((digit) => first[segmentOfZ(shape, digit, part)]!);
      for (let row = 0; row < shape.rows[0]!; row++) {
        a.set(pairIndex(shape.r, ofI! + row, ofK! + row), at);
      }
    }
  }
}
