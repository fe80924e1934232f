/**
 * The memory for request bodies, shared among clients. Each may hold as much as stays free for the
 * others: one greedy client gets a half, n greedy clients get 1/(n+1) each, and as much stays free
 * for the next one (decision 25).
 */
import { CodedError } from '../../shared/errors.ts';

/** The part of the memory that one client may use. */
export interface BodyShare {
  /** @throws CodedError `OVERLOADED` if the client would then hold more than is left free */
  take(bytes: number): void;
  /** Called once, at the end of the request. */
  give(bytes: number): void;
}

export class BodyBudget {
  #freeBytes: number;
  readonly #heldBytes = new Map<number, number>();

  readonly #onGiven: (clientId: number, bytes: number) => void;

  /** @param onGiven is told of every body, with its bytes */
  constructor(maxBytes: number, onGiven: (clientId: number, bytes: number) => void = () => {}) {
    this.#freeBytes = maxBytes;
    this.#onGiven = onGiven;
  }

  /** Bytes that no client holds. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  of(clientId: number): BodyShare {
    return {
      take: (bytes) => {
        const held = (this.#heldBytes.get(clientId) ?? 0) + bytes;
        if (held > this.#freeBytes - bytes) throw new CodedError('OVERLOADED');
        this.#hold(clientId, held, bytes);
      },
      give: (bytes) => {
        this.#hold(clientId, (this.#heldBytes.get(clientId) ?? 0) - bytes, -bytes);
        this.#onGiven(clientId, bytes);
      },
    };
  }

  #hold(clientId: number, held: number, more: number): void {
    this.#freeBytes -= more;
    if (held > 0) this.#heldBytes.set(clientId, held);
    else this.#heldBytes.delete(clientId);
  }
}
