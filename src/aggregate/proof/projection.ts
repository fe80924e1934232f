/** The projection by rows of bits (docs/protocol.md, 5.3), what is sent of it, and its transpose in the lifts (8.4). */
import type { Labrador, Vecs } from '../wasm.ts';
import { prepareOmega, type Seed, startProjection } from './challenges.ts';
import type { Placed } from './columns.ts';
import type { Values } from './ring.ts';
import { PROJECTIONS, ROWS_OF_PROJECTION } from './shapes.ts';

/** What chooses the matrix of a level. */
export interface Projection {
  readonly seed: Seed;
  readonly counter: number;
}

/** The squared norm of x that is accepted, by inSq; signs give 264 on average. */
const ACCEPTED = 288;

/** y as it is sent: y'_j = y_j - floor(y_264 / 2), and y_264 behind them; all are below 2^53. */
export function sentOf(y: Values): number[] {
  const half = y[PROJECTIONS]! >> 1n;
  return Array.from(y, (value, j) => Number(j < PROJECTIONS ? value - half : value));
}

/** y from what was sent. */
export function projectionOf(sent: ArrayLike<number>): number[] {
  const sum = sent[PROJECTIONS]!;
  const half = Math.floor(sum / 2);
  return Array.from(sent, (value, j) => (j < PROJECTIONS ? value + half : sum));
}

/** Whether the projection by signs, x_j = 2 y_j - y_264, is short enough. Exact while its squares sum up to less than 2^53. */
export function isShort(sent: ArrayLike<number>, inSq: number): boolean {
  const odd = sent[PROJECTIONS]! & 1;
  let sum = 0;
  for (let j = 0; j < PROJECTIONS; j++) sum += (2 * sent[j]! - odd) ** 2;
  return sum <= ACCEPTED * inSq;
}

/** y: the sum over these places alone. */
export function projected(
  lab: Labrador,
  places: readonly Placed[],
  { seed, counter }: Projection,
): Values {
  return lab.scope(() => {
    const at = lab.room(8 * ROWS_OF_PROJECTION, true);
    startProjection(seed, counter);
    for (const { at: from, number, count } of places) {
      lab.kernels.projectPolys(at, from, number, count);
    }
    const { buffer } = lab.kernels.memory;
    return new BigInt64Array(buffer as ArrayBuffer, at, ROWS_OF_PROJECTION).slice();
  });
}

/** The projection's part of the three lifts, on places whose form it alone is. @returns how much is done, now and then */
export function* collapse(
  lab: Labrador,
  F: readonly Vecs[],
  places: readonly Placed[],
  projection: Projection,
  liftSeed: Seed,
): Generator<number, void> {
  prepareOmega(lab, liftSeed);
  for (const [i, { row, column, number, count }] of places.entries()) {
    startProjection(projection.seed, projection.counter);
    lab.kernels.collapseToVecs(
      lab.row(F[0]!, row),
      lab.row(F[1]!, row),
      lab.row(F[2]!, row),
      column,
      number,
      count,
    );
    yield (i + 1) / places.length;
  }
}
