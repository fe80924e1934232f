/** What the library offers for one parameter set: the interface, in words. */
import type { FalconLengths } from './params.ts';
import type {
  BatchItem,
  ExpandedSecretKey,
  InvalidBatchItem,
  KeyPair,
  NoOptions,
  ParameterSet,
  PreparedPublicKey,
  SignOptions,
} from './types.ts';
import type { ModuleName } from './wasm.ts';

/**
 * One parameter set. All functions are synchronous and need no `this`.
 *
 * Arguments are Uint8Arrays of any kind and realm, Buffer included; what comes back is always a
 * plain Uint8Array in fresh memory of the caller's own. Every function may throw, beside what it
 * names:
 *
 * - TypeError for an array that is detached from its memory, or changes its length meanwhile
 * - CodedError `NO_WEBASSEMBLY` or `OUT_OF_MEMORY` where the host cannot run the module,
 *   `REENTERED` if it is called by code that runs within another call (a getRandomValues that
 *   signs), `INTERNAL` for a fault of the machine
 * - the engine's own error when its stack is full; no secret stays behind then, either
 */
export interface Falcon {
  readonly name: ParameterSet;
  readonly lengths: FalconLengths;
  /** Which of the two modules it runs on. */
  readonly module: ModuleName;

  /**
   * Makes a key pair.
   *
   * @param seed 48 secret bytes; the same seed gives the same keys on every machine. Default: fresh
   *   randomness
   * @throws TypeError or RangeError if the seed is not 48 bytes; CodedError `NO_RANDOMNESS` if the
   *   host has none
   * @example
   * ```ts
   * const { publicKey, secretKey } = falcon512.keygen();
   * ```
   */
  keygen(seed?: Uint8Array): KeyPair;

  /**
   * The public key that belongs to a secret key.
   *
   * @throws TypeError or RangeError if it is not a secret key of this parameter set; what `sign`
   *   refuses is refused here
   */
  getPublicKey(secretKey: Uint8Array): Uint8Array<ArrayBuffer>;

  /**
   * Signs with fresh randomness: two signatures of one message differ.
   *
   * @returns the detached signature
   * @throws TypeError or RangeError for wrong types, lengths, keys, unknown options; CodedError
   *   `NO_RANDOMNESS` if the host has none, `INTERNAL` if the check of the new signature failed
   * @example
   * ```ts
   * const signature = falcon512.sign(message, secretKey);
   * const fixedLength = falcon512.sign(message, secretKey, { format: 'padded' });
   * ```
   */
  sign(
    message: Uint8Array,
    secretKey: Uint8Array | ExpandedSecretKey,
    options?: SignOptions,
  ): Uint8Array<ArrayBuffer>;

  /**
   * Judges a detached signature of any form. Whatever the bytes of signature and key are, the answer
   * is true or false.
   *
   * @param options there are none yet; any that is named throws
   * @throws TypeError if an argument is not bytes (or a key prepared for this parameter set), or for
   *   unknown options
   * @example
   * ```ts
   * falcon512.verify(signature, message, publicKey); // true
   * ```
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array | PreparedPublicKey,
    options?: NoOptions,
  ): boolean;

  readonly attached: FalconAttached;

  /**
   * Does the work of signing that depends on the key alone. The object holds secrets: destroy it
   * when done. It is frozen, and keeps nothing of the caller's memory.
   *
   * @throws TypeError or RangeError if it is not a secret key of this parameter set
   * @example
   * ```ts
   * using key = falcon512.expandSecretKey(secretKey);
   * const signatures = messages.map((message) => falcon512.sign(message, key));
   * ```
   */
  expandSecretKey(secretKey: Uint8Array): ExpandedSecretKey;

  /**
   * Does the work of verification that depends on the key alone. The object is frozen, and keeps
   * nothing of the caller's memory.
   *
   * @throws TypeError or RangeError if it is not a public key of this parameter set
   * @example
   * ```ts
   * const key = falcon512.preparePublicKey(publicKey);
   * falcon512.verify(signature, message, key); // true
   * ```
   */
  preparePublicKey(publicKey: Uint8Array): PreparedPublicKey;

  /**
   * Judges many signatures. Items that share a key share its preparation when they hold the same
   * object. Every field of every item is read once, before the first is judged.
   *
   * @param items at most 4,194,304
   * @returns the invalid items with their reasons, by ascending index; `[]` says that all are valid
   * @throws TypeError if the items are not { signature, message, publicKey } of bytes; RangeError
   *   for too many
   * @example
   * ```ts
   * falcon512.verifyBatch([{ signature, message, publicKey }]); // []
   * ```
   */
  verifyBatch(items: readonly BatchItem[]): InvalidBatchItem[];
}

/** Signature and message in one, in NIST's frame. */
export interface FalconAttached {
  /**
   * @returns the message with its signature
   * @throws as `sign`
   * @example
   * ```ts
   * const sealed = falcon512.attached.seal(message, secretKey);
   * falcon512.attached.open(sealed, publicKey); // the message
   * ```
   */
  seal(
    message: Uint8Array,
    secretKey: Uint8Array | ExpandedSecretKey,
    options?: Omit<SignOptions, 'format'>,
  ): Uint8Array<ArrayBuffer>;

  /**
   * @param options there are none yet; any that is named throws
   * @returns a copy of the message
   * @throws CodedError `INVALID_SIGNATURES` if it is not signed under this key; TypeError as
   *   `verify`
   */
  open(
    sealed: Uint8Array,
    publicKey: Uint8Array | PreparedPublicKey,
    options?: NoOptions,
  ): Uint8Array<ArrayBuffer>;
}

export interface FalconOptions {
  /**
   * Which module to run on. Default: `relaxed` where the engine has relaxed SIMD, else `plain`.
   * Results are the same.
   */
  readonly module?: ModuleName;
}
