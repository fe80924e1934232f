/**
 * API keys: 256 random bits with a prefix for secret scanners. A key is shown once, when it is
 * created. The store has only its SHA-256 (a random key needs no slow hash), so a stolen store or
 * log does not reveal it.
 */
import { CodedError } from '../../shared/errors.ts';
import { sha256 } from '../../shared/hash.ts';
import { randomBytes } from '../../shared/random.ts';
import { errorText, type Logger } from '../events.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../stores/port/taskStore.ts';

const PREFIX = 'falconry_';
/** Maximum length of an Authorization header; longer ones are not hashed. */
const MAX_KEY_LENGTH = 512;

/** A new key, and its record in the store. */
export interface NewApiKey {
  /** The key itself, which is not stored. */
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** @returns 64 hex digits */
export function hashApiKey(key: string): string {
  return sha256(key).toString('hex');
}

interface Owner {
  readonly name: string;
  readonly clientId?: number;
  readonly ttlMs?: number;
}

/**
 * Creates a key and stores its hash.
 *
 * @param owner `clientId` absent: a new client with the next free number; `ttlMs` absent: the key
 *   never expires
 */
export async function createApiKey(store: ApiKeyStore, owner: Owner): Promise<NewApiKey> {
  const key = newKey();
  const record = await store.putApiKey({ sha256: hashApiKey(key), ...owner });
  if (record === null) throw new Error('two random API keys were equal');
  return { key, record };
}

/**
 * Creates a key that replaces another, which expires after the overlap.
 *
 * @returns null if there is no key with this hash
 */
export async function rotateApiKey(
  store: ApiKeyStore,
  oldSha256: string,
  next: { readonly overlapMs: number; readonly ttlMs?: number },
): Promise<NewApiKey | null> {
  const key = newKey();
  const record = await store.rotateApiKey(oldSha256, { sha256: hashApiKey(key), ...next });
  return record && { key, record };
}

const newKey = () => PREFIX + Buffer.from(randomBytes(32)).toString('base64url');

/**
 * Returns the `authenticate` hook of a service with keys in its own store. For an expired key, it
 * rejects with `UNAUTHENTICATED`, and the message says so.
 *
 * @param onUse called with the hash of each valid key
 */
export function storedKeyAuthentication(store: ApiKeyStore, onUse: (sha256: string) => void) {
  return async (key: string): Promise<{ clientId: number } | null> => {
    if (key === '' || key.length > MAX_KEY_LENGTH) return null;
    const record = await store.findApiKey(hashApiKey(key));
    if (record === null) return null;
    if (record.expired) {
      const message = `The API key expired at ${record.expiresAt}`;
      throw new CodedError('UNAUTHENTICATED', { message });
    }
    onUse(record.sha256);
    return { clientId: record.clientId };
  };
}

const WRITE_EVERY_MS = 60_000;

/**
 * The last uses of API keys: collected here, and written once a minute and at the end, apart from
 * the requests.
 */
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

  /** Notes a use of the key with this hash. */
  note(sha256: string): void {
    this.#used.add(sha256);
  }

  /** Writes the rest. */
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
          // They are written next time.
          for (const sha256 of used) this.#used.add(sha256);
          this.#logger.warn('the last use of keys was not kept', { error: errorText(error) });
        });
    }
    return this.#writing;
  }
}
