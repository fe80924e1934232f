/**
 * Falcon-512 and Falcon-1024: key generation, signing, verification. One object for each, same shape, same argument order
 * as @noble/post-quantum.
 */
import { abytes } from '../bytes.ts';
import { invalidSeal, seal, unseal } from './attached.ts';
import { Batch, checkItems } from './batch.ts';
import { PreparedKey } from './keys.ts';
import { FALCON_512, FALCON_1024, type FalconLengths, type FalconParams } from './params.ts';
import { expand, keygen, publicKeyOf, sign } from './sign.ts';
import type {
  BatchItem,
  ExpandedSecretKey,
  InvalidBatchItem,
  KeyPair,
  ParameterSet,
  PreparedPublicKey,
  SignOptions,
} from './types.ts';
import { isCompressed, prepareKey, verifyOne } from './verify.ts';
import { bestModule, checkModule, compileAsync, type ModuleName, run, useModule } from './wasm.ts';

export type { FalconLengths } from './params.ts';
export type * from './types.ts';
export {
  createVerifyPool,
  type VerifyPool,
  type VerifyPoolBatchOptions,
  type VerifyPoolOptions,
  type VerifyPoolStats,
} from './verifyPool.ts';
export type { ModuleName } from './wasm.ts';

/** One parameter set. All functions are synchronous and need no `this`. */
export interface Falcon {
  readonly name: ParameterSet;
  readonly lengths: FalconLengths;
  /** Which of the two modules it runs on. */
  readonly module: ModuleName;

  /**
   * Makes a key pair.
   *
   * @param seed 48 secret bytes; the same seed gives the same keys on every machine. Default: fresh randomness
   * @throws TypeError or RangeError if the seed is not 48 bytes
   * @example
   * ```ts
   * const { publicKey, secretKey } = falcon512.keygen();
   * ```
   */
  keygen(seed?: Uint8Array): KeyPair;

  /**
   * The public key that belongs to a secret key.
   *
   * @throws TypeError or RangeError if it is not a secret key of this parameter set
   */
  getPublicKey(secretKey: Uint8Array): Uint8Array;

  /**
   * Signs with fresh randomness: two signatures of one message differ.
   *
   * @returns the detached signature
   * @throws TypeError or RangeError for wrong types, lengths, keys, unknown options
   * @throws CodedError `INTERNAL` if the check of the new signature failed (a fault of the machine)
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
  ): Uint8Array;

  /**
   * Judges a detached signature of any form. Whatever the bytes of signature and key are, the answer is true or false.
   *
   * @throws TypeError if an argument is not bytes (or a key prepared for this parameter set)
   * @example
   * ```ts
   * falcon512.verify(signature, message, publicKey); // true
   * ```
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array | PreparedPublicKey,
  ): boolean;

  readonly attached: FalconAttached;

  /**
   * Does the work of signing that depends on the key alone. The object holds secrets: destroy it when done.
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
   * Does the work of verification that depends on the key alone.
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
   * Judges many signatures. Items that share a key share its preparation when they hold the same object.
   *
   * @returns the invalid items with their reasons, by ascending index; `[]` says that all are valid
   * @throws TypeError if the items are not { signature, message, publicKey } of bytes
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
  ): Uint8Array;

  /**
   * @returns a copy of the message
   * @throws CodedError `INVALID_SIGNATURES` if it is not signed under this key; TypeError as `verify`
   */
  open(sealed: Uint8Array, publicKey: Uint8Array | PreparedPublicKey): Uint8Array;
}

export interface FalconOptions {
  /** Which module to run on. Default: `relaxed` where the engine has relaxed SIMD, else `plain`. Results are the same. */
  readonly module?: ModuleName;
}

const PARAMETER_SETS = /* @__PURE__ */ new Map(
  [FALCON_512, FALCON_1024].map((params) => [params.name, params]),
);

/**
 * The object of a parameter set, for those who want to choose the module. Everybody else imports `falcon512` or
 * `falcon1024`.
 *
 * @throws RangeError for an unknown parameter set or module, or a module that this engine cannot run; TypeError for
 *   unknown options
 */
