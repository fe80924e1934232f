/**
 * phi_z = sum over rows of c_a phi_a (docs/protocol.md, 6.3 and 10.1), added up as the phi of the rows come; they are never stored.
 *
 * A form stands for an integer polynomial below P/2 = 2^80.8. With all of c_a the sum is below 2^78.1 at every row of the table, though folded keys
 * come as they are, not reduced mod q: `checkFolds` of scripts/parameters/check.ts.
 */
import type { Forms, Labrador, Vecs } from '../../wasm.ts';
import {
  BLOCK_BYTES,
  BLOCK_COLUMNS,
  clearRest,
  FORM,
  type Seed,
  sampleCs,
  sampleShorts,
  startProjection,
} from '../challenges.ts';
import { SHORT } from '../labels.ts';
import { type Blocks, vecOf } from '../ring.ts';
import { LIFTS, Q } from '../shapes.ts';

/** The form of one polynomial, zero. */
export const zeroForm = (lab: Labrador): number => lab.room(FORM, true);

export const formAt = (forms: Forms, index: number): number => forms.at + FORM * index;

/** The form of a constant. */
export function constantForm(lab: Labrador, value: bigint): number {
  const out = lab.room(FORM);
  lab.scope(() => {
    const coefs = lab.coefs(1);
    lab.i64(coefs).fill(0n)[0] = value;
    lab.kernels.coefsToForm(out, coefs.at);
  });
  return out;
}

/** Addresses of the rows. */
export const rowsOf = (lab: Labrador, vecs: Vecs): number[] =>
  Array.from({ length: vecs.rows }, (_, i) => lab.row(vecs, i));

/** NTT forms of short challenges of one kind. */
export function shortForms(
  lab: Labrador,
  combine: Seed,
  kind: number,
  first: number,
  count: number,
): Forms {
  const forms = lab.forms(count);
  lab.scope(() => {
    const smalls = sampleShorts(lab, combine, kind, first, count);
    lab.kernels.smallsToForms(forms.at, smalls.at, count);
  });
  return forms;
}

/** One column of a vector gains a form. */
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
    const form = lab.room(FORM);
    lab.i64(coefs).set(x);
    lab.kernels.coefsToForm(form, coefs.at);
    lab.kernels.mulForm(form, form, factor);
    lab.kernels.addForm(to, to, form);
  });
}

/** x times an integer, mod q. */
export const scaled = (x: BigInt64Array, factor: bigint): BigInt64Array =>
  x.map((value) => (value * factor) % Q);

/** The challenges that a level folds its rows by, in NTT form. */
export interface FoldingChallenges {
  /** c_a of every row */
  readonly c: Forms;
  /** beta_k of every lift */
  readonly beta: Forms;
}

export function foldingChallenges(
  lab: Labrador,
  amortise: Seed,
  combine: Seed,
  rows: number,
): FoldingChallenges {
  const c = lab.forms(rows);
  lab.scope(() => {
    const smalls = sampleCs(lab, amortise, rows);
    lab.kernels.smallsToForms(c.at, smalls.at, rows);
  });
  return { c, beta: shortForms(lab, combine, SHORT.lift, 0, LIFTS) };
}

/** The sum. Lives as long as the scope in which it is made. */
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

  /** A column gains c_row form. */
  add(row: number, column: number, form: number): void {
    const product = formAt(this.#scratch, 1);
    this.lab.kernels.mulForm(product, form, formAt(this.c, row));
    addToColumn(this.lab, this.#scratch.at, this.sum.at, column, product);
  }

  /** Columns from `from` (a multiple of 32) on gain the vectors at the addresses, each times the form at an address. */
  addVectors(
    vectors: readonly number[],
    coefficients: readonly number[],
    from: number,
    columns: number,
  ): void {
    const { lab, sum } = this;
    lab.scope(() => {
      const forms = lab.forms(vectors.length + 1);
      for (const [i, at] of [...coefficients, this.#one].entries()) {
        lab.bytes(formAt(forms, i), FORM).set(lab.bytes(at, FORM));
      }
      const blocks = Math.ceil(columns / BLOCK_COLUMNS);
      const at = sum.at + BLOCK_BYTES * (from / BLOCK_COLUMNS);
      lab.combine({ ...sum, at, columns, blocks }, 0, [...vectors, at], forms);
    });
  }

  /** Columns gain those of another sum. */
  addBlocks(blocks: Blocks): void {
    const { lab } = this;
    lab.scope(() => {
      const { at, columns } = vecOf(lab, blocks);
      this.addVectors([at], [this.#one], 0, columns);
    });
  }

  /** The forms of c_row beta_k. */
  lifted(row: number): number[] {
    return Array.from({ length: LIFTS }, (_, k) => {
      const product = this.lab.room(FORM);
      this.lab.kernels.mulForm(product, formAt(this.c, row), formAt(this.beta, k));
      return product;
    });
  }

  /**
   * The projection's part of the lifts at columns 0 to count - 1 of a row (8.4); omega has been prepared.
   *
   * @param staging three rows as long as the sum, overwritten
   * @param first number of the polynomial in column 0
   */
  addProjection(
    staging: Vecs,
    jl: Seed,
    counter: number,
    row: number,
    first: number,
    count: number,
  ): void {
    const { lab } = this;
    lab.scope(() => {
      clearRest(lab, staging, count);
      startProjection(jl, counter);
      const vectors = rowsOf(lab, staging);
      const [v0, v1, v2] = vectors as [number, number, number];
      lab.kernels.collapseToVecs(v0, v1, v2, 0, first, count);
      this.addVectors(vectors, this.lifted(row), 0, count);
    });
  }
}
