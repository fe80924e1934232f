/** Keys and signatures of the FN-DSA draft: fnDsaDraft.ts. */
import { copyBytes, type InputBytes, readBytes, readOptions } from '../../shared/arguments.ts';
import { equal } from '../../shared/bytes.ts';
import { set, subarray } from '../../shared/intrinsics.ts';
import type { KeyPair, ParameterSet } from '../index.ts';
import { runSecret, withRandomness } from '../sign.ts';
import { type Machine, type ModuleName, read } from '../wasm.ts';
import { signatureFromRound3, signatureToRound3 } from './fnDsaCodec.ts';
import {
  checkMessageOptions,
  hashOfKey,
  MESSAGE_OPTIONS,
  type ReadMessageOptions,
  representative,
} from './fnDsaMessage.ts';
import type { FnDsaDraft } from './fnDsaTypes.ts';
import { DraftVerifier, SEED_BYTES, verifierOf } from './fnDsaVerifier.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const SIGN_SEED_BYTES = 40;

/** One parameter set: verification, secret operations and their shared state. */
class Scheme extends DraftVerifier {
  /** Runs a secret function of the module with a secret key of the draft. */
  withKey<T>(
    secretKey: InputBytes,
    call: (machine: Machine) => number,
    result: (machine: Machine, status: number) => T,
  ): T {
    return runSecret(
      this.module,
      this.params,
      (machine) => {
        set(machine.secretKey, subarray(secretKey.view(), 0, this.body));
        return call(machine);
      },
      result,
    );
  }

  keygen(given: unknown): KeyPair {
    const { logn, lengths } = this.params;
    const seed = given === undefined ? undefined : readBytes('seed', given, SEED_BYTES);
    if (seed === undefined)
      return withRandomness(this.module, SEED_BYTES, (drawn) => this.keygen(drawn));
    const pair = runSecret(
      this.module,
      this.params,
      (machine) => {
        seed.copyTo(machine.seed);
        return machine.exports.keygenDraft(logn, 0);
      },
      (machine) => {
        const publicKey = read(machine.publicKey, lengths.publicKey);
        const secretKey = new Uint8Array(this.lengths.secretKey);
        set(secretKey, subarray(machine.secretKey, 0, this.body));
        return { publicKey, secretKey };
      },
    );
    const publicKey = this.draftKey(pair.publicKey);
    set(pair.secretKey, hashOfKey(publicKey), this.body);
    return { publicKey, secretKey: pair.secretKey };
  }

  getPublicKey(secretKey: unknown): Bytes {
    const key = readBytes('secretKey', secretKey, this.lengths.secretKey);
    const round3 = this.withKey(
      key,
      ({ exports }) => {
        // Expanding checks the whole key, as signing does.
        exports.repackSecretKey(this.params.logn, false);
        const status = exports.expandKey(this.params.logn);
        return status < 0 ? status : exports.publicKey(this.params.logn);
      },
      (machine) => read(machine.publicKey, this.params.lengths.publicKey),
    );
    const publicKey = this.draftKey(round3);
    if (equal(hashOfKey(publicKey), this.keyHashIn(key))) return publicKey;
    throw new RangeError('"secretKey" holds the hash of another public key');
  }

  /** Returns the last bytes of a secret key, which are public. */
  keyHashIn(secretKey: InputBytes): Bytes {
    return subarray(secretKey.view(), this.body, this.lengths.secretKey).slice() as Bytes;
  }

  sign(message: unknown, secretKey: unknown, options: unknown): Bytes {
    const input = readBytes('message', message);
    const key = readBytes('secretKey', secretKey, this.lengths.secretKey);
    const { testSeed, ...rest } = readOptions(options, [...MESSAGE_OPTIONS, 'testSeed']);
    const words = checkMessageOptions(rest);
    if (testSeed === undefined) {
      return withRandomness(this.module, SIGN_SEED_BYTES, (drawn) =>
        this.signWith(drawn, key, input, words),
      );
    }
    return this.signWith(testSeed, key, input, words);
  }

  signWith(given: unknown, key: InputBytes, input: InputBytes, words: ReadMessageOptions): Bytes {
    const seed = readBytes('testSeed', given, SIGN_SEED_BYTES);
    const mu = representative(this.keyHashIn(key), input, words);
    const round3 = this.withKey(
      key,
      (machine) => {
        seed.copyTo(machine.seed);
        set(machine.input, mu);
        return machine.exports.signDraft(this.params.logn);
      },
      (machine, length) => read(machine.signature, length),
    );
    return signatureFromRound3(this.params, round3)!;
  }

  secretKeyToRound3(secretKey: unknown): Bytes {
    const key = readBytes('secretKey', secretKey, this.lengths.secretKey);
    return this.withKey(
      key,
      ({ exports }) => {
        exports.repackSecretKey(this.params.logn, false);
        return exports.expandKey(this.params.logn);
      },
      (machine) => read(machine.secretKey, this.body),
    );
  }

  secretKeyFromRound3(secretKey: unknown): Bytes {
    const { logn, lengths } = this.params;
    const key = readBytes('secretKey', secretKey, this.body);
    const pair = this.withKey(
      key,
      ({ exports }) => {
        const status = exports.expandKey(logn);
        return status < 0 ? status : exports.publicKey(logn);
      },
      (machine) => {
        const publicKey = read(machine.publicKey, lengths.publicKey);
        machine.exports.repackSecretKey(logn, true);
        const converted = new Uint8Array(this.lengths.secretKey);
        set(converted, subarray(machine.secretKey, 0, this.body));
        return { publicKey, converted };
      },
    );
    set(pair.converted, hashOfKey(this.draftKey(pair.publicKey)), this.body);
    return pair.converted;
  }
}

/** Creates a set's object, on a build of the module. */
export function createDraft(
  name: FnDsaDraft['name'],
  parameterSet: ParameterSet,
  module: ModuleName,
): FnDsaDraft {
  const scheme = new Scheme(parameterSet, module);
  return Object.freeze({
    ...verifierOf(name, scheme),
    keygen: (seed) => scheme.keygen(seed),
    getPublicKey: (secretKey) => scheme.getPublicKey(secretKey),
    sign: (message, secretKey, options) => scheme.sign(message, secretKey, options),
    secretKeyToRound3: (secretKey) => scheme.secretKeyToRound3(secretKey),
    secretKeyFromRound3: (secretKey) => scheme.secretKeyFromRound3(secretKey),
    item(signature, message, publicKey, options) {
      const bytes = copyBytes('signature', signature);
      const stated = scheme.statement(message, publicKey, options);
      const round3 = signatureToRound3(scheme.params, bytes);
      if (round3 === undefined) throw new RangeError(`"signature" is not one of ${name}`);
      return { ...stated, signature: round3 };
    },
  } satisfies FnDsaDraft);
}
