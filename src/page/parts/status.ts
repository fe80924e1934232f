/** The states of a task in the list's and the record's words, and how they look. */
import { chip, type Tone } from './controls.ts';

/** What the service calls a state: in lists, and in progress records where that differs. */
const STATES = [
  { list: 'created', record: 'wait for task file upload', tone: 'wait' },
  { list: 'uploaded', record: 'wait for notification', tone: 'wait' },
  { list: 'waiting', record: 'wait for falcon signature verify', tone: 'wait' },
  { list: 'verifying', record: 'falcon signature verify', tone: 'busy' },
  { list: 'aggregating', record: 'falcon signature aggregation', tone: 'busy' },
  { list: 'completed', record: 'completed', tone: 'good' },
  { list: 'failed', record: 'failed', tone: 'bad' },
  { list: 'cancelled', record: 'cancelled', tone: 'plain' },
  { list: 'expired', record: 'expired', tone: 'plain' },
] as const satisfies readonly { list: string; record: string; tone: Tone }[];

export type StateName = (typeof STATES)[number]['list'];

/** Every state, in order. */
export const STATE_NAMES: readonly StateName[] = STATES.map(({ list }) => list);

/** @returns the short name of a status text of either kind; null for a text that is neither. */
export function stateOf(text: string): StateName | null {
  return STATES.find(({ list, record }) => list === text || record === text)?.list ?? null;
}

/** @returns whether nothing more happens to a task with this text. */
export function hasEnded(text: string): boolean {
  const state = stateOf(text);
  return state !== null && ['completed', 'failed', 'cancelled', 'expired'].includes(state);
}

export function statusChip(text: string): HTMLElement {
  const state = STATES.find(({ list, record }) => list === text || record === text);
  return chip(state?.list ?? text, state?.tone ?? 'plain');
}

/** What a worker is doing, in words. */
const PHASES: Readonly<Record<string, string>> = {
  read: 'Reading the task file',
  verify: 'Verifying signatures',
  aggregate: 'Aggregating',
  store: 'Storing the result',
};

export const phaseWords = (phase: string): string => PHASES[phase] ?? phase;
