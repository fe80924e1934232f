/** The projection by ternary rows (docs/protocol.md, 5.3), and its transpose in the lifts (8.4). */
import type { Labrador, Vecs } from '../wasm.ts';
import { prepareOmega, type Seed, startProjection } from './challenges.ts';
import type { Placed } from './columns.ts';
import type { Values } from './ring.ts';
import { PROJECTIONS } from './shapes.ts';

/** What chooses the matrix of a level. */
export interface Projection {
  readonly seed: Seed;
  readonly counter: number;
}

/** y: the sum over these places alone. */
export function projected(
  lab: Labrador,
  places: readonly Placed[],
  { seed, counter }: Projection,
): Values {
  return lab.scope(() => {
    const at = lab.room(8 * PROJECTIONS, true);
    startProjection(seed, counter);
    for (const { at: from, number, count } of places) {
      lab.kernels.projectPolys(at, from, number, count);
    }
    return new BigInt64Array(lab.kernels.memory.buffer as ArrayBuffer, at, PROJECTIONS).slice();
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
