/** The linear forms of the lifts at level 0 (docs/protocol.md, 7.6), in the columns of a share. */
import type { Labrador, Vecs } from '../wasm.ts';
import { prepareOmega, prepareTheta, type Seed, samplePsi } from './challenges.ts';
import { type ItemRows, W_BITS } from './itemRows.ts';
import { STREAM } from './labels.ts';
import type { Projection } from './projection.ts';
import { centred } from './ring.ts';
import { firstRows } from './shapes.ts';

/**
 * F of the three lifts, of which the columns that stay empty are zero.
 *
 * @returns how much of the work is done, now and then
 */
export function* liftsOfItems(
  lab: Labrador,
  items: ItemRows,
  F: readonly Vecs[],
  projection: Projection,
  seed: Seed,
): Generator<number, void> {
  const { level, width } = items.shape;
  prepareOmega(lab, seed);
  prepareTheta(lab, seed);
  const firstY = firstRows(level)[2]!;
  const { length } = items.placesS;
  for (const [i, placed] of items.placesS.entries()) {
    startLifts(lab, items, F, projection, seed, placed.row, firstY + placed.row);
    let done = 0;
    for (const [item, { column, count, number }, t] of items.runsOf(placed)) {
      lab.kernels.liftRun(column, number, t, count, items.parts(item), items.alpha(item));
      done += count;
      if (t + count >= width) yield (0.95 * (i + done / placed.count)) / length;
    }
  }
  liftsOfNorms(lab, items, F, seed);
}

/** Tells the module what stays the same over a row: streams, rows of the lifts, where functionals stand. */
function startLifts(
  lab: Labrador,
  items: ItemRows,
  F: readonly Vecs[],
  projection: Projection,
  seed: Seed,
  rowS: number,
  rowY: number,
): void {
  const { buffer } = lab.kernels.memory;
  const [key, word13, word14] = projection.seed.nonce(STREAM.projection, 0, projection.counter);
  new Uint32Array(buffer, lab.kernels.LIFT.value, 12).set([
    ...[key, word13, word14, seed.at],
    ...F.map((vecs) => lab.row(vecs, rowS)),
    ...F.map((vecs) => lab.row(vecs, rowY)),
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
