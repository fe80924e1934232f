/** The linear forms of the lifts at level 0 (docs/protocol.md, 7.6), in some columns. */
import {
  BLOCK_COLUMNS,
  COEFS_BYTES,
  FORM_BYTES,
  type Forms,
  type Labrador,
  type Sums,
  type Vecs,
} from '../../wasm.ts';
import { prepareOmega, prepareTheta, type Seed, samplePsi } from '../challenges.ts';
import { type Placed, portionsOf } from '../columns.ts';
import { NORM_DIGIT_BITS } from '../constants.ts';
import { clearRest, formAt, zeroForms } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import { Links } from '../linkChallenges.ts';
import { centred, type Values, valuesOf } from '../ring.ts';
import { firstRowOfY } from '../shapes.ts';
import { STREAM } from '../transcript.ts';
import type { ItemRows } from './itemRows.ts';
import { sumLifts } from './steps.ts';

/**
 * Writes F of the three lifts on the rows of S and W, except for the links between S and Y. The
 * columns that stay empty have been cleared before.
 *
 * @param sums one for each lift; the inner products of F with s are added
 * @returns yields the progress, from 0 to 1
 */
export function* liftsOfItems(
  lab: Labrador,
  items: ItemRows,
  F: readonly Vecs[],
  s: Vecs,
  sums: Sums,
  jl: Seed,
  seed: Seed,
): Generator<number, void> {
  const { level, width } = items.shape;
  prepareOmega(lab, seed);
  prepareTheta(lab, seed);
  const { length } = items.placesS;
  for (const [i, placed] of items.placesS.entries()) {
    startLifts(lab, items, F, jl, placed.row);
    let done = 0;
    for (const [item, { column, count, number }, t] of items.runsOf(placed)) {
      lab.kernels.liftRun(column, number, t, count, items.parts(item));
      done += count;
      if (t + count >= width) yield (0.95 * (i + done / placed.count)) / length;
    }
  }
  liftsOfNorms(lab, items, F, seed);
  sumLifts(lab, sums, F, s, firstRowOfY(level));
}

const LIFTS = liftsOf(0).count;

/**
 * Items whose products by eta are summed before a reduction: below CRT_PRODUCT / 2 by the norm of a
 * signature.
 */
const RUN = 32;

/**
 * The contribution of the links to the three lifts. With Y = alpha sigma(S), the sum of eta_i tau_t
 * Y_it - sigma(eta_i tau_t alpha_i) S_it is X - sigma(X), where X = sum of eta_i U_i and U_i = sum
 * of tau_t Y_it.
 */
export function liftsOfLinks(lab: Labrador, items: ItemRows, s: Vecs, seed: Seed): Values {
  const { kernels } = lab;
  const { level, width } = items.shape;
  const firstY = firstRowOfY(level);
  return lab.scope(() => {
    const links = new Links(lab, seed, width);
    const present = items.items;
    const U = zeroForms(lab, present.length);
    items.eachItem((item, { row, column, count }, t) => {
      const to = formAt(U, items.placeOf(item));
      const taus = formAt(links.taus, t);
      kernels.addMultiples(to, lab.row(s, firstY + row), column, count, taus);
    });
    const total = zeroForms(lab, LIFTS);
    const eta = lab.coefs(1);
    const [form, sum] = [lab.forms(1).at, lab.forms(1).at];
    for (let k = 0; k < LIFTS; k++) {
      const X = formAt(total, k);
      for (const [from, count] of portionsOf(0, present.length, RUN)) {
        lab.bytes(sum, FORM_BYTES).fill(0);
        for (const [i, item] of present.slice(from, from + count).entries()) {
          links.eta(k, item, eta.at);
          kernels.coefsToForm(form, eta.at);
          kernels.mulForm(form, form, formAt(U, from + i));
          kernels.addForm(sum, sum, form);
        }
        kernels.formToCoefs(eta.at, sum);
        kernels.coefsToForm(form, eta.at);
        kernels.addForm(X, X, form);
      }
      kernels.sigmaForm(form, X);
      kernels.subForm(X, X, form);
    }
    const lifts = lab.coefs(LIFTS);
    kernels.formsToCoefs(lifts.at, total.at, LIFTS);
    return valuesOf(lab, lifts);
  });
}

