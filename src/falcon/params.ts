/**
 * The two parameter sets, as plain data. Source of all numbers: Falcon, round 3, table 3.3 and
 * section 3.11.
 */
import type { InvalidReason, ParameterSet, Profile, SignatureFormat } from './types.ts';

/** Byte lengths of one parameter set. */
export interface FalconLengths {
  readonly publicKey: number;
  readonly secretKey: number;
  /** Seed of `keygen`. */
  readonly seed: 48;
  /** Random bytes in front of the message when it is hashed, part of every signature. */
  readonly salt: 40;
  /** The longest compressed signature. */
  readonly signature: number;
  /** Every padded signature. */
  readonly signaturePadded: number;
  /** Every signature of the constant-time form. */
  readonly signatureConstantTime: number;
}

export interface FalconParams {
  readonly name: ParameterSet;
  /** n = 2^logn coefficients. */
  readonly logn: 9 | 10;
  readonly lengths: FalconLengths;
  /** Largest ||(s1, s2)||^2 of a signature. */
  readonly betaSq: number;
  readonly profile: Profile;
  /** The module's number of the profile. */
  readonly profileNumber: number;
}

/** The index is the module's number of the profile, and its byte in an aggregate. */
export const PROFILES: readonly Profile[] = Object.freeze([
  'round3',
  'eth-falcon',
  'fn-dsa-draft-2026-07',
]);

export const Q = 12289;

export const FALCON_512: FalconParams = Object.freeze({
  name: 'falcon512',
  logn: 9,
  lengths: Object.freeze({
    publicKey: 897,
    secretKey: 1281,
    seed: 48,
    salt: 40,
    signature: 752,
    signaturePadded: 666,
    signatureConstantTime: 809,
  }),
  betaSq: 34034726,
  profile: 'round3',
  profileNumber: 0,
});

export const FALCON_1024: FalconParams = Object.freeze({
  name: 'falcon1024',
  logn: 10,
  lengths: Object.freeze({
    publicKey: 1793,
    secretKey: 2305,
    seed: 48,
    salt: 40,
    signature: 1462,
    signaturePadded: 1280,
    signatureConstantTime: 1577,
  }),
  betaSq: 70265242,
  profile: 'round3',
  profileNumber: 0,
});

/** ETHFALCON: the same but for the hash. */
const ETH_FALCON_512: FalconParams = Object.freeze({
  ...FALCON_512,
  profile: 'eth-falcon',
  profileNumber: 1,
});
/** The draft's point and limit; its encodings are in src/profiles. */
const DRAFT_512: FalconParams = Object.freeze({
  ...FALCON_512,
  profile: 'fn-dsa-draft-2026-07',
  profileNumber: 2,
});
const DRAFT_1024: FalconParams = Object.freeze({
  ...FALCON_1024,
  profile: 'fn-dsa-draft-2026-07',
  profileNumber: 2,
});

/** Every set of every profile. */
const PARAMS = Object.freeze([FALCON_512, FALCON_1024, ETH_FALCON_512, DRAFT_512, DRAFT_1024]);

/** @throws RangeError for an unknown parameter set, or a profile that the set does not have */
export function paramsIn(profile: Profile, parameterSet: unknown): FalconParams {
  const { name } = paramsOf(parameterSet);
  const found = PARAMS.find((params) => params.profile === profile && params.name === name);
  if (found !== undefined) return found;
  throw new RangeError(`"profile" is none that ${name} has`);
}

/** @throws RangeError for an unknown parameter set */
export function paramsOf(parameterSet: unknown): FalconParams {
  if (parameterSet === 'falcon512') return FALCON_512;
  if (parameterSet === 'falcon1024') return FALCON_1024;
  throw new RangeError('"parameterSet" expected "falcon512" or "falcon1024"');
}

/** The index is the module's number of the format. */
export const FORMATS: readonly SignatureFormat[] = Object.freeze([
  'compressed',
  'padded',
  'constantTime',
]);

/** Those codes of assembly/shared/status.ts that the caller's input can cause. */
const REASONS: Readonly<Record<number, InvalidReason>> = Object.freeze({
  [-1]: 'publicKeyHeader',
  [-2]: 'publicKeyRange',
  [-3]: 'signatureHeader',
  [-4]: 'signatureLength',
  [-5]: 'signatureEncoding',
  [-6]: 'signatureMismatch',
});

/** Why the module refuses its input, from its status. A status without a name refuses it, too. */
export const reasonOf = (status: number): InvalidReason => REASONS[status] ?? 'signatureMismatch';
