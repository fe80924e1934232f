/** The interface of the library for one parameter set, with its documentation. */
import type { FalconDeterministic } from './det.ts';
import type { FalconLengths } from './params.ts';
import type {
  BatchItem,
  ByteStream,
  ExpandedSecretKey,
  InvalidBatchItem,
  KeyPair,
  NoOptions,
  ParameterSet,
  PreparedPublicKey,
  Profile,
  SignOptions,
  VerifyOptions,
} from './types.ts';
import type { ModuleName } from './wasm.ts';

/**
 * One parameter set. All functions are synchronous and need no `this`.
 *
 * Arguments are Uint8Arrays of any kind and realm, Buffer included. Results are always plain
 * Uint8Arrays in fresh memory that belongs to the caller. In addition to what it documents, every
 * function may throw:
 *
 * - TypeError for an array that is detached from its memory, or changes its length during the call
 * - CodedError `NO_WEBASSEMBLY` or `OUT_OF_MEMORY` where the host cannot run the module,
 *   `REENTERED` if it is called from within another call (a getRandomValues that signs), `INTERNAL`
 *   for a fault of the machine
 * - the engine's own error when its stack is full; no secret is left behind in that case either
 */
export interface Falcon {
  readonly name: ParameterSet;
  /** How it hashes; keys are those of every profile of the parameter set. */
  readonly profile: Profile;
  readonly lengths: FalconLengths;
  /** Which of the two modules it runs on. */
  readonly module: ModuleName;

  /**
   * Generates a key pair.
   *
   * @param seed 8 to 128 secret bytes; the same seed gives the same keys on every machine, those
   *   of the reference. A key is as hard to guess as its seed: use 48 bytes of randomness, 32 at
   *   least. Default: 48 bytes of fresh randomness
   * @throws TypeError or RangeError if the seed is not 8 to 128 bytes; CodedError `NO_RANDOMNESS`
   *   if the host has no secure randomness
   * @example
   * ```ts
   * const { publicKey, secretKey } = falcon512.keygen();
   * ```
   */
  keygen(seed?: Uint8Array): KeyPair;

  /**
   * The public key that belongs to a secret key.
   *
   * @throws TypeError or RangeError if it is not a secret key of this parameter set; refuses every
   *   key that `sign` refuses
   */
  getPublicKey(secretKey: Uint8Array): Uint8Array<ArrayBuffer>;

  /**
   * Signs with fresh randomness: two signatures of one message differ (unless their salt is
   * `derived`).
   *
   * @returns the detached signature
   * @throws TypeError or RangeError for wrong types, lengths, keys, unknown options; CodedError
   *   `NO_RANDOMNESS` if the host has no secure randomness, `NOT_REPRODUCIBLE` (derived salts only)
   *   if it does not compute what it must, `INTERNAL` if the new signature did not verify
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
   * Verifies a detached signature of any form. Returns false for any invalid signature or key;
   * `verifyBatch` reports the reason.
   *
   * @param options `format` accepts that one only
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
   * Signs a message of any length, in constant memory: it is read once, piece by piece. The
   * signature is one as of `sign`. Other calls may be made meanwhile; the key and options are read
   * before the stream is. If the call fails, the stream is cancelled.
   *
   * @param options as for `sign`. A salt derived from the message is not possible in one pass
   * @throws TypeError or RangeError as `sign`, or for a stream that is none or gives anything but
   *   bytes; what the stream fails with (all as the promise's rejection)
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
   * Verifies a signature of a message of any length, in constant memory. The stream is read to its
   * end, whatever the signature is; no byte of it may be trusted before the answer.
   *
   * @throws as `verify`; TypeError for a stream that is none or gives anything but bytes; what the
   *   stream fails with (all as the promise's rejection)
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

  /** The same keys in deterministic Falcon, as Algorand uses it: round 3, whatever `profile`. */
  readonly det: FalconDeterministic;

  /**
   * Does the part of signing that depends on the key alone. The result holds secrets: destroy it
   * when done. It is frozen and does not refer to the caller's memory.
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
   * Does the part of verification that depends on the key alone. The result is frozen and does not
   * refer to the caller's memory.
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
   * Verifies many signatures. Items that hold the same key object share its preparation. Every
   * field of every item is read once, before the first one is verified.
   *
   * @param items at most 4,194,304
   * @param options `format` accepts that one only, for all items
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

/** Signature and message in one byte string, in NIST's frame. */
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
   * @param options there are none yet; any option throws
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
   * The module to use. Default: `relaxed` if the engine has relaxed SIMD, else `plain`. Both give
   * the same results.
   */
  readonly module?: ModuleName;
  /**
   * How salt and message become a point. Default `round3`. Signatures of another profile have no
   * constant-time form.
   */
  readonly profile?: 'round3' | 'eth-falcon';
}