export function createFalcon(parameterSet: ParameterSet, options: FalconOptions = {}): Falcon {
  const params = PARAMETER_SETS.get(parameterSet);
  if (params === undefined) {
    throw new RangeError('"parameterSet" expected "falcon512" or "falcon1024"');
  }
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('"options" expected an object');
  }
  for (const name of Object.keys(options)) {
    if (name !== 'module') throw new TypeError(`unknown option "${name}"`);
  }
  const module = options.module === undefined ? bestModule() : checkModule(options.module);

  const attached = Object.freeze<FalconAttached>({
    seal(message, secretKey, sealOptions = {}) {
      if (Object.hasOwn(sealOptions, 'format')) throw new TypeError('unknown option "format"');
      return seal(params, message, sign(module, params, message, secretKey, sealOptions));
    },
    open(sealed, publicKey) {
      abytes('sealed', sealed);
      checkPublicKey(params, publicKey);
      const parts = unseal(params, sealed);
      if (parts === undefined) throw invalidSeal();
      const { signature, message } = parts;
      return run(module, false, (machine) => {
        const reason = verifyOne(machine, params, signature, message, publicKey);
        // Zero padding is part of a detached form, not of this one.
        if (reason !== undefined || !isCompressed(machine, params, signature)) throw invalidSeal();
        return message;
      });
    },
  });

  return Object.freeze({
    name: params.name,
    lengths: params.lengths,
    module,
    attached,
    keygen: (seed) => keygen(module, params, seed),
    getPublicKey: (secretKey) => publicKeyOf(module, params, secretKey),
    sign: (message, secretKey, signOptions = {}) =>
      sign(module, params, message, secretKey, signOptions),
    verify(signature, message, publicKey) {
      abytes('signature', signature);
      abytes('message', message);
      checkPublicKey(params, publicKey);
      return run(
        module,
        false,
        (machine) => verifyOne(machine, params, signature, message, publicKey) === undefined,
      );
    },
    expandSecretKey: (secretKey) => expand(module, params, secretKey),
    preparePublicKey(publicKey) {
      abytes('publicKey', publicKey, params.lengths.publicKey);
      const prepared = run(module, false, (machine) => prepareKey(machine, params, publicKey));
      if (typeof prepared === 'string') {
        throw new RangeError(`"publicKey" is not a public key of ${params.name}: ${prepared}`);
      }
      return new PreparedKey(params.name, publicKey.slice(), prepared);
    },
    verifyBatch(items) {
      checkItems(items, params);
      return run(module, false, (machine) => new Batch(machine, params, items).run());
    },
  } satisfies Falcon);
}

/** @throws TypeError if it is neither bytes nor a key prepared for this parameter set */
function checkPublicKey(params: FalconParams, publicKey: Uint8Array | PreparedPublicKey): void {
  if (PreparedKey.bytesOf(publicKey) === undefined) {
    abytes('publicKey', publicKey);
  } else if ((publicKey as PreparedPublicKey).parameterSet !== params.name) {
    throw new TypeError(`"publicKey" is of ${(publicKey as PreparedPublicKey).parameterSet}`);
  }
}

/** Falcon-512, NIST security level 1. */
export const falcon512: Falcon = /* @__PURE__ */ createFalcon('falcon512');
/** Falcon-1024, NIST security level 5. */
export const falcon1024: Falcon = /* @__PURE__ */ createFalcon('falcon1024');

/**
 * Compiles the module without blocking. Never needed, since the first call compiles by itself; worth calling early on a page
 * whose main thread must not stall, or in a host that refuses to compile synchronously.
 */
export async function ready(): Promise<void> {
  await compileAsync(bestModule());
}

/**
 * Hands over the module that the host has compiled, for hosts that compile ahead and not at run time (Cloudflare's workerd).
 * Call it before anything else; `falcon512` and `falcon1024` then run on it.
 *
 * @param module `falconry/falcon.wasm`, or `falconry/falcon.relaxed.wasm` where the engine has relaxed SIMD
 * @throws TypeError if it is not a compiled module, RangeError if it is another one
 * @example
 * ```ts
 * import wasm from 'falconry/falcon.wasm';
 * useFalconModule(wasm);
 * ```
 */
export function useFalconModule(module: WebAssembly.Module): void {
  useModule(module);
}
