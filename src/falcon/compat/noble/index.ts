/**
 * Falcon with the interface of @noble/post-quantum: the entry `falconry/noble`. Each object is
 * assignable to noble's type `Signer` and has the same argument order, lengths and errors as
 * noble's object of the same name, so that migrating changes one import. docs/moving/from-noble.md
 * lists the differences.
 *
 * | object | `sign` writes and `verify` accepts |
 * |---|---|
 * | `falcon512`, `falcon1024` | the compressed encoding |
 * | `falcon512padded`, `falcon1024padded` | the padded one |
 */
import { shake256 } from '@noble/hashes/sha3.js';
import { abytes } from '@noble/hashes/utils.js';
import { copyBytes, readOptions } from '../../../shared/arguments.ts';
import { ascii, concat, wipe } from '../../../shared/bytes.ts';
import {
  type Falcon,
  type SignOptions,
  falcon512 as whole512,
  falcon1024 as whole1024,
} from '../../index.ts';
import { SALT_BYTES, SAMPLER_SEED_BYTES } from '../../params.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Byte lengths, with noble's names. */
export interface NobleLengths {
  readonly seed: number;
  readonly publicKey: number;
  readonly secretKey: number;
  /** Length of `extraEntropy`. */
  readonly signRand: number;
  /** Length of every signature; absent if lengths vary. */
  readonly signature?: number;
}

export interface NobleKeys {
  readonly info: { readonly type: 'falcon' };
  readonly lengths: NobleLengths;
  /** @param seed 48 bytes. Default: fresh randomness */
  keygen(seed?: Uint8Array): { publicKey: Bytes; secretKey: Bytes };
  getPublicKey(secretKey: Uint8Array): Bytes;
}

/** Signature and message in one byte string. */
export interface NobleAttached extends NobleKeys {
  seal(msg: Uint8Array, secretKey: Uint8Array, opts?: NobleSignOptions): Bytes;
  /** @throws Error if it is not signed under this key */
  open(sig: Uint8Array, publicKey: Uint8Array, opts?: NobleVerifyOptions): Bytes;
}

export interface NobleFalcon extends NobleKeys {
  /**
   * @throws TypeError, RangeError for wrong types and lengths; Error for an invalid secret key, or
   *   a `context`
   */
  sign(msg: Uint8Array, secretKey: Uint8Array, opts?: NobleSignOptions): Bytes;
  /** @throws TypeError for wrong types or unknown options; Error for a `context` */
  verify(
    sig: Uint8Array,
    msg: Uint8Array,
    publicKey: Uint8Array,
    opts?: NobleVerifyOptions,
  ): boolean;
  readonly attached: NobleAttached;
}

const HEDGE_LABEL = ascii('falconry noble extraEntropy v1');

type NobleFormat = 'compressed' | 'padded';
const FORMAT_BYTES = { compressed: Uint8Array.of(0), padded: Uint8Array.of(1) } as const;

/**
 * Converts noble's options to those of the library's `sign`. Repeated calls must not produce two
 * signatures of one point:
 *
 * - `extraEntropy: false` derives salt and coins from key and message (`salt: 'derived'`), the same
 *   for both formats;
 * - given entropy, salt and sampler seed are derived from it, the key, the message and the format.
 *   Without the format, an attempt that fits one format but not the other would lead to a second
 *   signature.
 *
 * Source: SHAKE256(label ‖ format ‖ extraEntropy ‖ secret key ‖ message), 88 bytes
 */
function optionsOf(
  format: NobleFormat,
  message: Bytes,
  secretKey: Bytes,
  options: unknown,
): SignOptions {
  const { extraEntropy, random } = checkSigningOptions(options);
  if (random !== undefined) {
    // Copies, each before the next call: a generator may return the same array again.
    const next = (name: string, length: number) =>
      copyBytes(name, abytes(random(length), length, name));
    const salt = next('nonce', SALT_BYTES);
    return { format, testSeed: { salt, samplerSeed: next('seed', SAMPLER_SEED_BYTES) } };
  }
  if (extraEntropy === undefined) return { format };
  if (extraEntropy === false) return { format, salt: 'derived' };
  abytes(extraEntropy, SAMPLER_SEED_BYTES, 'opts.extraEntropy');
  const sponge = shake256.create({ dkLen: SALT_BYTES + SAMPLER_SEED_BYTES });
  const parts = [HEDGE_LABEL, FORMAT_BYTES[format], extraEntropy, secretKey, message];
  try {
    for (const part of parts) sponge.update(part);
    const out = sponge.digest();
    const testSeed = { salt: out.subarray(0, SALT_BYTES), samplerSeed: out.subarray(SALT_BYTES) };
    return { format, testSeed };
  } finally {
    sponge.destroy();
  }
}

/** Signs with noble's argument order and checks. */
function signed(
  falcon: Falcon,
  format: NobleFormat,
  msg: Uint8Array,
  secretKey: Uint8Array,
  options: unknown,
): { message: Bytes; signature: Bytes } {
  const message = copyBytes('msg', abytes(msg, undefined, 'msg'));
  const length = falcon.lengths.secretKey;
  const key = copyBytes('secretKey', abytes(secretKey, length, 'secretKey'));
  try {
    const read = optionsOf(format, message, key, options);
    try {
      const signature = knowing(() => falcon.sign(message, key, read));
      return { message, signature };
    } finally {
      if (read.testSeed !== undefined) wipe(read.testSeed.samplerSeed);
    }
  } finally {
    wipe(key);
  }
}

/** Translates the library's error for an invalid secret key of the right length to noble's. */
function knowing<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    if (cause instanceof RangeError && cause.message.startsWith('"secretKey"')) {
      throw new Error('invalid secretKey', { cause });
    }
    throw cause;
  }
}

