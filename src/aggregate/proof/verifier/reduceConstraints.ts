/**
 * Constraints E1 to E6 as linear forms on z and v (docs/protocol.md, 10.1), each times its short challenge, and what of them stands on the
 * right side.
 */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import type { Forms, Labrador, Vecs } from '../../wasm.ts';
import { COEFS, FORM } from '../challenges.ts';
import { Q_BITS } from '../encode.ts';
import { someForms } from '../foldKeys.ts';
import { type Blocks, coefsOf, type Values, vecOf } from '../ring.ts';
import { firstRows, type Pieces, Q } from '../shapes.ts';
import { addProduct, addToColumn, constantForm, formAt, scaled } from './folding.ts';

/** a_ab of one pair; pairs with a factor in common share the array. */
export interface QuadraticTerm {
  readonly pair: number;
  readonly factor: BigInt64Array;
}

/** The public values of a level after its last challenge; polynomials mod q, centred or not. */
export interface Claim {
  readonly number: number;
  readonly level: OrdinaryLevel;
  /** forms of c_a, as bytes */
  readonly c: Uint8Array;
  readonly phi: Values;
  readonly quadratic: readonly QuadraticTerm[];
  readonly b: BigInt64Array;
  /** u' as sent: u'_A, u'_B, u'_2 or u'_1, u'_2 */
  readonly outer: readonly Uint8Array[];
}

/** Polynomials of a part in rows of n columns. */
export class Part {
  readonly vecs: Vecs;
  readonly #lab: Labrador;
  readonly #scratch: number;

  constructor(lab: Labrador, rows: number, n: number) {
    this.#lab = lab;
    this.vecs = lab.vecs(rows, n);
    this.#scratch = lab.room(FORM);
  }

  add(place: number, form: number): void {
    const { vecs } = this;
    const row = Math.floor(place / vecs.columns);
    const at = this.#lab.row(vecs, row);
    addToColumn(this.#lab, this.#scratch, at, place % vecs.columns, form);
  }

  /** Polynomials mod q in the place of what is there, from the first place on. */
  putValues(values: Values): void {
    const lab = this.#lab;
    lab.scope(() => {
      const { at, count } = coefsOf(lab, [values]);
      this.#eachRun(0, count, (row, column, done, here) =>
        lab.kernels.coefsToVec(row, column, at + COEFS * done, COEFS, here),
      );
    });
  }

  /** Polynomials in NTT form in the place of what is there, from a place on. */
  putBlocks(place: number, blocks: Blocks): void {
    const lab = this.#lab;
    lab.scope(() => {
      const { at, columns } = vecOf(lab, blocks);
      this.#eachRun(place, columns, (row, column, done, here) =>
        lab.kernels.copyColumns(row, column, at, done, here),
      );
    });
  }

  /** Multiples of a form by others in the place of what is there, from a place on. */
  putMultiples(place: number, form: number, by: Forms): void {
    this.#eachRun(place, by.count, (row, column, done, here) =>
      this.#lab.kernels.multiplesToVec(row, column, here, form, formAt(by, done)),
    );
  }

  /** Places `place` to `place + count - 1`, row by row. */
  #eachRun(
    place: number,
    count: number,
    visit: (row: number, column: number, done: number, here: number) => void,
  ): void {
    const { columns } = this.vecs;
    for (let done = 0; done < count; ) {
      const column = (place + done) % columns;
      const here = Math.min(columns - column, count - done);
      visit(this.#lab.row(this.vecs, Math.floor((place + done) / columns)), column, done, here);
      done += here;
    }
  }
}

/** The keys of a level, folded by the challenges of the next one. */
export interface FoldedKeys {
  readonly inner: Blocks;
  /** B (at level 0 B_A and B_B), C, D */
  readonly outer: readonly Blocks[];
}

/** Challenges of E1 to E6, in NTT form. */
export interface Challenges {
  readonly outer: Forms;
  readonly garbage: Forms;
  readonly amortised: Forms;
  readonly delta: number;
  readonly gamma: number;
}

/** E1 and E2: folded keys on v_t, v_g, v_h, the cut parts, and what was sent. Comes first: `v` is zero. */
export function addOuter(
  lab: Labrador,
  v: Part,
  { number, level, outer }: Claim,
  pieces: Pieces,
  keys: readonly Blocks[],
  challenges: Challenges,
  b: number,
): void {
  const { fu, kappa, kappa1, r, cut } = level;
  const firsts = outer.length - 1;
  const rowsOfA = number === 0 ? firstRows(level)[2]! : r; // rows that u_A (or u_1) commits to
  const byOuter = outer.map((_, i) =>
    i < firsts ? someForms(challenges.outer, i * kappa1, kappa1) : challenges.garbage,
  );
  const split = rowsOfA * fu * kappa;
  const places = [pieces.t, ...(number === 0 ? [pieces.t + split] : []), pieces.g, pieces.h];
  for (const [i, place] of places.entries()) v.putBlocks(place, keys[i]!);

  lab.scope(() => {
    const coefs = lab.coefs(1);
    const form = lab.room(FORM);
    const bytes = 8 * (Q_BITS - cut);
    for (const [i, sent] of outer.entries()) {
      const at = lab.put(sent);
      for (let row = 0; row < kappa1; row++) {
        const challenge = formAt(byOuter[i]!, row);
        if (cut > 0) v.add(pieces.e[i]! + row, challenge);
        lab.kernels.unpackBits(coefs.at, at + bytes * row, 64, Q_BITS - cut, Q);
        lab.kernels.restoreCut(coefs.at, coefs.at, cut);
        lab.kernels.coefsToForm(form, coefs.at);
        lab.kernels.mulForm(form, form, challenge);
        lab.kernels.addForm(b, b, form);
      }
    }
  });
}

/** Forms of 2^(bits j), j < count. */
const powers = (lab: Labrador, count: number, bits: number): number[] =>
  Array.from({ length: count }, (_, j) => constantForm(lab, 1n << BigInt(bits * j)));

/** E3 on v_t: sum of c_a t_a. Fills `v` there. */
export function putInner(
  lab: Labrador,
  v: Part,
  { level: { fu, bu, kappa, r } }: Claim,
  c: Forms,
  { amortised }: Challenges,
): void {
  lab.scope(() => {
    const product = lab.room(FORM);
    const power = powers(lab, fu, bu);
    for (let a = 0; a < r; a++) {
      for (let j = 0; j < fu; j++) {
        lab.kernels.mulForm(product, formAt(c, a), power[j]!);
        v.putMultiples((a * fu + j) * kappa, product, amortised);
      }
    }
  });
}

/** E4, E5 and E6 on the digits of g and h. Fills `v` there. */
export function putGarbage(
  lab: Labrador,
  v: Part,
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
    for (const [j, power] of powers(lab, fg, bg).entries()) {
      v.putMultiples(pieces.g + j * pairs, power, onG);
    }
    for (const [j, power] of powers(lab, fu, bu).entries()) {
      v.putMultiples(pieces.h + j * pairs, power, onH);
    }
    // gamma a_ab 2^(bg j): the factor is reduced before gamma comes
    const known = new Map<BigInt64Array, number[]>();
    for (const { pair, factor } of quadratic) {
      let forms = known.get(factor);
      if (forms === undefined) {
        forms = Array.from({ length: fg }, (_, j) => {
          const at = lab.room(FORM, true);
          addProduct(lab, at, gamma, scaled(factor, 1n << BigInt(bg * j)));
          return at;
        });
        known.set(factor, forms);
      }
      for (const [j, at] of forms.entries()) v.add(pieces.g + j * pairs + pair, at);
    }
  });
}
