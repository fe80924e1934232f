/** The interface of the FN-DSA draft for one parameter set, with its documentation. */
import type { KeyPair, ParameterSet } from '../index.ts';
import type { FnDsaMessageOptions } from './fnDsaMessage.ts';

/** Byte lengths of one parameter set. */
export interface FnDsaDraftLengths {
  readonly publicKey: number;
  /** f, g, F and the hash of the public key. */
  readonly secretKey: number;
  /** Seed of `keygen`. */
  readonly seed: 32;
  /** Length of every signature. */
  readonly signature: number;
  /** Maximum length of the context. */
  readonly context: 255;
}

export interface FnDsaSignOptions extends FnDsaMessageOptions {
  /** Replaces the host's randomness, 40 secret bytes. Only for known-answer tests. */
  readonly testSeed?: Uint8Array;
}

/** A statement of an aggregate whose profile is `fn-dsa-draft-2026-07`. */
export interface FnDsaStatement {
  /** In round-3 encoding. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** The 64-byte message representative. */
  readonly message: Uint8Array<ArrayBuffer>;
}

/** An item of such an aggregate. */
export interface FnDsaItem extends FnDsaStatement {
  /** In the padded format of round 3. */
  readonly signature: Uint8Array<ArrayBuffer>;
}

/**
 * One parameter set of the draft. All functions are synchronous and need no `this`; arguments,
 * results and further errors are as for `Falcon`.
 */
export interface FnDsaDraft {
  readonly name: 'fnDsaDraft512' | 'fnDsaDraft1024';
  /** The implementation and date of the draft. */
  readonly draft: 'rust-fn-dsa 0.4.0, July 2026';
  readonly parameterSet: ParameterSet;
  readonly profile: 'fn-dsa-draft-2026-07';
  readonly lengths: FnDsaDraftLengths;

  /**
   * Generates a key pair.
   *
   * @param seed 32 secret bytes. Three of four seeds give the keys of rust-fn-dsa; the others give
   *   another pair of the same stream, since its solver rejects some pairs (f, g). Default: fresh
   *   randomness
   * @throws TypeError or RangeError if the seed is not 32 bytes; CodedError `NO_RANDOMNESS` if the
   *   host has no secure randomness
   */
  keygen(seed?: Uint8Array): KeyPair;

  /**
   * Computes the public key of a secret key.
   *
   * @throws TypeError or RangeError if it is not a secret key of this set, or holds the hash of
   *   another public key
   */
  getPublicKey(secretKey: Uint8Array): Uint8Array<ArrayBuffer>;

  /**
   * Signs with fresh randomness, mixed with key and message.
   *
   * @throws TypeError or RangeError for wrong types, lengths, keys, unknown options, a context
   *   above 255 bytes, an unknown hash; CodedError `NO_RANDOMNESS`, `INTERNAL` as `falcon512.sign`
   * @example
   * ```ts
   * const { publicKey, secretKey } = fnDsaDraft512.keygen();
   * const signature = fnDsaDraft512.sign(message, secretKey, { context });
   * fnDsaDraft512.verify(signature, message, publicKey, { context }); // true
   * ```
   */
  sign(
    message: Uint8Array,
    secretKey: Uint8Array,
    options?: FnDsaSignOptions,
  ): Uint8Array<ArrayBuffer>;

  /**
   * Verifies a signature. Returns true or false for any bytes of signature and key.
   *
   * @throws TypeError or RangeError for arguments of wrong types, unknown options, a context above
   *   255 bytes, an unknown hash
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
    options?: FnDsaMessageOptions,
  ): boolean;

  /** @throws TypeError or RangeError if it is not a public key of this set */
  publicKeyToRound3(publicKey: Uint8Array): Uint8Array<ArrayBuffer>;
  /** @throws TypeError or RangeError if it is not a public key of the Falcon set */
  publicKeyFromRound3(publicKey: Uint8Array): Uint8Array<ArrayBuffer>;
  /** @throws TypeError or RangeError if it is not a secret key of this set */
  secretKeyToRound3(secretKey: Uint8Array): Uint8Array<ArrayBuffer>;
  /** @throws TypeError or RangeError if it is not a secret key of the Falcon set */
  secretKeyFromRound3(secretKey: Uint8Array): Uint8Array<ArrayBuffer>;

  /**
   * Returns the statement about a message and a key in an aggregate of the profile.
   *
   * @throws TypeError or RangeError as `verify`, and if it is not a public key of this set
   * @example
   * ```ts
   * const profile = fnDsaDraft512.profile;
   * const item = fnDsaDraft512.item(signature, message, publicKey);
   * const bytes = await aggregate([item], { profile });
   * const statements = [fnDsaDraft512.statement(message, publicKey)];
   * verifyAggregate(bytes, statements, { profiles: [profile] }); // true
   * ```
   */
  statement(
    message: Uint8Array,
    publicKey: Uint8Array,
    options?: FnDsaMessageOptions,
  ): FnDsaStatement;

  /**
   * Returns the statement with its signature, for aggregation.
   *
   * @throws TypeError or RangeError as `statement`, and if the bytes do not encode a signature. Its
   *   validity is checked only on aggregation
   */
  item(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
    options?: FnDsaMessageOptions,
  ): FnDsaItem;
}

/** The part of the draft that needs no secret key. */
export interface FnDsaDraftVerifier
  extends Pick<
    FnDsaDraft,
    | 'name'
    | 'draft'
    | 'parameterSet'
    | 'profile'
    | 'lengths'
    | 'verify'
    | 'publicKeyToRound3'
    | 'publicKeyFromRound3'
    | 'statement'
  > {}
