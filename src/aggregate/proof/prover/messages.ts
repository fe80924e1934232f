/**
 * The messages common to all levels (docs/protocol.md, 5.3, 8.2 and 9.2), and the last challenges.
 */
import type { Projecting, ProjectionBound } from '../../parameters/rows.ts';
import type { Coefs, Forms } from '../../wasm.ts';
import { fillRowChallenges } from '../challenges.ts';
import { DEGREE, LAST_RETRY, PAIRS } from '../constants.ts';
import { type ProjectionFields, projectionsOf } from '../fields.ts';
import { runsOfY } from '../gaussianFields.ts';
import { liftsOf } from '../lifts.ts';
import { isShortProjection, sentOf } from '../projection.ts';
import { ABSORB, dataOfY, SEED } from '../transcript.ts';
import type { Context } from './context.ts';
import { fitsCodes } from './gaussian.ts';
import { hideLifts } from './hidden.ts';
import type { Output } from './output.ts';
import type { Projected } from './project.ts';

/** Returns whether a number is an i32. */
export const isI32 = (x: number): boolean => (x | 0) === x;

/**
 * Tries the counters in turn, each from the same state, until all projections are short enough and
 * have a code for every value; absorbs them.
 *
 * @param project returns the projections of every part for a seed
 * @param w the functionals of level 0
 * @returns the counter, the seed of its matrix, and the projections in the form that is sent
 */
export async function sendProjection(
  context: Context,
  params: Projecting,
  project: (jl: Uint8Array) => readonly Projected[] | Promise<readonly Projected[]>,
  w: readonly number[] = [],
): Promise<{ readonly counter: number; readonly jl: Uint8Array } & ProjectionFields> {
  const { transcript } = context;
  const { st } = transcript;
  for (let counter = 0; counter <= LAST_RETRY; counter++) {
    transcript.st = st;
    context.absorb(ABSORB.counter, Uint8Array.of(counter));
    const jl = transcript.seed(SEED.jl);
    const [first, ...others] = (await project(jl)).map(({ y, ofX }) => {
      return { y: sentOf(y), ...(params.ofX && { yOfX: sentOf(ofX) }) };
    });
    const fields = { ...first!, others };
    const all = projectionsOf(fields).flatMap(({ y, yOfX }) => [
      { y, bound: params as ProjectionBound },
      ...(yOfX === undefined ? [] : [{ y: yOfX, bound: params.ofX! }]),
    ]);
    if (!all.every(({ y }) => y.slice(2 * PAIRS).every(isI32))) break;
    const passes = all.every(
      ({ y, bound }) => isShortProjection(y, bound.inSq) && fitsCodes(y, runsOfY(bound.codeY)),
    );
    if (!passes) continue;
    context.absorb(ABSORB.y, dataOfY({ ...fields, w }));
    return { counter, jl, ...fields };
  }
  return context.fail('projection');
}

/**
 * Absorbs the lifts without the known coefficients, or hides them.
 *
 * @param output absent at the tail
 * @returns the field b
 */
export function sendLifts(context: Context, lifts: Coefs, output?: Output): Uint8Array {
  const { lab } = context;
  if (output !== undefined && output.params.w > 0) {
    const bytes = hideLifts(context, output, lifts);
    context.absorb(ABSORB.b, bytes);
    return bytes;
  }
  return lab.scope(() => {
    const { count, sent, bytes: length } = liftsOf(context.level);
    const packed = lab.coefs(count);
    const values = lab.i64(packed).fill(0n);
    const all = lab.i64(lifts);
    for (let k = 0; k < count; k++) {
      for (const [i, j] of sent.entries()) values[sent.length * k + i] = all[DEGREE * k + j]!;
    }
    const bytes = context.pack(packed).slice(0, length);
    context.absorb(ABSORB.b, bytes);
    return bytes;
  });
}

/** Fills `c` with the NTT forms of c_a of all rows. @returns their seed */
export function drawRowChallenges(context: Context, c: Forms): Uint8Array {
  const seed = context.transcript.seed(SEED.amortise);
  context.lab.scope(() => fillRowChallenges(context.lab, context.seedOf(seed), c));
  return seed;
}
