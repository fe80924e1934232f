/**
 * Individual NTT forms, and rows of columns in NTT form, in the module's memory (see ../wasm.ts).
 */
import {
  BLOCK_BYTES,
  BLOCK_COLUMNS,
  FORM_BYTES,
  type Forms,
  type Labrador,
  type Smalls,
  type Vecs,
} from '../wasm.ts';
import { Q } from './constants.ts';

/** The address of a form. */
export const formAt = (forms: Forms, index: number): number => forms.at + FORM_BYTES * index;

/** Forms that are zero. */
export const zeroForms = (lab: Labrador, count: number): Forms => ({
  kind: 'forms',
  at: lab.room(FORM_BYTES * count, true),
  count,
});

/** Small polynomials, at most 8192 in magnitude, in NTT form. */
export function formsOf(lab: Labrador, smalls: Smalls): Forms {
  const out = lab.forms(smalls.count);
  lab.kernels.smallsToForms(out.at, smalls.at, smalls.count);
  return out;
}

/** Writes the form of a constant modulo q. */
export function writeConstant(lab: Labrador, to: number, value: bigint): void {
  lab.scope(() => {
    const coefs = lab.coefs(1);
    lab.i64(coefs).fill(0n)[0] = value;
    lab.kernels.coefsToForm(to, coefs.at);
  });
}

/** The form of a constant modulo q. */
export function constantForm(lab: Labrador, value: bigint): number {
  const out = lab.room(FORM_BYTES);
  writeConstant(lab, out, value);
  return out;
}

/** The forms of 2^(first + bits j) mod q, j < count. */
export function powerForms(lab: Labrador, count: number, bits: number, first = 0): Forms {
  const powers = lab.forms(count);
  for (const j of Array(count).keys()) {
    writeConstant(lab, formAt(powers, j), (1n << BigInt(first + bits * j)) % Q);
  }
  return powers;
}

/** Bytes of a row with this number of columns. */
export const rowBytes = (columns: number): number =>
  BLOCK_BYTES * Math.ceil(columns / BLOCK_COLUMNS);

/**
 * Rows whose columns 0 to `filled[row] - 1` are written next. Only the blocks after them are
 * cleared, because clearing all of them would touch the largest vectors twice.
 */
export function vecsToFill(lab: Labrador, columns: number, filled: readonly number[]): Vecs {
  const rows = filled.length;
  const stride = rowBytes(columns);
  const at = lab.room(stride * rows);
  for (const [row, count] of filled.entries()) {
    const from = BLOCK_BYTES * Math.floor(count / BLOCK_COLUMNS);
    lab.bytes(at + stride * row + from, stride - from).fill(0);
  }
  return { kind: 'vecs', at, rows, columns, blocks: stride / BLOCK_BYTES, stride };
}

/** Clears the last block used by `count` columns in each row, unless they fill it. */
export function clearRest(lab: Labrador, vecs: Vecs, count: number): void {
  if (count % BLOCK_COLUMNS === 0) return;
  const from = BLOCK_BYTES * Math.floor(count / BLOCK_COLUMNS);
  for (let i = 0; i < vecs.rows; i++) lab.bytes(lab.row(vecs, i) + from, BLOCK_BYTES).fill(0);
}
