/**
 * The two parameter sets, as plain data. Source of all numbers: Falcon, round 3, table 3.3 and
 * section 3.11.
 */
import type { InvalidReason, ParameterSet, SignatureFormat } from './types.ts';

/** Byte lengths of one parameter set. */
export interface FalconLengths {
  readonly publicKey: number;
  readonly secretKey: number;
  /** Seed of `keygen`, when it draws one itself. */
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
});

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

/** What reproducible signing derives, by the module's number: assembly/falcon/reproducible.ts. */
export const DETERMINISTIC = 0;
export const DERIVED = 1;
export const KINDS = Object.freeze([DETERMINISTIC, DERIVED] as const);
export type Kind = (typeof KINDS)[number];
/**
 * @returns the module's number of a format
 * @throws RangeError for anything but the name of one
 */
export function readFormat(format: unknown): number {
  const number = FORMATS.indexOf(format as SignatureFormat);
  if (number < 0) throw new RangeError(`"format" expected one of ${FORMATS.join(', ')}`);
  return number;
}

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
