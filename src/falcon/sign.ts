/** Everything that touches a secret key: key generation, expansion, signing. Each leaves the module's memory wiped. */
import { abytes, wipe } from '../bytes.ts';
import { ExpandedKey } from './keys.ts';
import { type FalconParams, FORMATS } from './params.ts';
import type { ExpandedSecretKey, KeyPair, SignOptions, TestSeed } from './types.ts';
import { discard, type Machine, type ModuleName, run } from './wasm.ts';

/** assembly/shared/status.ts: E_SK_HEADER, E_SK_RANGE, E_SK_INVALID */
const BAD_SECRET_KEY = new Set([-7, -8, -9]);

const randomBytes = (length: number): Uint8Array =>
  globalThis.crypto.getRandomValues(new Uint8Array(length));

/**
 * Runs one of the module's secret functions and judges its status.
 *
 * @throws RangeError if the secret key is not one; CodedError for faults of ours
 */
function runSecret<T>(
  module: ModuleName,
  params: FalconParams,
  call: (machine: Machine) => number,
  result: (machine: Machine, status: number) => T,
): T {
  return run(module, true, (machine) => {
    const status = call(machine);
    if (status >= 0) return result(machine, status);
    if (BAD_SECRET_KEY.has(status)) {
      throw new RangeError(`"secretKey" is not a secret key of ${params.name}`);
    }
    throw discard(module, status);
  });
}

export function keygen(module: ModuleName, params: FalconParams, given?: Uint8Array): KeyPair {
  const seed = given === undefined ? randomBytes(48) : abytes('seed', given, 48);
  try {
    return runSecret(
      module,
      params,
      ({ exports, memory }) => {
        memory.set(seed, exports.SEED.value);
        return exports.keygen(params.logn);
      },
      (machine) => ({
        publicKey: machine.read(machine.PK, params.lengths.publicKey),
        secretKey: machine.read(machine.exports.SK.value, params.lengths.secretKey),
      }),
    );
  } finally {
    if (given === undefined) wipe(seed);
  }
}

export function publicKeyOf(
  module: ModuleName,
  params: FalconParams,
  secretKey: Uint8Array,
): Uint8Array {
  abytes('secretKey', secretKey, params.lengths.secretKey);
  return runSecret(
    module,
    params,
    ({ exports, memory }) => {
      memory.set(secretKey, exports.SK.value);
      return exports.publicKey(params.logn);
    },
    (machine) => machine.read(machine.PK, params.lengths.publicKey),
  );
}

export function expand(
  module: ModuleName,
  params: FalconParams,
  secretKey: Uint8Array,
): ExpandedKey {
  abytes('secretKey', secretKey, params.lengths.secretKey);
  return runSecret(
    module,
    params,
    ({ exports, memory }) => {
      memory.set(secretKey, exports.SK.value);
      return exports.expandKey(params.logn);
    },
    (machine) => {
      const { exports } = machine;
      const length = exports.expandedLength(params.logn);
      return new ExpandedKey(params.name, machine.read(exports.EXPANDED.value, length));
    },
  );
}

export function sign(
  module: ModuleName,
  params: FalconParams,
  message: Uint8Array,
  secretKey: Uint8Array | ExpandedSecretKey,
  options: SignOptions,
): Uint8Array {
  abytes('message', message);
  const { format, testSeed } = checkSignOptions(options);
  const expanded = ExpandedKey.bytesOf(secretKey);
  if (expanded === undefined) abytes('secretKey', secretKey, params.lengths.secretKey);
  else if ((secretKey as ExpandedSecretKey).parameterSet !== params.name) {
    throw new TypeError(`"secretKey" is of ${(secretKey as ExpandedSecretKey).parameterSet}`);
  }
  const randomness = testSeed === undefined ? randomBytes(88) : joined(testSeed);
  try {
    return runSecret(
      module,
      params,
      (machine) => {
        const { exports, memory } = machine;
        const seedAt = exports.SEED.value;
        memory.set(randomness, seedAt);
        const messageLength = machine.takeMessage(message, seedAt);
        if (expanded === undefined) {
          memory.set(secretKey as Uint8Array, exports.SK.value);
          return exports.sign(params.logn, format, messageLength);
        }
        memory.set(expanded, exports.EXPANDED.value);
        return exports.signExpanded(params.logn, format, messageLength);
      },
      (machine, length) => machine.read(machine.SIG, length),
    );
  } finally {
    wipe(randomness);
  }
}

function joined({ salt, samplerSeed }: TestSeed): Uint8Array {
  const both = new Uint8Array(88);
  both.set(abytes('testSeed.salt', salt, 40));
  both.set(abytes('testSeed.samplerSeed', samplerSeed, 48), 40);
  return both;
}

function checkSignOptions(options: SignOptions): {
  format: number;
  testSeed: TestSeed | undefined;
} {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('"options" expected an object');
  }
  for (const name of Object.keys(options)) {
    if (name !== 'format' && name !== 'testSeed') throw new TypeError(`unknown option "${name}"`);
  }
  const format = FORMATS.indexOf(options.format ?? 'compressed');
  if (format < 0) throw new RangeError(`"format" expected one of ${FORMATS.join(', ')}`);
  const { testSeed } = options;
  if (testSeed !== undefined && (typeof testSeed !== 'object' || testSeed === null)) {
    throw new TypeError('"testSeed" expected { salt, samplerSeed }');
  }
  return { format, testSeed };
}
