/**
 * Precomputed keys. Only this folder can access their contents: no property, constructor or patched
 * prototype exposes them.
 */
import { wipe } from '../shared/bytes.ts';
import { slice } from '../shared/intrinsics.ts';
import type { FalconParams } from './params.ts';
import type { ExpandedSecretKey, ParameterSet, PreparedPublicKey } from './types.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The contents of a prepared key. */
export interface Prepared {
  readonly params: FalconParams;
  readonly publicKey: Bytes;
  /**
   * The transform of h with its Barrett companions, in the layout of the module's PREPARED region.
   */
  readonly prepared: Bytes;
}

/** Returns the contents of a prepared key, not a copy; undefined for any other value. */
export let insidePrepared: (value: unknown) => Prepared | undefined;

export class PreparedKey implements PreparedPublicKey {
  readonly parameterSet: ParameterSet;
  readonly #inside: Prepared;

  /** Takes ownership of the arrays. */
  constructor(inside: Prepared) {
    this.parameterSet = inside.params.name;
    this.#inside = inside;
    Object.freeze(this);
  }

  get publicKey(): Bytes {
    const { params, publicKey } = this.#inside;
    return slice(publicKey, 0, params.lengths.publicKey);
  }

  static {
    insidePrepared = (value) =>
      typeof value === 'object' && value !== null && #inside in value ? value.#inside : undefined;
    close(PreparedKey.prototype);
  }
}

/** The contents of an expanded key. */
export interface Expanded {
  readonly params: FalconParams;
  /** The FFT basis and the LDL tree, in the layout of the module's EXPANDED region. */
  readonly expanded: Bytes;
}

/**
 * Returns the contents of an expanded key, not a copy; undefined for any other value.
 *
 * @throws TypeError if the key was destroyed
 */
export let insideExpanded: (value: unknown) => Expanded | undefined;

export class ExpandedKey implements ExpandedSecretKey {
  readonly parameterSet: ParameterSet;
  #inside: Expanded | undefined;
  declare [Symbol.dispose]: () => void;

  /** Takes ownership of the array. */
  constructor(inside: Expanded) {
    this.parameterSet = inside.params.name;
    this.#inside = inside;
    Object.freeze(this);
  }

  get destroyed(): boolean {
    return this.#inside === undefined;
  }

  destroy(): void {
    if (this.#inside !== undefined) wipe(this.#inside.expanded);
    this.#inside = undefined;
  }

  static {
    insideExpanded = (value) => {
      if (typeof value !== 'object' || value === null || !(#inside in value)) return undefined;
      if (value.#inside === undefined) throw new TypeError('the expanded key was destroyed');
      return value.#inside;
    };
    const { prototype } = ExpandedKey;
    // Engines without explicit resource management have no Symbol.dispose.
    if (typeof Symbol.dispose === 'symbol') {
      Object.defineProperty(prototype, Symbol.dispose, { value: prototype.destroy });
    }
    close(prototype);
  }
}

/** Removes the reference to the constructor, and freezes the methods. */
function close(prototype: object): void {
  Reflect.deleteProperty(prototype, 'constructor');
  Object.freeze(prototype);
}
