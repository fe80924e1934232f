/**
 * All operations on secret keys: key generation, expansion, signing. Each call wipes the module's
 * memory at its end.
 *
 * Arguments are read before the module is entered. Secrets of the caller are copied directly from
 * the caller's memory into the module. Randomness is drawn before, and wiped afterwards.
 */
import { InputBytes, readBytes, readOptions, typeName } from '../shared/arguments.ts';
import { wipe } from '../shared/bytes.ts';
import { CodedError } from '../shared/errors.ts';
import { set, subarray } from '../shared/intrinsics.ts';
import { randomBytes } from '../shared/random.ts';
import { type Expanded, ExpandedKey, insideExpanded } from './keys.ts';
import {
  CONSTANT_TIME,
  type FalconParams,
  HEDGE_BYTES,
  HEDGED,
  KINDS,
  readFormat,
  SALT_BYTES,
  SAMPLER_SEED_BYTES,
  SEED_BYTES,
} from './params.ts';
import type { KeyPair } from './types.ts';
import { type Machine, type ModuleName, machine, read, run } from './wasm.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** assembly/shared/status.ts: E_SK_HEADER, E_SK_RANGE, E_SK_INVALID */
const BAD_SECRET_KEY = new Set([-7, -8, -9]);

/**
 * Runs one of the module's secret functions and checks its status.
 *
 * @throws RangeError if the secret key is invalid; CodedError for internal faults
 */
export function runSecret<T>(
  module: ModuleName,
  params: FalconParams,
  call: (machine: Machine) => number,
  result: (machine: Machine, status: number) => T,
): T {
  const outcome = run(module, true, (machine) => {
    const status = call(machine);
    if (status >= 0) return { result: result(machine, status) };
    if (BAD_SECRET_KEY.has(status)) return undefined;
    throw new CodedError('INTERNAL', { cause: new Error(`status ${status}`) });
  });
  if (outcome !== undefined) return outcome.result;
  throw new RangeError(`"secretKey" is not a secret key of ${params.name}`);
}

/**
 * Draws randomness for a call, and wipes it afterwards. It is drawn before the module is entered,
 * so that no code of the host runs while the module holds a secret.
 *
 * @throws CodedError `NO_WEBASSEMBLY`, `NO_RANDOMNESS`
 */
export function withRandomness<T>(
  module: ModuleName,
  length: number,
  call: (drawn: Bytes) => T,
): T {
  // A host without WebAssembly is told so, whatever else it lacks.
  machine(module);
  const drawn = randomBytes(length);
  try {
    return call(drawn);
  } finally {
    wipe(drawn);
  }
}

/**
 * @returns undefined for fresh randomness
 * @throws TypeError or RangeError for a seed or options that `keygen` does not accept
 */
export function readSeed(given: unknown, options: unknown): InputBytes | undefined {
  const { allowShortSeed = false } = readOptions(options, ['allowShortSeed']);
  if (typeof allowShortSeed !== 'boolean') {
    throw new TypeError(`"allowShortSeed" expected a boolean, got ${typeName(allowShortSeed)}`);
  }
  if (given === undefined) return undefined;
  const seed = readBytes('seed', given);
  const { shortest, min, max } = SEED_BYTES;
  const least = allowShortSeed ? shortest : min;
  if (seed.length >= least && seed.length <= max) return seed;
  throw new RangeError(`"seed" expected ${least} to ${max} bytes, got ${seed.length}`);
}

/** @param seed undefined for fresh randomness */
export function keygen(
  module: ModuleName,
  params: FalconParams,
  seed: InputBytes | undefined,
): KeyPair {
  if (seed !== undefined) return keygenFrom(module, params, seed);
  return withRandomness(module, params.lengths.seed, (drawn) =>
    keygenFrom(module, params, new InputBytes('seed', drawn)),
  );
}

const keygenFrom = (module: ModuleName, params: FalconParams, seed: InputBytes): KeyPair =>
  runSecret(
    module,
    params,
    (machine) => {
      seed.copyTo(machine.seed);
      return machine.exports.keygen(params.logn, seed.length);
    },
    (machine) => ({
      publicKey: read(machine.publicKey, params.lengths.publicKey),
      secretKey: read(machine.secretKey, params.lengths.secretKey),
    }),
  );

/** Rejects every key that `sign` rejects: expanding checks the whole key. */
export function publicKeyOf(module: ModuleName, params: FalconParams, secretKey: unknown): Bytes {
  const key = readBytes('secretKey', secretKey, params.lengths.secretKey);
  return runSecret(
    module,
    params,
    ({ exports, secretKey: region }) => {
      key.copyTo(region);
      const status = exports.expandKey(params.logn);
      return status < 0 ? status : exports.publicKey(params.logn);
    },
    (machine) => read(machine.publicKey, params.lengths.publicKey),
  );
}

