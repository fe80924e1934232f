/** Displays the states of tasks, and ends tasks. */
import { isFinal, stateOfText, type TaskState } from '../../../../wire/taskStates.ts';
import type { App } from '../app.ts';
import { announce } from '../dom.ts';
import { chip, confirm, type Tone } from './controls.ts';

const TONES: Readonly<Record<TaskState, Tone>> = {
  created: 'wait',
  uploaded: 'wait',
  waiting: 'wait',
  verifying: 'busy',
  aggregating: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'plain',
  expired: 'plain',
};

/** Returns true if a task with this status text is final. */
export function hasEnded(status: string): boolean {
  const state = stateOfText(status);
  return state !== null && isFinal(state);
}

export function statusChip(status: string): HTMLElement {
  const state = stateOfText(status);
  return chip(state ?? status, state === null ? 'plain' : TONES[state]);
}

const PHASES: Readonly<Record<string, string>> = {
  read: 'Reading the task file',
  verify: 'Verifying signatures',
  aggregate: 'Aggregating',
  store: 'Storing the result',
  parts: 'Parts that are done',
};

export const phaseWords = (phase: string): string => PHASES[phase] ?? phase;

/** Deletes a task that has ended, or cancels another one, after confirmation. */
export async function endTask(app: App, id: string, hasEnded: boolean): Promise<boolean> {
  const confirmed = hasEnded
    ? await confirm(`Delete task ${id}?`, 'This also deletes its result.', 'Delete')
    : await confirm(`Cancel task ${id}?`, 'The service stops working on it.', 'Cancel the task');
  if (!confirmed) return false;
  await (hasEnded ? app.client.remove(id) : app.client.cancel(id));
  announce(hasEnded ? 'Deleted' : 'Cancelled');
  return true;
}
