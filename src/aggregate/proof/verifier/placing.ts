/**
 * Where the outputs of the level before are in the rows of a level, and the forms by which their
 * places are folded: c of the row and, at the merged level, the short challenge chi of the part
 * (docs/merged.md, 1.5). What is folded by the latter must be reduced mod q.
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { BLOCK_COLUMNS, FORM_BYTES, type Forms, type Vecs } from '../../wasm.ts';
import { type Seed, shortForms } from '../challenges.ts';
import { constantForm, formAt, zeroForms } from '../forms.ts';
import { firstRows, segmentOfZ } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import type { Folding } from './folding.ts';

/** Digits of z, and their bits. */
export type Digits = Pick<OrdinaryLevel, 'f' | 'b'>;

/** Valid until the enclosing scope ends. An ordinary level has one part, without chi. */
export class Placing {
  readonly folding: Folding;
  readonly shape: Shape;
  /** the parts, counted from 0 */
  readonly parts: readonly number[];
  readonly #digits: Digits;
  readonly #chis: Forms | undefined;

  constructor(folding: Folding, shape: Shape, digits: Digits, combine: Seed) {
    const { parts } = shape;
    this.folding = folding;
    this.shape = shape;
    this.parts = parts === undefined ? [0] : [...Array(parts.count).keys()];
    this.#digits = digits;
    this.#chis = parts && shortForms(folding.lab, combine, SHORT.part, 0, parts.count);
  }

  /** The place at which v of a part begins. */
  startOfV(part: number): number {
    return part * (this.shape.parts?.m ?? 0);
  }

  /** The forms of the rows of v. */
  ofV(): number[] {
    const { rows } = this.shape;
    const first = firstRows(this.shape).at(-1)!;
    return Array.from({ length: rows.at(-1)! }, (_, row) => formAt(this.folding.c, first + row));
  }

  /**
   * The forms of the rows of z, before digits and signs, times chi: equal rows of z_0, z_1, ...
   * have the form of z, times -2^(b i). Of several parts, their sums.
   */
  ofZ(parts: readonly number[]): number[] {
    const { lab, c } = this.folding;
    const { f, b } = this.#digits;
    const first = firstRows(this.shape);
    const forms = zeroForms(lab, this.shape.rows[0]!);
    const rows = Array.from({ length: forms.count }, (_, row) => formAt(forms, row));
    lab.scope(() => {
      const product = lab.room(FORM_BYTES);
      for (let i = 0; i < f; i++) {
        const negative = constantForm(lab, -(1n << BigInt(b * i)));
        for (const part of parts) {
          const [factor] = this.times(part, [negative]);
          const start = first[segmentOfZ(this.shape, i, part)]!;
          for (const [row, form] of rows.entries()) {
            lab.kernels.mulForm(product, formAt(c, start + row), factor!);
            lab.kernels.addForm(form, form, product);
          }
        }
      }
    });
    return rows;
  }

  /** Forms times chi of a part; at an ordinary level the forms themselves. */
  times(part: number, forms: readonly number[]): readonly number[] {
    const { lab } = this.folding;
    const chis = this.#chis;
    if (chis === undefined) return forms;
    return forms.map((form) => {
      const product = lab.room(FORM_BYTES);
      lab.kernels.mulForm(product, form, formAt(chis, part));
      return product;
    });
  }

  /** Reduces columns mod q if they are folded by chi. */
  reduce({ at, columns }: Vecs): void {
    if (this.#chis !== undefined) this.folding.lab.kernels.reduceColumns(at, 0, columns);
  }

  /** Adds forms on v of a part. */
  addOnV(part: number, vec: Vecs): void {
    const { lab } = this.folding;
    this.reduce(vec);
    lab.scope(() => {
      const staging = lab.vecs(1, vec.columns + BLOCK_COLUMNS);
      this.folding.addPlaces(staging, vec, this.startOfV(part), this.times(part, this.ofV()));
    });
  }

  /** Adds a form to a place of v of a part, without chi. */
  addToV(part: number, place: number, form: number): void {
    const { n } = this.shape;
    const at = this.startOfV(part) + place;
    const row = firstRows(this.shape).at(-1)! + Math.floor(at / n);
    this.folding.add(row, at % n, form);
  }

  /** right += form times chi of a part. `form` is overwritten. */
  addRight(part: number, right: number, form: number): void {
    const { lab } = this.folding;
    lab.scope(() => {
      const coefs = lab.coefs(1).at;
      lab.kernels.formToCoefs(coefs, form);
      lab.kernels.coefsToForm(form, coefs);
      lab.kernels.addForm(right, right, this.times(part, [form])[0]!);
    });
  }
}