/**
 * Writes phi of all rows into F[0] and the room after it: the lifts, each times its coefficient,
 * and the links on S and Y. At this point the rows of Y can use the room of the other lifts.
 *
 * @param beta beta_k, then 1
 * @returns yields the progress, from 0 to 1
 */
export function* combineItems(
  lab: Labrador,
  items: ItemRows,
  F: readonly Vecs[],
  phi: Vecs,
  seed: Seed,
  beta: Forms,
): Generator<number, void> {
  const { kernels } = lab;
  const { level, width } = items.shape;
  const firstY = firstRowOfY(level);
  const mark = kernels.mark();
  const links = new Links(lab, seed, width);
  const onY = lab.forms(items.items.length);
  const onS = lab.forms(items.items.length);
  for (const [place, item] of items.items.entries()) {
    const [y, s] = [formAt(onY, place), formAt(onS, place)];
    links.combined(item, items.alpha(item), beta, y, s);
    if (place % 64 === 0) yield (0.3 * place) / items.items.length;
  }
  const write = (to: number, placed: Placed, multiples: Forms, factors: Forms): void => {
    for (const [item, { column, count }, t] of items.runsOf(placed)) {
      const of = formAt(multiples, items.placeOf(item));
      kernels.multiplesToVec(to, column, count, of, formAt(factors, t));
    }
  };
  const staging = lab.vecs(1, phi.columns);
  const placedIn = new Map(items.placesS.map((placed) => [placed.row, placed]));
  for (let row = 0; row < firstY; row++) {
    const rows = F.map((vecs) => lab.row(vecs, row));
    const placed = placedIn.get(row);
    if (placed !== undefined) {
      clearRest(lab, staging, placed.count);
      write(staging.at, placed, onS, links.sigmaTaus);
      const used = { ...phi, blocks: Math.ceil((placed.column + placed.count) / BLOCK_COLUMNS) };
      lab.combine(used, row, [...rows, staging.at], beta);
    } else lab.combine(phi, row, rows, { ...beta, count: LIFTS });
    yield 0.3 + (0.5 * row) / firstY;
  }
  for (let row = firstY; row < phi.rows; row++) {
    lab.bytes(lab.row(phi, row), phi.stride).fill(0);
  }
  for (const placed of items.placesS) {
    write(lab.row(phi, firstY + placed.row), placed, onY, links.taus);
    yield 0.8 + (0.2 * placed.row) / firstY;
  }
  kernels.reset(mark);
}

/**
 * Passes the values that are constant within a row to the module: the stream, the rows of the
 * lifts, the strides.
 */
function startLifts(
  lab: Labrador,
  items: ItemRows,
  F: readonly Vecs[],
  jl: Seed,
  row: number,
): void {
  const { buffer } = lab.kernels.memory;
  new Uint32Array(buffer, lab.kernels.LIFT.value, 8).set([
    ...jl.nonce(STREAM.projection, 0, 0),
    ...F.map((vecs) => lab.row(vecs, row)),
    ...[items.partsStride, items.shape.width - 1],
  ]);
}

/** Writes psi_i at W_i0 and 2^13 psi_i at W_i1. */
function liftsOfNorms(lab: Labrador, items: ItemRows, F: readonly Vecs[], seed: Seed): void {
  for (const digit of [0, 1] as const) {
    for (const { item, row, column, count } of items.placesW(digit)) {
      lab.scope(() => {
        const psi = lab.coefs(count);
        const values = lab.i64(psi).fill(0n);
        for (const [k, vecs] of F.entries()) {
          for (let i = 0; i < count; i++) {
            samplePsi(lab, seed, k, item + i, psi.at + COEFS_BYTES * i);
            if (digit === 1) values[64 * i] = centred(values[64 * i]! << BigInt(NORM_DIGIT_BITS));
          }
          lab.kernels.coefsToVec(lab.row(vecs, row), column, psi.at, COEFS_BYTES, count);
        }
      });
    }
  }
}
