/** The interface of the library for one parameter set, with its documentation. */
import type { ModuleName } from '../shared/wasmLoader.ts';
import type { FalconDeterministic } from './det.ts';
import type { FalconLengths } from './params.ts';
import type {
  BatchItem,
  ByteStream,
  ExpandedSecretKey,
  InvalidBatchItem,
  KeygenOptions,
  KeyPair,
  NoOptions,
  ParameterSet,
  PreparedPublicKey,
  Profile,
  SignOptions,
  VerifyOptions,
} from './types.ts';

/**
 * One parameter set. All functions are synchronous and need no `this`.
 *
 * Arguments are Uint8Arrays, including subclasses such as Buffer and those of other realms. Results
 * are always plain Uint8Arrays in fresh memory owned by the caller. In addition to its documented
 * errors, every function may throw:
 *
 * - TypeError for a detached array, or one whose length changes during the call
 * - CodedError `NO_WEBASSEMBLY` or `OUT_OF_MEMORY` if the host cannot run the module, `REENTERED`
 *   if it is called after the host broke off another call (the time limit of a `vm`), until other
 *   work has run, `INTERNAL` for a machine fault
 * - the engine's own error on stack overflow; secrets are wiped in that case, too
 */
export interface Falcon {
  readonly name: ParameterSet;
  /** The hash-to-point profile. Keys are the same in all profiles of a parameter set. */
  readonly profile: Profile;
  readonly lengths: FalconLengths;
  /** The build of the WebAssembly module that it runs on. */
  readonly module: ModuleName;

  /**
   * Generates a key pair.
   *
   * @param seed 32 to 128 secret bytes. The same seed gives the same keys on every machine, as
   *   in the reference implementation. A key is only as hard to guess as its seed: use 48
   *   random bytes. Default: 48 bytes of fresh randomness
   * @throws TypeError or RangeError if the seed has another length, or for unknown options;
   *   CodedError `NO_RANDOMNESS` if the host has no secure randomness
   * @example
   * ```ts
   * const { publicKey, secretKey } = falcon512.keygen();
   * ```
   */
  keygen(seed?: Uint8Array, options?: KeygenOptions): KeyPair;

  /**
   * Computes the public key of a secret key.
   *
   * @throws TypeError or RangeError if it is not a secret key of this parameter set; rejects every
   *   key that `sign` rejects
   */
  getPublicKey(secretKey: Uint8Array): Uint8Array<ArrayBuffer>;

  /**
   * Signs with fresh randomness: two signatures of the same message differ (unless their salt is
   * `derived`).
   *
   * @returns the detached signature
   * @throws TypeError or RangeError for wrong types, lengths, keys, unknown options; CodedError
   *   `NO_RANDOMNESS` if the host has no secure randomness, `NOT_REPRODUCIBLE` (derived salts only)
   *   if the host does not reproduce known answers, `INTERNAL` if the new signature does not verify
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
   * Verifies a detached signature in any format. Returns false for any invalid signature or key;
   * `verifyBatch` reports the reason.
   *
   * @param options `format`: the only format to accept
   * @throws TypeError if an argument is not bytes (or a key prepared for this parameter set), or
   *   for unknown options; RangeError for an unknown format
   * @example
   * ```ts
   * falcon512.verify(signature, message, publicKey); // true
   * falcon512.verify(signature, message, publicKey, { format: 'padded' }); // false
   * ```
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array | PreparedPublicKey,
    options?: VerifyOptions,
  ): boolean;

  /**
   * Signs a message of any length in constant memory, reading it once, piece by piece. The result
   * is a signature like that of `sign`. The key and options are read before the stream. Other calls
   * may run in the meantime. If the call fails, the stream is cancelled.
   *
   * @param options as for `sign`, except that the salt cannot be derived: that would take two
   *   passes
   * @throws (as the promise's rejection) TypeError or RangeError as `sign`, or if it is not a
   *   stream of bytes; any error of the stream
   * @example
   * ```ts
   * const signature = await falcon512.signStream(file.stream(), secretKey);
   * ```
   */
  signStream(
    stream: ByteStream,
    secretKey: Uint8Array | ExpandedSecretKey,
    options?: SignOptions,
  ): Promise<Uint8Array<ArrayBuffer>>;

  /**
   * Verifies a signature of a message of any length, in constant memory. Always reads the stream to
   * its end. Do not trust any byte of it before the promise resolves to true.
   *
   * @throws (as the promise's rejection) as `verify`; TypeError if it is not a stream of bytes; any
   *   error of the stream
   * @example
   * ```ts
   * await falcon512.verifyStream(signature, file.stream(), publicKey); // true
   * ```
   */
  verifyStream(
    signature: Uint8Array,
    stream: ByteStream,
    publicKey: Uint8Array | PreparedPublicKey,
    options?: VerifyOptions,
  ): Promise<boolean>;

  readonly attached: FalconAttached;

  /**
   * Deterministic Falcon with the same keys, as Algorand uses it. Its profile is always round 3,
   * regardless of `profile`.
   */
  readonly det: FalconDeterministic;

  /**
   * Precomputes the part of signing that depends only on the key. The result holds secrets: destroy
   * it after use. It is frozen and does not reference the caller's memory.
   *
   * @throws TypeError or RangeError if it is not a secret key of this parameter set
   * @example
   * ```ts
   * const key = falcon512.expandSecretKey(secretKey);
   * const signatures = messages.map((message) => falcon512.sign(message, key));
   * key.destroy();
   * ```
   */
  expandSecretKey(secretKey: Uint8Array): ExpandedSecretKey;

  /**
   * Precomputes the part of verification that depends only on the key. The result is frozen and
   * does not reference the caller's memory.
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
   * Verifies many signatures. The preparation of a key object is shared by all items that use it.
   * Every field of every item is read once, before the first item is verified.
   *
   * @param items at most 4,194,304
   * @param options `format`: the only format to accept
   * @returns the invalid items with their reasons, by ascending index; `[]` if all are valid
   * @throws TypeError if the items are not { signature, message, publicKey } of bytes; RangeError
   *   for too many, or an unknown format
   * @example
   * ```ts
   * falcon512.verifyBatch([{ signature, message, publicKey }]); // []
   * ```
   */
  verifyBatch(items: readonly BatchItem[], options?: VerifyOptions): InvalidBatchItem[];
}

/** Attached signatures: signature and message in one byte string, in NIST's frame. */
export interface FalconAttached {
  /**
   * Signs a message and returns both together.
   *
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
   * Verifies an attached signature and returns its message.
   *
   * @param options none yet; any option throws
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
   * The build of the module to use. Default: `relaxed` if the engine has relaxed SIMD, else
   * `plain`. Both give the same results.
   */
  readonly module?: ModuleName;
  /**
   * The hash-to-point profile. Default `round3`. Signatures of other profiles have no constant-time
   * format.
   */
  readonly profile?: 'round3' | 'eth-falcon';
}
