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
  /** Every signature. */
  readonly signature: number;
  /** The longest context. */
  readonly context: 255;
}

export interface FnDsaSignOptions extends FnDsaMessageOptions {
  /** Replaces the host's randomness, 40 secret bytes. Only for tests with known answers. */
  readonly testSeed?: Uint8Array;
}

/** A statement of an aggregate whose profile is `fn-dsa-draft-2026-07`. */
export interface FnDsaStatement {
  /** in round-3 encoding */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** the 64-byte message representative */
  readonly message: Uint8Array<ArrayBuffer>;
}

/** An item of such an aggregate. */
export interface FnDsaItem extends FnDsaStatement {
  /** in the padded form of round 3 */
  readonly signature: Uint8Array<ArrayBuffer>;
}

/**
 * One parameter set of the draft. All functions are synchronous and need no `this`; arguments,
 * results and further errors are as for `Falcon`.
 */
export interface FnDsaDraft {
  readonly name: 'fnDsaDraft512' | 'fnDsaDraft1024';
  /** What it follows. */
  readonly draft: 'rust-fn-dsa 0.4.0, July 2026';
  readonly parameterSet: ParameterSet;
  readonly profile: 'fn-dsa-draft-2026-07';
  readonly lengths: FnDsaDraftLengths;

  /**
   * Generates a key pair.
   *
   * @param seed 32 secret bytes; the same seed gives the keys of rust-fn-dsa. Default: fresh
   *   randomness
   * @throws TypeError or RangeError if the seed is not 32 bytes; CodedError `NO_RANDOMNESS` if the
   *   host has no secure randomness
   */
  keygen(seed?: Uint8Array): KeyPair;

  /**
   * The public key that belongs to a secret key.
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
   * What an aggregate of the profile states for a message and a key.
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
   * The same with its signature, to be aggregated.
   *
   * @throws TypeError or RangeError as `statement`, and if the bytes do not encode a signature.
   *   Whether it is valid is seen when it is aggregated
   */
  item(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
    options?: FnDsaMessageOptions,
  ): FnDsaItem;
}

/** What of the draft needs no secret. */
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