function keysOf(falcon: Falcon, lengths: NobleLengths): NobleKeys {
  return {
    info: Object.freeze({ type: 'falcon' }),
    lengths: Object.freeze(lengths),
    keygen(seed) {
      if (seed !== undefined) abytes(seed, falcon.lengths.seed, 'seed');
      return falcon.keygen(seed);
    },
    getPublicKey(secretKey) {
      abytes(secretKey, falcon.lengths.secretKey, 'secretKey');
      return knowing(() => falcon.getPublicKey(secretKey));
    },
  };
}

const isSigned = (
  falcon: Falcon,
  format: NobleFormat,
  sig: Uint8Array,
  msg: Uint8Array,
  publicKey: Uint8Array,
): boolean =>
  falcon.verify(
    abytes(sig, undefined, 'signature'),
    abytes(msg, undefined, 'msg'),
    abytes(publicKey, undefined, 'publicKey'),
    { format },
  );

/** NIST's frame. */
const compressedFrame = (falcon: Falcon) => ({
  seal(msg: Uint8Array, secretKey: Uint8Array, opts?: NobleSignOptions): Bytes {
    const { message, signature } = signed(falcon, 'compressed', msg, secretKey, opts);
    const body = signature.subarray(1 + SALT_BYTES);
    const length = 1 + body.length;
    return concat(
      Uint8Array.of(length >> 8, length & 0xff),
      signature.subarray(1, 1 + SALT_BYTES),
      message,
      Uint8Array.of(signature[0]! - 0x10),
      body,
    );
  },
  open(sealed: Bytes, publicKey: Uint8Array): Bytes {
    return falcon.attached.open(sealed, publicKey);
  },
});

/** The frame of padded signatures: the signature, then the message. */
const paddedFrame = (falcon: Falcon) => ({
  seal(msg: Uint8Array, secretKey: Uint8Array, opts?: NobleSignOptions): Bytes {
    const { message, signature } = signed(falcon, 'padded', msg, secretKey, opts);
    return concat(signature, message);
  },
  open(sealed: Bytes, publicKey: Uint8Array): Bytes {
    const message = sealed.slice(falcon.lengths.signaturePadded);
    const signature = sealed.subarray(0, falcon.lengths.signaturePadded);
    if (!isSigned(falcon, 'padded', signature, message, publicKey)) {
      throw new Error('invalid signature');
    }
    return message;
  },
});

function createNoble(falcon: Falcon, format: NobleFormat): NobleFalcon {
  const { seed, publicKey, secretKey, signaturePadded } = falcon.lengths;
  const lengths = { seed, publicKey, secretKey, signRand: SAMPLER_SEED_BYTES };
  const frame = format === 'padded' ? paddedFrame(falcon) : compressedFrame(falcon);
  return Object.freeze({
    ...keysOf(falcon, format === 'padded' ? { ...lengths, signature: signaturePadded } : lengths),
    sign: (msg, secretKey, opts) => signed(falcon, format, msg, secretKey, opts).signature,
    verify(sig, msg, publicKey, opts) {
      checkVerifyOptions(opts);
      return isSigned(falcon, format, sig, msg, publicKey);
    },
    attached: Object.freeze({
      ...keysOf(falcon, lengths),
      seal: frame.seal,
      open(sig, publicKey, opts) {
        checkVerifyOptions(opts);
        const sealed = copyBytes('signature', abytes(sig, undefined, 'signature'));
        return frame.open(sealed, abytes(publicKey, undefined, 'publicKey'));
      },
    } satisfies NobleAttached),
  } satisfies NobleFalcon);
}

/** Falcon-512, compressed. */
export const falcon512: NobleFalcon = /* @__PURE__ */ createNoble(whole512, 'compressed');
/** Falcon-512, padded: every signature has 666 bytes. */
export const falcon512padded: NobleFalcon = /* @__PURE__ */ createNoble(whole512, 'padded');
/** Falcon-1024, compressed. */
export const falcon1024: NobleFalcon = /* @__PURE__ */ createNoble(whole1024, 'compressed');
/** Falcon-1024, padded: every signature has 1280 bytes. */
export const falcon1024padded: NobleFalcon = /* @__PURE__ */ createNoble(whole1024, 'padded');

/** noble's `VerOpts`. */
export interface NobleVerifyOptions {
  /** Not supported by Falcon: any value but undefined throws. */
  readonly context?: Uint8Array;
}

/** noble's `SigOpts`, and the option that only its Falcon has. */
export interface NobleSignOptions extends NobleVerifyOptions {
  /**
   * 48 bytes, or `false` for zeros: makes the signature a function of these bytes, key and message.
   * Default: fresh randomness.
   */
  readonly extraEntropy?: Uint8Array | false;
  /**
   * Returns 40 bytes for the salt, then 48 for the sampler's seed. Only for known-answer tests:
   * signing two messages with the same bytes reveals the key.
   */
  readonly random?: (length?: number) => Uint8Array;
}

/** @throws TypeError for unknown options, Error for a context */
export function checkVerifyOptions(options: unknown): void {
  refuseContext(readOptions(options, ['context'], 'opts').context);
}

/** @throws TypeError for unknown options or wrong types, Error for a context */
export function checkSigningOptions(
  options: unknown,
): Pick<NobleSignOptions, 'extraEntropy' | 'random'> {
  const read = readOptions(options, ['context', 'extraEntropy', 'random'], 'opts');
  refuseContext(read.context);
  if (read.random !== undefined && typeof read.random !== 'function') {
    throw new TypeError(`"opts.random" expected function, got type=${typeof read.random}`);
  }
  return read as Pick<NobleSignOptions, 'extraEntropy' | 'random'>;
}

function refuseContext(context: unknown): void {
  if (context !== undefined) throw new Error('context is not supported');
}
