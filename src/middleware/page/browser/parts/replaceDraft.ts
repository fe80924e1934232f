/** Asks before a draft is replaced. */
import type { App } from '../app.ts';
import { counted } from '../format.ts';
import { confirm } from './controls.ts';

/** @returns whether there is no draft that would be lost, or the user lets it go */
export async function mayReplace(app: App): Promise<boolean> {
  await app.restored;
  const { summary } = app.draft;
  if (summary === null) return true;
  const text = `It has ${counted(summary.count, 'item')} (${summary.name}), which will be removed.`;
  return confirm('Replace your task?', text, 'Replace it');
}
