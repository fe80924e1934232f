/** Keys that were worked on in advance. Their inner bytes are reachable from this room only. */
import type { ExpandedSecretKey, ParameterSet, PreparedPublicKey } from './types.ts';

/** The transform of h with its companions, as the module's PREPARED region holds it. */
export class PreparedKey implements PreparedPublicKey {
  readonly parameterSet: ParameterSet;
  readonly #publicKey: Uint8Array;
  readonly #prepared: Uint8Array;

  constructor(parameterSet: ParameterSet, publicKey: Uint8Array, prepared: Uint8Array) {
    this.parameterSet = parameterSet;
    this.#publicKey = publicKey;
    this.#prepared = prepared;
    Object.freeze(this);
  }

  get publicKey(): Uint8Array {
    return this.#publicKey.slice();
  }

  /** The inner bytes, not a copy; undefined if the value is not a prepared key at all. */
  static bytesOf(value: unknown): Uint8Array | undefined {
    return typeof value === 'object' && value !== null && #prepared in value
      ? value.#prepared
      : undefined;
  }
}

/** The FFT basis and the LDL tree, as the module's EXPANDED region holds them. */
export class ExpandedKey implements ExpandedSecretKey {
  readonly parameterSet: ParameterSet;
  #expanded: Uint8Array | undefined;
  declare [Symbol.dispose]: () => void;

  constructor(parameterSet: ParameterSet, expanded: Uint8Array) {
    this.parameterSet = parameterSet;
    this.#expanded = expanded;
  }

  get destroyed(): boolean {
    return this.#expanded === undefined;
  }

  destroy(): void {
    this.#expanded?.fill(0);
    this.#expanded = undefined;
  }

  /**
   * The inner bytes, not a copy; undefined if the value is not an expanded key at all.
   *
   * @throws TypeError if the key was destroyed
   */
  static bytesOf(value: unknown): Uint8Array | undefined {
    if (typeof value !== 'object' || value === null || !(#expanded in value)) return undefined;
    if (value.#expanded === undefined) throw new TypeError('the expanded key was destroyed');
    return value.#expanded;
  }

  static {
    // Engines without explicit resource management have no Symbol.dispose.
    if (typeof Symbol.dispose === 'symbol') {
      Object.defineProperty(ExpandedKey.prototype, Symbol.dispose, {
        value: ExpandedKey.prototype.destroy,
      });
    }
  }
}
