/** Signs with the keys of a KeyStore; caches the expanded keys that were used last. */
import type { ExpandedSecretKey, SignOptions } from '../../falcon/index.ts';
import type { SigningSalt } from '../optionTable.ts';
import { algorithm, type KeyStore } from './keyStore.ts';

export interface Signed {
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
}

interface Held {
  readonly publicKey: Uint8Array;
  readonly expanded: ExpandedSecretKey;
  sign(message: Uint8Array): Uint8Array;
}

/** An expanded key takes up to 120 kB, and is a secret: few are kept. */
const MAX_HELD = 16;

export class Signer {
  readonly #keys: KeyStore;
  readonly #perClient: boolean;
  readonly #options: SignOptions;
  readonly #held = new Map<number | null, Promise<Held>>();

  constructor(keys: KeyStore, perClient: boolean, salt: SigningSalt = 'random') {
    this.#keys = keys;
    this.#perClient = perClient;
    this.#options = salt === 'derived' ? { salt } : {};
  }

  async sign(clientId: number, message: Uint8Array): Promise<Signed> {
    const held = await this.#hold(this.#perClient ? clientId : null);
    return { signature: held.sign(message), publicKey: held.publicKey };
  }

  /**
   * Reads or creates the common key, so that problems show at start and not at the first request.
   */
  async prepare(): Promise<void> {
    if (!this.#perClient) await this.#hold(null);
  }

  /** Clears every expanded key. */
  async close(): Promise<void> {
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const result of await Promise.allSettled(held)) {
      if (result.status === 'fulfilled') result.value.expanded.destroy();
    }
  }

  #hold(owner: number | null): Promise<Held> {
    const known = this.#held.get(owner);
    if (known !== undefined) {
      // The last used key goes last; the first entry is the one to drop.
      this.#held.delete(owner);
      this.#held.set(owner, known);
      return known;
    }
    const loading = this.#load(owner);
    this.#held.set(owner, loading);
    loading.catch(() => this.#held.delete(owner));
    if (this.#held.size > MAX_HELD) this.#dropOldest();
    return loading;
  }

  async #load(owner: number | null): Promise<Held> {
    const key = await this.#keys.signingKey(owner);
    const falcon = algorithm(key.parameterSet);
    const expanded = falcon.expandSecretKey(key.secretKey);
    const sign = (message: Uint8Array) => falcon.sign(message, expanded, this.#options);
    return { publicKey: key.publicKey, expanded, sign };
  }

  #dropOldest(): void {
    const [owner, held] = this.#held.entries().next().value!;
    this.#held.delete(owner);
    // Later, since a caller may be between `await #hold` and its synchronous use of the key.
    setTimeout(() => held.then(({ expanded }) => expanded.destroy()).catch(() => {}), 1000).unref();
  }
}
