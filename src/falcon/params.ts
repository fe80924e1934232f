/**
 * The two parameter sets, as plain data. Source of all numbers: Falcon, round 3, table 3.3 and
 * section 3.11.
 */
import type { InvalidReason, ParameterSet, Profile, SignatureFormat } from './types.ts';

/** Byte lengths of one parameter set. */
export interface FalconLengths {
  readonly publicKey: number;
  readonly secretKey: number;
  /** Bytes of randomness that `keygen` draws by default. */
  readonly seed: 48;
  /** Random bytes hashed before the message; part of every signature. */
  readonly salt: 40;
  /** Maximum length of a compressed signature. */
  readonly signature: number;
  /** Length of every padded signature. */
  readonly signaturePadded: number;
  /** Length of every constant-time signature. */
  readonly signatureConstantTime: number;
}

export interface FalconParams {
  readonly name: ParameterSet;
  /** n = 2^logn coefficients. */
  readonly logn: 9 | 10;
  readonly lengths: FalconLengths;
  /** Maximum ||(s1, s2)||^2 of a signature. */
  readonly betaSq: number;
  readonly profile: Profile;
  /** The module's number of the profile. */
  readonly profileNumber: number;
}

/** The module's number of a profile, and its byte in an aggregate. 1 is reserved for FIPS 206. */
export const PROFILE_NUMBERS: Readonly<Record<Profile, number>> = Object.freeze({
  round3: 0,
  'eth-falcon': 2,
  'fn-dsa-draft-2026-07': 3,
});

/** @throws RangeError if it is not the name of a profile */
export function checkProfile(name: string, value: unknown): Profile {
  if (typeof value === 'string' && Object.hasOwn(PROFILE_NUMBERS, value)) return value as Profile;
  throw new RangeError(`"${name}" expected one of ${Object.keys(PROFILE_NUMBERS).join(', ')}`);
}

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
  profileNumber: PROFILE_NUMBERS.round3,
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
  profileNumber: PROFILE_NUMBERS.round3,
});

/** ETHFALCON: the same except for the hash. */
const ETH_FALCON_512: FalconParams = Object.freeze({
  ...FALCON_512,
  profile: 'eth-falcon',
  profileNumber: PROFILE_NUMBERS['eth-falcon'],
});
/** The draft's hash-to-point and limit; its encodings are in src/falcon/profiles. */
const DRAFT_512: FalconParams = Object.freeze({
  ...FALCON_512,
  profile: 'fn-dsa-draft-2026-07',
  profileNumber: PROFILE_NUMBERS['fn-dsa-draft-2026-07'],
});
const DRAFT_1024: FalconParams = Object.freeze({
  ...FALCON_1024,
  profile: 'fn-dsa-draft-2026-07',
  profileNumber: PROFILE_NUMBERS['fn-dsa-draft-2026-07'],
});

/** All parameter sets of all profiles. */
const PARAMS = Object.freeze([FALCON_512, FALCON_1024, ETH_FALCON_512, DRAFT_512, DRAFT_1024]);

/** Returns whether the value is a parameter set that has the profile. */
export const hasProfile = (
  profile: Profile,
  parameterSet: ParameterSet | undefined,
): parameterSet is ParameterSet =>
  PARAMS.some((params) => params.profile === profile && params.name === parameterSet);

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

/** The module's numbers of the formats. */
export const COMPRESSED = FORMATS.indexOf('compressed');
export const PADDED = FORMATS.indexOf('padded');
export const CONSTANT_TIME = FORMATS.indexOf('constantTime');

/** Bytes of a salt, in both sets. In a signature, it follows the header. */
export const SALT_BYTES = 40;

/** Bytes of the seed from which the module derives all coins of a signature. */
export const SAMPLER_SEED_BYTES = 48;

/** Range of seed lengths of `keygen`, in bytes; those of known answers have at least `shortest`. */
export const SEED_BYTES = Object.freeze({ shortest: 8, min: 32, max: 128 });

/** Bytes of randomness from which salt and coins of a signature are derived. */
export const HEDGE_BYTES = 48;

/** Kinds of reproducible signing, as the module's numbers: assembly/falcon/reproducible.ts. */
export const DETERMINISTIC = 0;
export const DERIVED = 1;
export const KINDS = Object.freeze([DETERMINISTIC, DERIVED] as const);
export type Kind = (typeof KINDS)[number];
/** The number of hedged signing for `absorbKey`. */
export const HEDGED = 2;

/**
 * Reads the name of a format.
 *
 * @returns the module's number of the format
 * @throws RangeError for anything but the name of a format
 */
export function readFormat(format: unknown): number {
  const number = FORMATS.indexOf(format as SignatureFormat);
  if (number < 0) throw new RangeError(`"format" expected one of ${FORMATS.join(', ')}`);
  return number;
}

/** The codes of assembly/shared/status.ts that invalid input can cause. */
const REASONS: Readonly<Record<number, InvalidReason>> = Object.freeze({
  [-1]: 'publicKeyHeader',
  [-2]: 'publicKeyRange',
  [-3]: 'signatureHeader',
  [-4]: 'signatureLength',
  [-5]: 'signatureEncoding',
  [-6]: 'signatureMismatch',
});

/** Returns the reason for a status of the module. An unknown status counts as a mismatch. */
export const reasonOf = (status: number): InvalidReason => REASONS[status] ?? 'signatureMismatch';
