/**
 * The states of a task and their texts on the wire. `src/middleware/stores/port/task.ts` documents
 * the meanings and the transitions.
 */

export const TASK_STATES = [
  'created',
  'uploaded',
  'waiting',
  'verifying',
  'aggregating',
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const;

export type TaskState = (typeof TASK_STATES)[number];

/** States without transitions. */
const FINAL_STATES = [
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const satisfies readonly TaskState[];

export type FinalState = (typeof FINAL_STATES)[number];
export type UnfinishedState = Exclude<TaskState, FinalState>;

/** The text of each state in the progress record, and in the list. Part of the wire contract. */
export const STATE_TEXTS: Readonly<
  Record<TaskState, { readonly progress: string; readonly list: string }>
> = {
  created: { progress: 'wait for task file upload', list: 'created' },
  uploaded: { progress: 'wait for notification', list: 'uploaded' },
  waiting: { progress: 'wait for falcon signature verify', list: 'waiting' },
  verifying: { progress: 'falcon signature verify', list: 'verifying' },
  aggregating: { progress: 'falcon signature aggregation', list: 'aggregating' },
  completed: { progress: 'completed', list: 'completed' },
  failed: { progress: 'failed', list: 'failed' },
  cancelled: { progress: 'cancelled', list: 'cancelled' },
  expired: { progress: 'expired', list: 'expired' },
};

/** @returns the state of a status text (either of its texts), or null for an unknown text */
export function stateOfText(text: string): TaskState | null {
  const has = (state: TaskState) => Object.values(STATE_TEXTS[state]).includes(text);
  return TASK_STATES.find(has) ?? null;
}

/** @returns whether the state is final */
export function isFinal(state: TaskState): state is FinalState {
  return (FINAL_STATES as readonly TaskState[]).includes(state);
}

/** @returns whether a task with this status text still waits for its file or notification */
export function beforeNotification(status: string): boolean {
  const state = stateOfText(status);
  return state === 'created' || state === 'uploaded';
}
