/** The bytes of a client: reserved before they are stored; what a client at its limit is told. */
import { ProblemError } from '../http/problems.ts';
import { resultExpiry } from './records.ts';
import type { Reservation } from './reservations.ts';
import type { Deps } from './route.ts';

/** Finished tasks are removed within so many seconds of their end. */
const SWEEP_SECONDS = 30;

/** A reservation for a file of this client, which takes the place of one of `replacedBytes`. */
export async function reserve(
  deps: Deps,
  clientId: number,
  replacedBytes = 0,
): Promise<Reservation> {
  const { store, limits } = deps.runtime.ports;
  const { storedBytes } = await limits.of(clientId);
  const stored = async () => (await store.usage(clientId)).storedBytes - replacedBytes;
  return deps.reservations.open(clientId, storedBytes, stored);
}

/**
 * What a client is told that has no room for so many more bytes: what it uses, what it may use, and
 * what helps. Retry-After is there only if something is known to expire then, and the file could
 * fit.
 */
export async function storageQuota(
  { settings, runtime, reservations }: Deps,
  clientId: number,
  bytes: number,
): Promise<ProblemError> {
  const { store, limits } = runtime.ports;
  const { storedBytes: allowed } = await limits.of(clientId);
  const { storedBytes: used } = await store.usage(clientId);
  const running = reservations.heldBytes(clientId);
  const facts =
    `Your files take ${used} of ${allowed} bytes` +
    (running > 0 ? `, and uploads under way have reserved ${running}` : '');
  const members = { stored_bytes: used, allowed_bytes: allowed };
  if (bytes > allowed) {
    const message = `${facts}. The file alone is larger than all that is allowed.`;
    return new ProblemError('STORAGE_QUOTA', { message, members });
  }
  const oldest = await store.list({ clientId, limit: 1, state: 'completed' });
  const task = oldest.tasks[0];
  const expiry = task ? resultExpiry(task, settings.retentionMs) : null;
  const advice = expiry === null ? '' : `, or wait: the oldest result is removed at ${expiry}`;
  const message = `${facts}. Delete finished tasks to make room${advice}.`;
  if (expiry === null) return new ProblemError('STORAGE_QUOTA', { message, members });
  const seconds = Math.ceil((Date.parse(expiry) - Date.now()) / 1000);
  const headers = { 'retry-after': String(Math.max(0, seconds) + SWEEP_SECONDS) };
  return new ProblemError('STORAGE_QUOTA', { message, members, headers });
}