export function expand(module: ModuleName, params: FalconParams, secretKey: unknown): ExpandedKey {
  const encoded = readBytes('secretKey', secretKey, params.lengths.secretKey);
  return runSecret(
    module,
    params,
    (machine) => {
      const { exports } = machine;
      encoded.copyTo(machine.secretKey);
      const status = exports.expandKey(params.logn);
      if (status === 0) for (const kind of [...KINDS, HEDGED]) exports.absorbKey(params.logn, kind);
      return status;
    },
    ({ exports, expanded: region }) => {
      // The secret is copied last: nothing can fail after that.
      const length = exports.expandedLength(params.logn);
      const expanded = new Uint8Array(length);
      const key = new ExpandedKey({ params, expanded });
      set(expanded, subarray(region, 0, length));
      return key;
    },
  );
}

/**
 * Signs with the coins of `options.testSeed`; otherwise hedged (assembly/falcon/hedged.ts): salt
 * and coins are derived from 48 random bytes, the key and the message.
 */
export function sign(
  module: ModuleName,
  params: FalconParams,
  message: InputBytes,
  secretKey: unknown,
  options: SigningOptions,
): Bytes {
  const key = readSecretKey(params, secretKey);
  const { format, testSeed } = options;
  if (testSeed === undefined) {
    return withRandomness(module, HEDGE_BYTES, (drawn) =>
      signWith(module, params, message, key, format, (machine) => {
        if (!('expanded' in key)) machine.exports.absorbKey(params.logn, HEDGED);
        return hedgedSigner(machine, params, format, drawn);
      }),
    );
  }
  return signWith(module, params, message, key, format, (machine) => {
    testSeed.salt.copyTo(machine.seed);
    testSeed.samplerSeed.copyTo(machine.seed, SALT_BYTES);
    return machine.exports.signExpanded;
  });
}

/** Signs an expanded key's message with a given salt: `signHedged` or `signExpanded`. */
type Signer = Machine['exports']['signExpanded'];

/** @param start writes the salt to SEED, with the expanded key in EXPANDED */
function signWith(
  module: ModuleName,
  params: FalconParams,
  message: InputBytes,
  key: InputBytes | Expanded,
  format: number,
  start: (machine: Machine) => Signer,
): Bytes {
  const { logn, profileNumber } = params;
  return runSecret(
    module,
    params,
    (machine) => {
      const { exports } = machine;
      if ('expanded' in key) {
        set(machine.expanded, key.expanded);
      } else {
        key.copyTo(machine.secretKey);
        const status = exports.expandKey(logn);
        if (status < 0) return status;
      }
      const finish = start(machine);
      const messageLength = machine.takeMessage(message, exports.SEED.value);
      return finish(logn, format, messageLength, profileNumber);
    },
    (machine, length) => read(machine.signature, length),
  );
}

/**
 * Derives the salt with the expanded key.
 *
 * Shape: EXPANDED with its sponges -> SEED = salt ‖ drawn
 */
export function hedgedSigner(
  machine: Machine,
  { logn, profileNumber }: FalconParams,
  format: number,
  drawn: Uint8Array,
): Signer {
  set(machine.seed, drawn, SALT_BYTES);
  machine.exports.startHedged(logn, format, profileNumber);
  return machine.exports.signHedged;
}

export function readSecretKey(params: FalconParams, value: unknown): InputBytes | Expanded {
  const inside = insideExpanded(value);
  if (inside === undefined) return readBytes('secretKey', value, params.lengths.secretKey);
  if (inside.params.name !== params.name)
    throw new TypeError(`"secretKey" is a key of ${inside.params.name}`);
  return inside;
}

/** The validated options of signing. */
export interface SigningOptions {
  /** The module's number of the format. */
  readonly format: number;
  readonly testSeed: { readonly salt: InputBytes; readonly samplerSeed: InputBytes } | undefined;
  /** True if salt and coins are derived from the message: coins.ts. */
  readonly isDerived: boolean;
}

/**
 * @param known the names of the options that the call accepts
 * @throws TypeError or RangeError for invalid options
 */
export function readSigningOptions(
  { profile }: FalconParams,
  value: unknown,
  known: readonly ('format' | 'testSeed' | 'salt')[],
): SigningOptions {
  const { format = 'compressed', testSeed, salt } = readOptions(value, known);
  const number = readFormat(format);
  if (profile !== 'round3' && number === CONSTANT_TIME) {
    throw new RangeError(`"format" expected one of compressed, padded in ${profile}`);
  }
  // The labels of derived salts and coins are those of round 3; another profile would reuse them
  // for another point.
  if (profile !== 'round3' && salt !== undefined) {
    throw new RangeError(`"salt" is no option in ${profile}`);
  }
  if (salt !== undefined && salt !== 'derived') throw new RangeError('"salt" expected "derived"');
  const isDerived = salt === 'derived';
  if (testSeed === undefined) return { format: number, testSeed, isDerived };
  // A derived salt with other coins would lead to two signatures of one point.
  if (isDerived) throw new TypeError('"testSeed" and "salt" exclude each other');
  const seed = readOptions(testSeed, ['salt', 'samplerSeed'], 'testSeed');
  return {
    format: number,
    isDerived,
    testSeed: {
      salt: readBytes('testSeed.salt', seed.salt, SALT_BYTES),
      samplerSeed: readBytes('testSeed.samplerSeed', seed.samplerSeed, SAMPLER_SEED_BYTES),
    },
  };
}
