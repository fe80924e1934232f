/**
 * phi_z = sum over rows of c_a phi_a (docs/protocol.md, 6.3 and 10.1), accumulated while the phi of
 * the rows are computed; they are never stored.
 *
 * A form represents an integer polynomial below CRT_PRODUCT / 2 = 2^80.8. With all c_a the sum is
 * below 2^78.1 at every row of the table, although folded keys are not reduced mod q; at merged
 * levels, where they are, it is below 2^72.5: `checkFolds` of scripts/parameters/checkRanges.ts.
 */
import {
  BLOCK_BYTES,
  BLOCK_COLUMNS,
  FORM_BYTES,
  type Forms,
  type Labrador,
  type Vecs,
} from '../../wasm.ts';
import { type Seed, startProjection } from '../challenges.ts';
import { DEGREE } from '../constants.ts';
import { clearRest, constantForm, formAt } from '../forms.ts';
import type { Run } from '../shapes.ts';
import type { FoldingChallenges } from './openSeeds.ts';

/** Adds a form to one column of a vector. */
export function addToColumn(
  lab: Labrador,
  scratch: number,
  vec: number,
  column: number,
  form: number,
): void {
  const { kernels } = lab;
  kernels.loadColumn(scratch, vec, column);
  kernels.addForm(scratch, scratch, form);
  kernels.storeColumn(vec, column, scratch);
}

/** form += factor x */
export function addProduct(lab: Labrador, to: number, factor: number, x: BigInt64Array): void {
  lab.scope(() => {
    const coefs = lab.coefs(1);
    const form = lab.room(FORM_BYTES);
    lab.i64(coefs).set(x);
    lab.kernels.coefsToForm(form, coefs.at);
    lab.kernels.mulForm(form, form, factor);
    lab.kernels.addForm(to, to, form);
  });
}

/** The forms of x, 2^bits x, 2^(2 bits) x, ..., each reduced mod q. `form` is that of x. */
export function multiplesOf(lab: Labrador, form: number, count: number, bits: number): Forms {
  const out = lab.forms(count);
  lab.scope(() => {
    const power = constantForm(lab, 1n << BigInt(bits));
    const coefs = lab.coefs(1).at;
    const next = lab.room(FORM_BYTES);
    let multiple = form;
    for (const j of Array(count).keys()) {
      const to = formAt(out, j);
      lab.kernels.formToCoefs(coefs, multiple);
      lab.kernels.coefsToForm(to, coefs);
      lab.kernels.mulForm(next, to, power);
      multiple = next;
    }
  });
  return out;
}

/** The polynomial whose coefficients all equal this number. */
export const allCoefficients = (value: bigint): BigInt64Array =>
  new BigInt64Array(DEGREE).fill(value);

/** The sum. Valid until the enclosing scope ends. */
export class Folding {
  readonly lab: Labrador;
  readonly c: Forms;
  readonly beta: Forms;
  /** one row */
  readonly sum: Vecs;
  readonly #one: number;
  readonly #scratch: Forms;

  constructor(lab: Labrador, { c, beta }: FoldingChallenges, columns: number) {
    this.lab = lab;
    this.c = c;
    this.beta = beta;
    this.sum = lab.vecs(1, columns);
    this.#one = constantForm(lab, 1n);
    this.#scratch = lab.forms(2);
  }

  /** Adds c_row form to a column. */
  add(row: number, column: number, form: number): void {
    const product = formAt(this.#scratch, 1);
    this.lab.kernels.mulForm(product, form, formAt(this.c, row));
    addToColumn(this.lab, this.#scratch.at, this.sum.at, column, product);
  }

  /**
   * Adds vectors, each times its coefficient, to columns `from` (a multiple of 32) onwards; both
   * are given by their addresses.
   */
  addVectors(
    vectors: readonly number[],
    coefficients: readonly number[],
    from: number,
    columns: number,
  ): void {
    const { lab, sum } = this;
    lab.scope(() => {
      const forms = lab.forms(vectors.length + 1);
      const bytes = lab.bytes(0, lab.memoryBytes);
      let end = forms.at;
      for (const form of [...coefficients, this.#one]) {
        bytes.copyWithin(end, form, form + FORM_BYTES);
        end += FORM_BYTES;
      }
      const blocks = Math.ceil(columns / BLOCK_COLUMNS);
      const at = sum.at + BLOCK_BYTES * (from / BLOCK_COLUMNS);
      lab.combine({ ...sum, at, columns, blocks }, 0, [...vectors, at], forms);
    });
  }

  /** Adds the columns of another sum. */
  addSum({ at, columns }: Vecs): void {
    this.addVectors([at], [this.#one], 0, columns);
  }

  /**
   * Adds columns to places `first` onwards of a part, each times the coefficient of its row.
   *
   * @param staging a row of one block more than these columns, which is overwritten
   * @param coefficients one per row of the part
   */
  addPlaces(
    staging: Vecs,
    { at, columns }: Vecs,
    first: number,
    coefficients: readonly number[],
  ): void {
    const { lab, sum } = this;
    for (let done = 0; done < columns; ) {
      const column = (first + done) % sum.columns;
      const here = Math.min(sum.columns - column, columns - done);
      // Whole blocks are added; the first and the last one also contain other columns.
      const before = column % BLOCK_COLUMNS;
      clearRest(lab, staging, before);
      clearRest(lab, staging, before + here);
      lab.kernels.copyColumns(staging.at, before, at, done, here);
      const coefficient = coefficients[Math.floor((first + done) / sum.columns)]!;
      this.addVectors([staging.at], [coefficient], column - before, before + here);
      done += here;
    }
  }

  /** The addresses of the forms of c_row beta_k. */
  lifted(row: number): number[] {
    return Array.from({ length: this.beta.count }, (_, k) => {
      const product = this.lab.room(FORM_BYTES);
      this.lab.kernels.mulForm(product, formAt(this.c, row), formAt(this.beta, k));
      return product;
    });
  }

  /**
   * Adds the projection's part of the lifts (8.4) at some columns of a row. omega must have been
   * prepared.
   *
   * @param staging two rows as long as the sum, which are overwritten
   * @param first number of the polynomial in column `from`
   */
  addProjection(staging: Vecs, jl: Seed, { row, from, to }: Run, first: number): void {
    const { lab } = this;
    lab.scope(() => {
      // Whole blocks are added; the first and the last one also contain other columns.
      const start = from - (from % BLOCK_COLUMNS);
      clearRest(lab, staging, from);
      clearRest(lab, staging, to);
      startProjection(jl);
      const vectors = lab.addresses(staging);
      const [v0, v1] = vectors as [number, number];
      lab.kernels.collapseToVecs(v0, v1, from, first, to - from);
      const skipped = BLOCK_BYTES * (start / BLOCK_COLUMNS);
      const shifted = vectors.map((at) => at + skipped);
      this.addVectors(shifted, this.lifted(row), start, to - start);
    });
  }
}
