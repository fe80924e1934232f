/**
 * When API keys were used last: collected here, and written at most once a minute for each key, and
 * at the end, apart from the requests.
 */
import { describe } from '../describe.ts';
import type { Logger } from '../events.ts';
import type { ApiKeyStore } from '../stores/port/taskStore.ts';

const WRITE_EVERY_MS = 60_000;

export class KeyUses {
  readonly #store: Pick<ApiKeyStore, 'markApiKeysUsed'>;
  readonly #logger: Logger;
  readonly #timer: ReturnType<typeof setInterval>;
  #used = new Set<string>();
  #writing = Promise.resolve();

  constructor(
    store: Pick<ApiKeyStore, 'markApiKeysUsed'>,
    logger: Logger,
    everyMs = WRITE_EVERY_MS,
  ) {
    this.#store = store;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.#write(), everyMs);
    this.#timer.unref();
  }

  /** A key with this hash has just been used. */
  note(sha256: string): void {
    this.#used.add(sha256);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write();
  }

  #write(): Promise<void> {
    const used = this.#used;
    if (used.size > 0) {
      this.#used = new Set();
      this.#writing = this.#writing
        .then(() => this.#store.markApiKeysUsed([...used]))
        .catch((error) => {
          // Next time.
          for (const sha256 of used) this.#used.add(sha256);
          this.#logger.warn('the last use of keys was not kept', { error: describe(error) });
        });
    }
    return this.#writing;
  }
}
