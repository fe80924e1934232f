/**
 * Bytes that clients are about to store. An upload reserves them before they are written, so that
 * concurrent uploads cannot exceed a client's limit together. Only uploads of this process are
 * counted here; the store makes the final check, in one transaction.
 */

interface Account {
  /** Bytes reserved at present. */
  heldBytes: number;
  /** Total bytes of closed reservations. */
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
   * Opens an empty reservation. Close it after the store has counted the bytes.
   *
   * @param maxBytes limit of the client, for stored and reserved bytes together
   * @param storedBytes returns the client's stored bytes, without the file to be replaced
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
  #bytes = 0;
  #closed = false;

  constructor(options: ReservationOptions) {
    this.#options = options;
  }

  /**
   * Makes the reservation at least this large, and up to `wantedBytes` if there is room: so the
   * store is asked less often, and of many uploads at the limit the first ones succeed.
   *
   * @returns false if there is no room for `bytes`, or after `close`
   */
  async cover(bytes: number, wantedBytes = bytes): Promise<boolean> {
    const { account, maxBytes, storedBytes } = this.#options;
    while (bytes > this.#bytes) {
      const releasedBefore = account.releasedBytes;
      const stored = await storedBytes();
      if (this.#closed) return false;
      // Bytes released meanwhile may have been stored after the store answered.
      const unsure = account.releasedBytes - releasedBefore;
      const others = account.heldBytes - this.#bytes;
      const room = maxBytes - stored - others - unsure;
      if (bytes <= room) {
        const taken = Math.min(Math.max(bytes, wantedBytes), room);
        account.heldBytes += taken - this.#bytes;
        this.#bytes = taken;
      } else if (unsure === 0) return false;
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
    onClose();
  }
}
