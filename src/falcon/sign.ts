/**
 * All operations on secret keys: key generation, expansion, signing. Each call wipes the module's
 * memory at its end.
 *
 * Arguments are read before the module is entered. Secrets of the caller are copied directly from
 * the caller's memory into the module. The library's own (randomness) pass through a buffer that is
 * wiped, too.
 */
import { type InputBytes, readBytes, readOptions } from '../shared/arguments.ts';
import { CodedError } from '../shared/errors.ts';
import { set, subarray } from '../shared/intrinsics.ts';
import { fillRandom } from '../shared/random.ts';
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
import { type Machine, type ModuleName, read, run } from './wasm.ts';

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
 * Fills the first bytes of `seed` with the host's randomness.
 *
 * @throws CodedError `NO_RANDOMNESS`
 */
export function drawSeed({ randomness, seed }: Machine, length: number): void {
  set(seed, fillRandom(subarray(randomness, 0, length)));
}

function readSeed(given: unknown): InputBytes {
  const seed = readBytes('seed', given);
  const { min, max } = SEED_BYTES;
  if (seed.length >= min && seed.length <= max) return seed;
  throw new RangeError(`"seed" expected ${min} to ${max} bytes, got ${seed.length}`);
}

export function keygen(module: ModuleName, params: FalconParams, given: unknown): KeyPair {
  const seed = given === undefined ? undefined : readSeed(given);
  const length = seed?.length ?? params.lengths.seed;
  return runSecret(
    module,
    params,
    (machine) => {
      if (seed === undefined) drawSeed(machine, length);
      else seed.copyTo(machine.seed);
      return machine.exports.keygen(params.logn, length);
    },
    (machine) => ({
      publicKey: read(machine.publicKey, params.lengths.publicKey),
      secretKey: read(machine.secretKey, params.lengths.secretKey),
    }),
  );
}

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
        if (testSeed === undefined) exports.absorbKey(logn, HEDGED);
      }
      if (testSeed === undefined) startHedged(machine, params, format);
      else {
        testSeed.salt.copyTo(machine.seed);
        testSeed.samplerSeed.copyTo(machine.seed, SALT_BYTES);
      }
      const messageLength = machine.takeMessage(message, exports.SEED.value);
      const finish = testSeed === undefined ? exports.signHedged : exports.signExpanded;
      return finish(logn, format, messageLength, profileNumber);
    },
    (machine, length) => read(machine.signature, length),
  );
}

/**
 * Draws the randomness of a signature, and derives its salt with the expanded key.
 *
 * Shape: EXPANDED -> SEED = salt ‖ randomness
 */
export function startHedged(
  machine: Machine,
  { logn, profileNumber }: FalconParams,
  format: number,
): void {
  set(machine.seed, fillRandom(subarray(machine.randomness, 0, HEDGE_BYTES)), SALT_BYTES);
  machine.exports.startHedged(logn, format, profileNumber);
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
