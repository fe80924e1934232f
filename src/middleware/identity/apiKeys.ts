/**
 * API keys: 256 random bits behind a prefix that secret scanners can look for. A key is shown once,
 * when it is created; the store has only its SHA-256 (a random key needs no slow hash), so neither
 * a stolen store nor a log reveals it.
 */
import { CodedError } from '../../shared/errors.ts';
import { sha256 } from '../hash.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../stores/port/taskStore.ts';

const PREFIX = 'falconry_';
/** The longest Authorization header; longer ones are not even hashed. */
const MAX_KEY_LENGTH = 512;

/** A new key, with the record that the store keeps of it. */
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
 * Creates a key in the place of another, which ends after the overlap.
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

const newKey = () =>
  PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

/**
 * The `authenticate` hook of a service with its keys in its own store. It rejects with
 * `UNAUTHENTICATED` for a key that has expired, which is told to its owner.
 *
 * @param onUse hears the hash of each good key
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
