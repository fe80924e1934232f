/** The projection by rows of bits (docs/protocol.md, 5.3), and its transpose in the lifts (8.4). */
import type { Labrador, Vecs } from '../../wasm.ts';
import { prepareOmega, type Seed, startProjection } from '../challenges.ts';
import type { Placed } from '../columns.ts';
import { ROWS_OF_PROJECTION } from '../constants.ts';
import type { Values } from '../ring.ts';

/** The choice of a level's matrix. */
export interface Projection {
  readonly seed: Seed;
  readonly counter: number;
}

/** y_0 to y_264: the sums over these places alone. */
export function project(
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

/**
 * Writes F of the three lifts on places where nothing but the projection counts.
 *
 * @returns yields how much is done, from 0 to 1
 */
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
