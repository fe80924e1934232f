/** How the states of a task are named and coloured. */
import { isFinal, stateOfText, type TaskState } from '../../../../wire/taskStates.ts';
import { chip, type Tone } from './controls.ts';

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

/** @returns whether nothing more happens to a task with this status text */
export function hasEnded(status: string): boolean {
  const state = stateOfText(status);
  return state !== null && isFinal(state);
}

export function statusChip(status: string): HTMLElement {
  const state = stateOfText(status);
  return chip(state ?? status, state === null ? 'plain' : TONES[state]);
}

/** The phases of a worker. */
const PHASES: Readonly<Record<string, string>> = {
  read: 'Reading the task file',
  verify: 'Verifying signatures',
  aggregate: 'Aggregating',
  store: 'Storing the result',
};

export const phaseWords = (phase: string): string => PHASES[phase] ?? phase;
