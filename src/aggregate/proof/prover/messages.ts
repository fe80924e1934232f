/**
 * The messages that all levels have in common (docs/protocol.md, 5.3, 8.2 and 9.2), and the last
 * challenges.
 */
import type { Coefs, Forms } from '../../wasm.ts';
import { fillRowChallenges } from '../challenges.ts';
import { DEGREE, LAST_RETRY, LIFT_BYTES, LIFTS } from '../constants.ts';
import { isShortProjection, sentOf } from '../projection.ts';
import type { Values } from '../ring.ts';
import { ABSORB, dataOfY, SEED } from '../transcript.ts';
import type { Context } from './context.ts';

/**
 * Tries the counters in turn, and absorbs the first projection that is short enough.
 *
 * @param project gives y of all places for a counter
 * @param w the functionals of level 0
 * @returns the counter, and y in the form that is sent
 */
export async function sendProjection(
  context: Context,
  { inSq }: { readonly inSq: number },
  project: (counter: number) => Values | Promise<Values>,
  w: readonly number[] = [],
): Promise<{ counter: number; y: readonly number[] }> {
  for (let counter = 0; counter <= LAST_RETRY; counter++) {
    const y = sentOf(await project(counter));
    if (!isShortProjection(y, inSq)) continue;
    context.absorb(ABSORB.y, dataOfY({ counter, y, w }));
    return { counter, y };
  }
  return context.fail('projection');
}

/** Absorbs the lifts without their constant coefficients. @returns the field b */
export function sendLifts(context: Context, lifts: Coefs): Uint8Array {
  const { lab } = context;
  return lab.scope(() => {
    const sent = lab.coefs(LIFTS);
    const values = lab.i64(sent).fill(0n);
    for (let k = 0; k < LIFTS; k++) {
      const lift = lab.i64(lifts).subarray(DEGREE * k + 1, DEGREE * (k + 1));
      values.set(lift, (DEGREE - 1) * k);
    }
    const bytes = context.pack(sent).slice(0, LIFT_BYTES);
    context.absorb(ABSORB.b, bytes);
    return bytes;
  });
}

/** Fills `c` with the NTT forms of c_a of all rows. @returns the seed that they come from */
export function drawRowChallenges(context: Context, c: Forms): Uint8Array {
  const seed = context.transcript.seed(SEED.amortise);
  context.lab.scope(() => fillRowChallenges(context.lab, context.seedOf(seed), c));
  return seed;
}
