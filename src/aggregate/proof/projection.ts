/** The projection by ternary rows (docs/protocol.md, 5.3), and its transpose in the lifts (8.4). */
import type { Labrador, Vecs } from '../wasm.ts';
import { prepareOmega, type Seed, startProjection } from './challenges.ts';
import type { Placed } from './columns.ts';
import type { Context } from './context.ts';
import { ABSORB } from './labels.ts';
import { RiceWriter } from './rice.ts';
import type { Values } from './ring.ts';
import { LAST_RETRY, PROJECTIONS } from './shapes.ts';

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

/**
 * The first counter whose y passes; sends and absorbs it, with `more` behind.
 *
 * @param projection y of all places with a counter
 */
export async function sendProjection(
  context: Context,
  { inSq, riceY }: { inSq: number; riceY: number },
  projection: (counter: number) => Values | Promise<Values>,
  more: Uint8Array = new Uint8Array(0),
): Promise<number> {
  const bound = 144n * BigInt(inSq);
  for (let counter = 0; counter <= LAST_RETRY; counter++) {
    const y = await projection(counter);
    if (y.reduce((sum, x) => sum + x * x, 0n) > bound) continue;
    const rice = new RiceWriter();
    if (!rice.write(y, riceY)) context.fail('code of y');
    const data = new Uint8Array(1 + 4 * PROJECTIONS + more.length);
    const view = new DataView(data.buffer);
    data[0] = counter;
    for (const [j, x] of y.entries()) view.setInt32(1 + 4 * j, Number(x), true);
    data.set(more, 1 + 4 * PROJECTIONS);
    context.send(Uint8Array.of(counter));
    context.send(rice.bytes());
    if (more.length > 0) context.send(more);
    context.absorb(ABSORB.y, data);
    return counter;
  }
  return context.fail('projection');
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
