/** What all levels send after their first commitments (docs/protocol.md, 5.3 and 8): y, the lifts; and the last challenges. */
import { concat } from '../../../bytes.ts';
import type { Coefs, Forms } from '../../wasm.ts';
import { sampleCs } from '../challenges.ts';
import { encodeProjection, projectionData } from '../encode.ts';
import { ABSORB, SEED } from '../labels.ts';
import { isShort, sentOf } from '../projection.ts';
import type { Values } from '../ring.ts';
import { LAST_RETRY, LIFTS } from '../shapes.ts';
import type { Context } from './context.ts';

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
  for (let counter = 0; counter <= LAST_RETRY; counter++) {
    const y = sentOf(await projection(counter));
    if (!isShort(y, inSq)) continue;
    const field = encodeProjection(y, riceY) ?? context.fail('code of y');
    context.send(Uint8Array.of(counter));
    context.send(field);
    if (more.length > 0) context.send(more);
    context.absorb(ABSORB.y, concat(projectionData(counter, y), more));
    return counter;
  }
  return context.fail('projection');
}

/** Sends and absorbs the lifts but for their constants. */
export function sendLifts(context: Context, lifts: Coefs): void {
  const { lab } = context;
  lab.scope(() => {
    const sent = lab.coefs(LIFTS);
    const values = lab.i64(sent).fill(0n);
    for (let k = 0; k < LIFTS; k++) {
      values.set(lab.i64(lifts).subarray(64 * k + 1, 64 * k + 64), 63 * k);
    }
    const bytes = context.pack(sent).slice(0, Math.ceil((63 * LIFTS * 44) / 8));
    context.send(bytes);
    context.absorb(ABSORB.b, bytes);
  });
}

/** c_a, their NTT forms in `forms`. @returns the seed that they come from */
export function amortisingChallenges(context: Context, forms: Forms): Uint8Array {
  const { lab } = context;
  const bytes = context.transcript.seed(SEED.amortise);
  lab.scope(() => {
    const c = sampleCs(lab, context.seedOf(bytes), forms.count);
    lab.kernels.smallsToForms(forms.at, c.at, c.count);
  });
  return bytes;
}
