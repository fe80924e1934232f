/** Ids of tasks: digits in a string for callers, a JSON integer of any length on the wire. */
import type { TaskId, TaskIdInput } from './types.ts';

/**
 * The digits of an id.
 *
 * @throws TypeError for another type, RangeError for a string without digits or an inexact number
 */
export function taskId(id: TaskIdInput): TaskId {
  if (typeof id === 'string' || typeof id === 'bigint') {
    const text = String(id);
    if (/^\d{1,30}$/.test(text)) return text;
    throw new RangeError('"id" must be a string of digits');
  }
  if (typeof id !== 'number') {
    throw new TypeError(`"id" must be a string, a number or a bigint, not ${typeof id}`);
  }
  if (Number.isSafeInteger(id) && id >= 0) return String(id);
  throw new RangeError('"id" is not an exact number: pass it as a string or a bigint');
}

/** The id in an answer, or null if there is none. */
export function readId(value: unknown): TaskId | null {
  if (typeof value === 'string') return /^\d{1,30}$/.test(value) ? value : null;
  const exact = typeof value === 'bigint' || Number.isSafeInteger(value);
  return exact && (value as bigint | number) >= 0 ? String(value) : null;
}
