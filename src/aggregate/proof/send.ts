/** What all levels send after their first commitments (docs/protocol.md, 5.3 and 8): y, the lifts; and the last challenges. */
import type { Coefs, Forms } from '../wasm.ts';
import { sampleCs } from './challenges.ts';
import type { Context } from './context.ts';
import { ABSORB, SEED } from './labels.ts';
import { RiceWriter } from './rice.ts';
import type { Values } from './ring.ts';
import { LAST_RETRY, LIFTS, PROJECTIONS } from './shapes.ts';

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
