/**
 * The bytes that clients are about to store. An upload reserves them before they are written, so
 * that uploads at the same time cannot exceed a client's limit together. Only those of this process
 * are known here; the store has the last word, with all bytes of the client in one transaction.
 */
import { ProblemError } from '../http/problems.ts';
import { resultExpiry } from './records.ts';
import type { Deps } from './route.ts';

interface Account {
  /** Bytes that are reserved now. */
  heldBytes: number;
  /** Bytes whose reservations have ended, ever since. */
  releasedBytes: number;
  reservations: number;
}

export class Reservations {
  readonly #accounts = new Map<number, Account>();

  /** Bytes that a client has reserved. */
  heldBytes(clientId: number): number {
    return this.#accounts.get(clientId)?.heldBytes ?? 0;
  }

  /**
   * Begins with no bytes; must be closed, after the store has counted the bytes.
   *
   * @param maxBytes of the client, stored and reserved together
   * @param storedBytes asks the store what the client has, without what the upload replaces
   */
  open(clientId: number, maxBytes: number, storedBytes: () => Promise<number>): Reservation {
    let account = this.#accounts.get(clientId);
    if (account === undefined) {
      account = { heldBytes: 0, releasedBytes: 0, reservations: 0 };
      this.#accounts.set(clientId, account);
    }
    account.reservations++;
    const onClose = () => {
      if (--account.reservations === 0) this.#accounts.delete(clientId);
    };
    return new Reservation(account, maxBytes, storedBytes, onClose);
  }
}

/** The bytes of one upload. */
export class Reservation {
  readonly #account: Account;
  readonly #maxBytes: number;
  readonly #storedBytes: () => Promise<number>;
  readonly #onClose: () => void;
  #bytes = 0;
  #closed = false;

  constructor(
    account: Account,
    maxBytes: number,
    storedBytes: () => Promise<number>,
    onClose: () => void,
  ) {
    this.#account = account;
    this.#maxBytes = maxBytes;
    this.#storedBytes = storedBytes;
    this.#onClose = onClose;
  }

  /**
   * Makes the reservation at least this large, and up to `wantedBytes` if there is room, so as to
   * ask less often, and so that of many uploads at the limit the first ones get through.
   *
   * @returns false without room for `bytes`, or after the close
   */
  async cover(bytes: number, wantedBytes = bytes): Promise<boolean> {
    const account = this.#account;
    while (bytes > this.#bytes) {
      const releasedBefore = account.releasedBytes;
      const stored = await this.#storedBytes();
      if (this.#closed) return false;
      // What was released meanwhile may have been stored after the store looked.
      const unsure = account.releasedBytes - releasedBefore;
      const others = account.heldBytes - this.#bytes;
      const room = this.#maxBytes - stored - others - unsure;
      if (bytes <= room) {
        const taken = Math.min(Math.max(bytes, wantedBytes), room);
        account.heldBytes += taken - this.#bytes;
        this.#bytes = taken;
      } else if (unsure === 0) return false;
    }
    return !this.#closed;
  }

  /** Frees the bytes; may be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#account.heldBytes -= this.#bytes;
    this.#account.releasedBytes += this.#bytes;
    this.#onClose();
  }
}

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
