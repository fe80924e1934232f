/** Signs with the keys of a KeyStore; caches the expanded keys that were used last. */
import type { ExpandedSecretKey, SignOptions } from '../../falcon/index.ts';
import type { SigningSalt } from '../options/optionTable.ts';
import { algorithm } from './keyFormat.ts';
import type { KeyStore } from './keyStore.ts';

export interface Signed {
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
}

interface Held {
  readonly revision: string;
  /** When the revision was last looked at. */
  lookedMs: number;
  readonly publicKey: Uint8Array;
  readonly expanded: ExpandedSecretKey;
  sign(message: Uint8Array): Uint8Array;
}

/** An expanded key takes up to 120 kB, and is a secret: few are kept. */
const MAX_HELD = 16;
/** A rotated key is used within this time. */
const LOOK_MS = 1000;

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
    const held = await this.#current(this.#perClient ? clientId : null);
    return { signature: held.sign(message), publicKey: held.publicKey };
  }

  /**
   * Reads or creates the common key, so that problems show at start and not at the first request.
   */
  async prepare(): Promise<void> {
    await this.#keys.open?.();
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

  /** Drops and clears the keys that were exchanged or removed since they were read. */
  async look(): Promise<void> {
    for (const [owner, holding] of [...this.#held]) {
      const held = await holding.catch(() => null);
      if (held !== null) await this.#isCurrent(owner, holding, held);
    }
  }

  /** The key, read again if it was rotated. */
  async #current(owner: number | null): Promise<Held> {
    const holding = this.#hold(owner);
    const held = await holding;
    return (await this.#isCurrent(owner, holding, held)) ? held : this.#hold(owner);
  }

  /** Whether the key is still the one of the store, as of a second ago; if not, it is dropped. */
  async #isCurrent(owner: number | null, holding: Promise<Held>, held: Held): Promise<boolean> {
    if (!this.#keys.revision || performance.now() - held.lookedMs < LOOK_MS) return true;
    held.lookedMs = performance.now();
    if ((await this.#keys.revision(owner)) === held.revision) return true;
    if (this.#held.get(owner) === holding) this.#drop(owner);
    return false;
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
    if (this.#held.size > MAX_HELD) this.#drop(this.#held.keys().next().value!);
    return loading;
  }

  async #load(owner: number | null): Promise<Held> {
    const lookedMs = performance.now();
    const keys = this.#keys;
    // The revision before the key: a key that is exchanged in between is read again.
    let revision = (await keys.revision?.(owner)) ?? '';
    if (keys.revision && revision === '') {
      const made = await keys.signingKey(owner);
      keys.release?.(made);
      revision = await keys.revision(owner);
    }
    const key = await keys.signingKey(owner);
    const falcon = algorithm(key.parameterSet);
    try {
      const expanded = falcon.expandSecretKey(key.secretKey);
      const sign = (message: Uint8Array) => falcon.sign(message, expanded, this.#options);
      return { revision, lookedMs, publicKey: key.publicKey, expanded, sign };
    } finally {
      keys.release?.(key);
    }
  }

  #drop(owner: number | null): void {
    const held = this.#held.get(owner)!;
    this.#held.delete(owner);
    // Later, since a caller may be between `await #hold` and its synchronous use of the key.
    setTimeout(() => held.then(({ expanded }) => expanded.destroy()).catch(() => {}), 1000).unref();
  }
}
