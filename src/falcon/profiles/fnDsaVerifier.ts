/** Verification for the FN-DSA draft (fnDsaDraft.ts), without secret-key code. */
import { copyBytes, InputBytes, readBytes } from '../../shared/arguments.ts';
import type { ParameterSet } from '../index.ts';
import { type FalconParams, paramsIn } from '../params.ts';
import { verifyOne } from '../verify.ts';
import { bestModule, type ModuleName, run } from '../wasm.ts';
import { publicKeyFromRound3, publicKeyToRound3, signatureToRound3 } from './fnDsaCodec.ts';
import { hashOfKey, KEY_HASH_BYTES, readMessageOptions, representative } from './fnDsaMessage.ts';
import type { FnDsaDraftLengths, FnDsaDraftVerifier, FnDsaStatement } from './fnDsaTypes.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of the seed of key generation. */
export const SEED_BYTES = 32;
const PROFILE = 'fn-dsa-draft-2026-07';

/** One parameter set: its numbers, and the functions of verification. */
export class DraftVerifier {
  readonly module: ModuleName;
  readonly params: FalconParams;
  readonly lengths: FnDsaDraftLengths;
  /** Bytes of a secret key up to the hash of the public key. */
  readonly body: number;

  constructor(parameterSet: ParameterSet, module: ModuleName) {
    this.module = module;
    this.params = paramsIn(PROFILE, parameterSet);
    const { publicKey, secretKey, signaturePadded } = this.params.lengths;
    this.body = secretKey;
    this.lengths = Object.freeze({
      publicKey,
      secretKey: secretKey + KEY_HASH_BYTES,
      seed: SEED_BYTES,
      signature: signaturePadded,
      context: 255,
    });
  }

  get isPublic(): RangeError {
    return new RangeError(`"publicKey" is not a public key of ${this.params.name}`);
  }

  /** Converts the caller's public key to round-3 encoding. */
  round3Key(publicKey: Bytes): Bytes {
    const key = publicKeyToRound3(this.params, publicKey);
    if (key === undefined) throw this.isPublic;
    return key;
  }

  /** Converts a round-3 public key to the draft's encoding. */
  draftKey(round3: Bytes): Bytes {
    const key = publicKeyFromRound3(this.params, round3);
    if (key === undefined) throw this.isPublic;
    return key;
  }

  verify(signature: unknown, message: unknown, publicKey: unknown, options: unknown): boolean {
    const sig = copyBytes('signature', signature);
    const input = readBytes('message', message);
    const key = copyBytes('publicKey', publicKey);
    const words = readMessageOptions(options);
    if (key.length !== this.lengths.publicKey) return false;
    const round3Key = publicKeyToRound3(this.params, key);
    const round3 = signatureToRound3(this.params, sig);
    if (round3Key === undefined || round3 === undefined) return false;
    const mu = representative(hashOfKey(key), input, words);
    const own = (bytes: Bytes): InputBytes => new InputBytes('bytes', bytes);
    return run(
      this.module,
      false,
      (machine) =>
        verifyOne(machine, this.params, own(round3), own(mu), own(round3Key)) === undefined,
    );
  }

  statement(message: unknown, publicKey: unknown, options: unknown): FnDsaStatement {
    const input = readBytes('message', message);
    const key = copyBytes('publicKey', publicKey, this.lengths.publicKey);
    const words = readMessageOptions(options);
    return {
      publicKey: this.round3Key(key),
      message: representative(hashOfKey(key), input, words),
    };
  }
}

/** Returns the verifying part of a set's object. */
export function verifierOf(
  name: FnDsaDraftVerifier['name'],
  scheme: DraftVerifier,
): FnDsaDraftVerifier {
  const { params, lengths } = scheme;
  return Object.freeze({
    name,
    draft: 'rust-fn-dsa 0.4.0, July 2026',
    parameterSet: params.name,
    profile: PROFILE,
    lengths,
    verify: (signature, message, publicKey, options) =>
      scheme.verify(signature, message, publicKey, options),
    publicKeyToRound3: (publicKey) =>
      scheme.round3Key(copyBytes('publicKey', publicKey, lengths.publicKey)),
    publicKeyFromRound3: (publicKey) =>
      scheme.draftKey(copyBytes('publicKey', publicKey, lengths.publicKey)),
    statement: (message, publicKey, options) => scheme.statement(message, publicKey, options),
  } satisfies FnDsaDraftVerifier);
}

/** Creates a set's object for verification only. */
export const createDraftVerifier = (
  name: FnDsaDraftVerifier['name'],
  parameterSet: ParameterSet,
): FnDsaDraftVerifier => verifierOf(name, new DraftVerifier(parameterSet, bestModule()));
