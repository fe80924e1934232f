/** The projection by rows of bits (docs/protocol.md, 5.3), and its transpose in the lifts (8.4). */
import type { Labrador, Vecs } from '../../wasm.ts';
import { prepareOmega, type Seed, startProjection } from '../challenges.ts';
import type { Placed } from '../columns.ts';
import { PROJECTION_LENGTH } from '../projection.ts';
import type { Values } from '../ring.ts';

/** y_0, y*_0, ..., y_136, y*_136: the sums over these places alone. */
export function project(lab: Labrador, places: readonly Placed[], jl: Seed): Values {
  return lab.scope(() => {
    const at = lab.room(8 * PROJECTION_LENGTH, true);
    startProjection(jl);
    for (const { at: from, number, count } of places) {
      lab.kernels.projectPolys(at, from, number, count);
    }
    const { buffer } = lab.kernels.memory;
    return new BigInt64Array(buffer as ArrayBuffer, at, PROJECTION_LENGTH).slice();
  });
}

/**
 * Writes F of both lifts on places where nothing but the projection counts.
 *
 * @returns yields how much is done, from 0 to 1
 */
export function* collapse(
  lab: Labrador,
  F: readonly Vecs[],
  places: readonly Placed[],
  jl: Seed,
  lift: Seed,
): Generator<number, void> {
  prepareOmega(lab, lift);
  for (const [i, { row, column, number, count }] of places.entries()) {
    startProjection(jl);
    const [v0, v1] = F.map((vecs) => lab.row(vecs, row)) as [number, number];
    lab.kernels.collapseToVecs(v0, v1, column, number, count);
    yield (i + 1) / places.length;
  }
}
