/** Makes test items in the worker; they become the task. */
import type { App } from '../app.ts';
import { announce } from '../dom.ts';
import { count, counted } from '../format.ts';
import type { SaltChoice, SetChoice } from '../worker/protocol.ts';
import type { Tell } from './longAction.ts';

export interface WantedItems {
  readonly count: number;
  readonly keys: number;
  readonly set: SetChoice;
  readonly salt: SaltChoice;
}

const USUAL = { count: 120, keys: 12, set: 'falcon512', salt: 'random' } as const;

/** What is made unless something else is wanted. */
export function usualItems({ config: { maxSignatures } }: App): WantedItems {
  const most = (number: number) => Math.min(number, maxSignatures);
  return { ...USUAL, count: most(USUAL.count), keys: most(USUAL.keys) };
}

export async function makeTestItems(
  app: App,
  wanted: WantedItems,
  signal: AbortSignal,
  tell: Tell,
): Promise<void> {
  tell('Loading the library', 0, 0);
  announce('Making test items');
  const summary = await app.worker.call(
    'generate',
    { ...wanted, keys: Math.min(wanted.keys, wanted.count) },
    {
      signal,
      onProgress: ({ what, done, total }) =>
        tell(`${what}: ${count(done)} of ${count(total)}`, done, total),
    },
  );
  app.draft.set(summary);
  announce(`${counted(summary.count, 'test item')} made; every signature verified`);
}
