/**
 * Bytes that clients are about to store. An upload reserves them before they are written, so that
 * concurrent uploads cannot exceed a client's limit together. Only uploads of this process are
 * counted here; the store makes the final check, in one transaction.
 */
import { deferred } from '../../shared/wait.ts';

interface Account {
  /** Bytes reserved at present. */
  heldBytes: number;
  /** Total bytes of closed reservations. */
  releasedBytes: number;
  reservations: number;
  /** Those whose files have no known length, the oldest first. */
  readonly growing: Set<Reservation>;
}

export class Reservations {
  readonly #accounts = new Map<number, Account>();

  /** Bytes that a client has reserved. */
  heldBytes(clientId: number): number {
    return this.#accounts.get(clientId)?.heldBytes ?? 0;
  }

  /**
   * Opens an empty reservation. Close it after the store has counted the bytes.
   *
   * @param maxBytes limit of the client, for stored and reserved bytes together
   * @param storedBytes returns the client's stored bytes, without the file to be replaced
   */
  open(clientId: number, maxBytes: number, storedBytes: () => Promise<number>): Reservation {
    let account = this.#accounts.get(clientId);
    if (account === undefined) {
      account = { heldBytes: 0, releasedBytes: 0, reservations: 0, growing: new Set() };
      this.#accounts.set(clientId, account);
    }
    account.reservations++;
    const onClose = () => {
      if (--account.reservations === 0) this.#accounts.delete(clientId);
    };
    return new Reservation({ account, maxBytes, storedBytes, onClose });
  }
}

interface ReservationOptions {
  readonly account: Account;
  readonly maxBytes: number;
  readonly storedBytes: () => Promise<number>;
  readonly onClose: () => void;
}

/** The bytes of one upload. */
export class Reservation {
  readonly #options: ReservationOptions;
  readonly #ending = new AbortController();
  readonly #end = deferred<void>();
  #bytes = 0;
  #closed = false;

  /** Aborted when an older reservation needs the room: end the upload, then `close`. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  constructor(options: ReservationOptions) {
    this.#options = options;
  }

  /**
   * Makes the reservation at least this large. One for a file without a known length gives
   * `wantedBytes`: it gets as much if there is room, so the store is asked less often, and without
   * room it ends newer ones of its kind, so the oldest of many succeed.
   *
   * @returns false if there is no room for `bytes`, or after `close`
   */
  async cover(bytes: number, wantedBytes?: number): Promise<boolean> {
    const { account, maxBytes, storedBytes } = this.#options;
    const grows = wantedBytes !== undefined;
    if (grows && !this.#closed) account.growing.add(this);
    while (bytes > this.#bytes) {
      const releasedBefore = account.releasedBytes;
      const stored = await storedBytes();
      if (this.#closed) return false;
      // Bytes released meanwhile may have been stored after the store answered.
      const unsure = account.releasedBytes - releasedBefore;
      const others = account.heldBytes - this.#bytes;
      const room = maxBytes - stored - others - unsure;
      if (bytes <= room) {
        const taken = Math.min(Math.max(bytes, wantedBytes ?? 0), room);
        account.heldBytes += taken - this.#bytes;
        this.#bytes = taken;
      } else if (unsure === 0) {
        const newest = grows ? [...account.growing].at(-1) : this;
        if (newest === undefined || newest === this) return false;
        newest.#ending.abort();
        await newest.#end.promise;
      }
    }
    return !this.#closed;
  }

  /** Frees the bytes. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { account, onClose } = this.#options;
    account.heldBytes -= this.#bytes;
    account.releasedBytes += this.#bytes;
    account.growing.delete(this);
    this.#end.resolve();
    onClose();
  }
}
