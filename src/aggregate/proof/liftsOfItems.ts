/** The linear forms of the lifts at level 0 (docs/protocol.md, 7.6), in the columns of a share. */
import type { Forms, Labrador, Sums, Vecs } from '../wasm.ts';
import {
  COEFS,
  clearRest,
  prepareOmega,
  prepareTheta,
  type Seed,
  SUMS,
  sampleEta,
  samplePsi,
  vecsToFill,
} from './challenges.ts';
import { type ItemRows, W_BITS } from './itemRows.ts';
import { STREAM } from './labels.ts';
import type { Projection } from './projection.ts';
import { centred } from './ring.ts';
import { firstRows, LIFTS } from './shapes.ts';

/** Polynomials that are sampled before they are transformed. */
const RUN = 64;

/**
 * F of the three lifts on the rows of S and W, of which the columns that stay empty are zero. On the rows of Y it is eta: that is
 * used and not kept, since it would be half of all memory and is quickly made again.
 *
 * @param sums of the three lifts, which gain their inner products with s
 * @returns how much of the work is done, now and then
 */
export function* liftsOfItems(
  lab: Labrador,
  items: ItemRows,
  F: readonly Vecs[],
  s: Vecs,
  sums: Sums,
  projection: Projection,
  seed: Seed,
): Generator<number, void> {
  const { level, width } = items.shape;
  prepareOmega(lab, seed);
  prepareTheta(lab, seed);
  const firstY = firstRows(level)[2]!;
  const { length } = items.placesS;
  const mark = lab.kernels.mark();
  const eta = vecsToFill(lab, s.columns, new Array<number>(LIFTS).fill(s.columns));
  for (const [i, placed] of items.placesS.entries()) {
    clearRest(lab, eta, placed.count);
    startLifts(lab, items, F, eta, projection, seed, placed.row);
    let done = 0;
    for (const [item, { column, count, number }, t] of items.runsOf(placed)) {
      lab.kernels.liftRun(column, number, t, count, items.parts(item), items.alpha(item));
      done += count;
      if (t + count >= width) yield (0.95 * (i + done / placed.count)) / length;
    }
    addProducts(lab, sums, (k) => lab.row(eta, k), lab.row(s, firstY + placed.row), placed.count);
  }
  lab.kernels.reset(mark);
  liftsOfNorms(lab, items, F, seed);
  // rows lie behind each other, so that all of them are one long row
  addProducts(lab, sums, (k) => F[k]!.at, s.at, 32 * firstY * s.blocks);
}

/** sums of the lifts += <row k, s>, `columns` columns of each. */
function addProducts(
  lab: Labrador,
  sums: Sums,
  row: (k: number) => number,
  s: number,
  columns: number,
): void {
  for (let k = 0; k < LIFTS; k++) {
    lab.kernels.products(sums.at + SUMS * k, row(k), 1, 0, s, 1, 0, Math.ceil(columns / 32));
  }
}

/** phi on the rows of Y: the eta of every place, made again, by the lifts' coefficients. @returns how much is done, now and then */
export function* combineEta(
  lab: Labrador,
  items: ItemRows,
  phi: Vecs,
  seed: Seed,
  coefficients: Forms,
): Generator<number, void> {
  const firstY = firstRows(items.shape.level)[2]!;
  const mark = lab.kernels.mark();
  const eta = vecsToFill(lab, phi.columns, new Array<number>(LIFTS).fill(phi.columns));
  const run = lab.coefs(RUN);
  const addresses = Array.from({ length: LIFTS }, (_, k) => lab.row(eta, k));
  for (let row = firstY; row < phi.rows; row++) {
    lab.bytes(lab.row(phi, row), phi.stride).fill(0);
  }
  for (const [i, { row, count, number }] of items.placesS.entries()) {
    clearRest(lab, eta, count);
    for (const [k, to] of addresses.entries()) {
      for (let from = 0; from < count; from += RUN) {
        const here = Math.min(RUN, count - from);
        for (let at = 0; at < here; at++) {
          sampleEta(lab, seed, k, number + from + at, run.at + COEFS * at);
        }
        lab.kernels.coefsToVec(to, from, run.at, COEFS, here);
      }
    }
    const used = { ...phi, blocks: Math.ceil(count / 32) };
    lab.combine(used, firstY + row, addresses, { ...coefficients, count: LIFTS });
    yield (i + 1) / items.placesS.length;
  }
  lab.kernels.reset(mark);
}

/** Tells the module what stays the same over a row: streams, rows of the lifts, where functionals stand. */
function startLifts(
  lab: Labrador,
  items: ItemRows,
  F: readonly Vecs[],
  eta: Vecs,
  projection: Projection,
  seed: Seed,
  row: number,
): void {
  const { buffer } = lab.kernels.memory;
  const [key, word13, word14] = projection.seed.nonce(STREAM.projection, 0, projection.counter);
  new Uint32Array(buffer, lab.kernels.LIFT.value, 12).set([
    ...[key, word13, word14, seed.at],
    ...F.map((vecs) => lab.row(vecs, row)),
    ...F.map((_, k) => lab.row(eta, k)),
    ...[items.partsStride, items.shape.width - 1],
  ]);
}

/** psi_i at W_i0 and 2^13 psi_i at W_i1. */
function liftsOfNorms(lab: Labrador, items: ItemRows, F: readonly Vecs[], seed: Seed): void {
  const { kernels } = lab;
  lab.scope(() => {
    const psi = lab.coefs(1);
    const form = lab.forms(1);
    for (const [k, vecs] of F.entries()) {
      for (const digit of [0, 1] as const) {
        for (const { item, row, column } of items.placesW(digit)) {
          const values = lab.i64(psi).fill(0n);
          samplePsi(lab, seed, k, item, psi.at);
          if (digit === 1) values[0] = centred(values[0]! << W_BITS);
          kernels.coefsToForm(form.at, psi.at);
          kernels.storeColumn(lab.row(vecs, row), column, form.at);
        }
      }
    }
  });
}
