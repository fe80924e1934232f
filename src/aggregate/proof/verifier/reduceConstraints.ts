/**
 * The constraints E1 to E6 as linear forms on v (docs/protocol.md, 10.1), each times its short
 * challenge, and their right sides.
 */
import { COEFS_BYTES, FORM_BYTES, type Forms, type Labrador, type Vecs } from '../../wasm.ts';
import type { Claim } from '../claim.ts';
import { Q, Q_BITS } from '../constants.ts';
import { constantForm, formAt, powerForms, zeroForms } from '../forms.ts';
import { coefsOf } from '../ring.ts';
import type { Pieces } from '../shapes.ts';
import { addProduct, addToColumn, allCoefficients, multiplesOf } from './folding.ts';

/** The linear forms on v. */
export class FormsOnV {
  /** a row */
  readonly vec: Vecs;
  readonly #lab: Labrador;
  readonly #scratch: number;

  constructor(lab: Labrador, m: number) {
    this.#lab = lab;
    this.vec = lab.vecs(1, m);
    this.#scratch = lab.room(FORM_BYTES);
  }

  /** Adds a form to a place. */
  add(place: number, form: number): void {
    addToColumn(this.#lab, this.#scratch, this.vec.at, place, form);
  }

  /** Sets the places from `place` onwards to multiples of a form. */
  putMultiples(place: number, form: number, by: Forms): void {
    this.#lab.kernels.multiplesToVec(this.vec.at, place, by.count, form, by.at);
  }
}

/** The challenges of E1 to E6, in NTT form. */
export interface Challenges {
  /** one per outer commitment, in order: the last one is for E2, the others for E1 */
  readonly outer: readonly Forms[];
  readonly amortised: Forms;
  /** of E4 */
  readonly delta: number;
  /** of E6 */
  readonly gamma: number;
}

/** E1 and E2: the cut-off bits, and the value representing u, if it was sent. `v` must be zero. */
export function reduceOuter(
  lab: Labrador,
  v: FormsOnV,
  { level, outer }: Claim,
  pieces: Pieces,
  challenges: Challenges,
  b: number,
): void {
  const { kappa1, cut } = level;
  if (cut !== 0) {
    for (const [i, { at, count }] of challenges.outer.entries()) {
      for (let row = 0; row < count; row++) v.add(pieces.e[i]! + row, at + FORM_BYTES * row);
    }
  }

  lab.scope(() => {
    const coefs = lab.coefs(1);
    const form = lab.room(FORM_BYTES);
    const bytes = 8 * (Q_BITS - cut);
    for (const [i, sent] of outer.entries()) {
      const at = lab.put(sent);
      for (let row = 0; row < kappa1; row++) {
        const challenge = formAt(challenges.outer[i]!, row);
        lab.kernels.unpackBits(coefs.at, at + bytes * row, 64, Q_BITS - cut, Q);
        lab.kernels.restoreCut(coefs.at, coefs.at, cut);
        lab.kernels.coefsToForm(form, coefs.at);
        lab.kernels.mulForm(form, form, challenge);
        lab.kernels.addForm(b, b, form);
      }
    }
  });
}

/**
 * E3 on the digits of t: sum of c_a t_a. Sets `v` there. If inner commitments are cut, also on the
 * digits of e, with the value representing the cut-off bits.
 */
export function reduceInner(
  lab: Labrador,
  v: FormsOnV,
  { level: { f, b: bits, ft, bu, ct, kappa, r } }: Claim,
  pieces: Pieces,
  c: Forms,
  { amortised }: Challenges,
  b: number,
): void {
  lab.scope(() => {
    const product = lab.room(FORM_BYTES);
    const forms = powerForms(lab, ft, bu, ct);
    const powers = Array.from({ length: ft }, (_, j) => formAt(forms, j));
    for (let a = 0; a < r; a++) {
      for (const [j, power] of powers.entries()) {
        lab.kernels.mulForm(product, formAt(c, a), power);
        v.putMultiples(pieces.t + (a * ft + j) * kappa, product, amortised);
      }
    }
    if (ct === 0) return;
    for (let j = 0; j < f; j++) {
      const negative = constantForm(lab, -(1n << BigInt(bits * j)));
      v.putMultiples(pieces.inner + j * kappa, negative, amortised);
    }
    lab.kernels.mulForm(product, sumOf(lab, c), sumOf(lab, amortised));
    addProduct(lab, b, product, allCoefficients(-(1n << BigInt(ct - 1))));
  });
}

/** The sum of forms, as a form. Valid until the enclosing scope ends. */
export function sumOf(lab: Labrador, forms: Forms): number {
  const sum = zeroForms(lab, 1).at;
  for (let i = 0; i < forms.count; i++) lab.kernels.addForm(sum, sum, formAt(forms, i));
  return sum;
}

/** E4, E5 and E6 on the digits of g and h. Sets `v` there. */
export function reduceGarbage(
  lab: Labrador,
  v: FormsOnV,
  { level, quadratic }: Claim,
  pieces: Pieces,
  c: Forms,
  { delta, gamma }: Challenges,
): void {
  const { fu, bu, fg, bg, r, pairs } = level;
  const { kernels } = lab;
  lab.scope(() => {
    const [onG, onH] = [lab.forms(pairs), lab.forms(pairs)];
    for (let a = 0, pair = 0; a < r; a++) {
      for (let b = a; b < r; b++, pair++) {
        const [g, h] = [formAt(onG, pair), formAt(onH, pair)];
        kernels.mulForm(h, formAt(c, a), formAt(c, b));
        kernels.mulForm(g, h, delta);
        if (a !== b) kernels.addForm(g, g, g);
        else kernels.addForm(h, h, gamma);
      }
    }
    const [powersG, powersU] = [powerForms(lab, fg, bg), powerForms(lab, fu, bu)];
    for (let j = 0; j < fu; j++) {
      v.putMultiples(pieces.h + j * pairs, formAt(powersU, j), onH);
    }
    for (let j = 0; j < fg; j++) {
      v.putMultiples(pieces.g + j * pairs, formAt(powersG, j), onG);
    }
    // gamma a_ab 2^(bg j): a_ab 2^(bg j) is reduced before the multiplication by gamma.
    const one = constantForm(lab, 1n);
    for (const { pairs: equal, factor } of quadratic) {
      const form = zeroForms(lab, 1).at;
      addProduct(lab, form, one, factor);
      const multiples = multiplesOf(lab, form, fg, bg);
      for (let j = 0; j < fg; j++) {
        kernels.mulForm(form, formAt(multiples, j), gamma);
        for (const pair of equal) v.add(pieces.g + j * pairs + pair, form);
      }
    }
  });
}

/** E5 on the digits of e: -phi_e 2^(b j), added to what E3 sets there. */
export function reduceExtension(
  lab: Labrador,
  v: FormsOnV,
  { level: { f, b, kappa }, phiE }: Claim,
  pieces: Pieces,
): void {
  if (phiE === undefined) return;
  lab.scope(() => {
    const phi = coefsOf(lab, [phiE]);
    const form = lab.room(FORM_BYTES);
    const negative = constantForm(lab, -1n);
    for (let i = 0; i < kappa; i++) {
      lab.kernels.coefsToForm(form, phi.at + COEFS_BYTES * i);
      lab.kernels.mulForm(form, form, negative);
      const multiples = multiplesOf(lab, form, f, b);
      for (let j = 0; j < f; j++) v.add(pieces.inner + j * kappa + i, formAt(multiples, j));
    }
  });
}
