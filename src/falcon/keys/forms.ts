/** The forms of keys, and helpers shared by them. No code that handles secrets. */
import { readOptions } from '../../shared/arguments.ts';
import { CodedError, type ErrorCode } from '../../shared/errors.ts';
import { type Falcon, falcon512, falcon1024, type ParameterSet } from '../index.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The encoding of a public key.
 *
 * - `raw`: with its header byte, 897 or 1793 bytes (Falcon, 3.11.4)
 * - `bare`: without it, 896 or 1792 bytes
 * - `spki`, `pem`: SubjectPublicKeyInfo in DER (RFC 5280) and PEM (RFC 7468)
 * - `jwk`: RFC 7517, with private names
 * - `json`: the file of `falconry keygen`
 */
export type PublicKeyForm = 'raw' | 'bare' | 'spki' | 'pem' | 'jwk' | 'json';

/**
 * The encoding of a secret key.
 *
 * - `raw`: with its header byte, 1281 or 2305 bytes (Falcon, 3.11.5)
 * - `bare`: without it, f ‖ g ‖ F, 1280 or 2304 bytes
 * - `extended`: f ‖ g ‖ F ‖ h, 2176 or 4096 bytes
 * - `pkcs8`, `pem`: OneAsymmetricKey in DER (RFC 5958) and PEM
 * - `jwk`: RFC 7517, with private names
 * - `json`: the file of `falconry keygen`
 */
export type SecretKeyForm = 'raw' | 'bare' | 'extended' | 'pkcs8' | 'pem' | 'jwk' | 'json';

/** Encrypted `pkcs8` and `pem`: EncryptedPrivateKeyInfo (RFC 5958) with PBES2 (RFC 8018). */
export type EncryptedKeyForm = 'encryptedPkcs8' | 'encryptedPem';

/**
 * The contents of the OCTET STRING of a PKCS#8 key.
 *
 * - `oqs`: another OCTET STRING with the raw secret key and the raw public key
 * - `bouncyCastle`: a SEQUENCE of version, f, g, F and the bare public key
 */
export type Pkcs8Layout = 'oqs' | 'bouncyCastle';

/** A decoded public key. */
export interface ImportedPublicKey {
  readonly form: PublicKeyForm;
  readonly parameterSet: ParameterSet;
  /** The key in `raw` form, as `verify` accepts it; fresh memory. */
  readonly key: Bytes;
  /** The object identifier in the encoding, if it has one. */
  readonly oid?: string;
}

/** A decoded secret key. Clear `key` after use. */
export interface ImportedSecretKey {
  readonly form: SecretKeyForm | EncryptedKeyForm;
  readonly parameterSet: ParameterSet;
  /** The key in `raw` form, as `sign` accepts it; fresh memory. */
  readonly key: Bytes;
  /** The public key, computed from the secret key. */
  readonly publicKey: Bytes;
  /** The object identifier in the encoding, if it has one. */
  readonly oid?: string;
}

/** The caller's requirements on an imported key. */
export interface ImportOptions<F extends string> {
  /** The only form allowed. Default: any. */
  readonly form?: F;
  /** The only parameter set allowed. Default: either. */
  readonly parameterSet?: ParameterSet;
}

/** Maximum length of an input; the largest key in the most verbose form has 6 kB. */
export const MAX_INPUT = 65_536;

export const PUBLIC_FORMS: readonly PublicKeyForm[] = ['raw', 'bare', 'spki', 'pem', 'jwk', 'json'];
export const SECRET_FORMS: readonly SecretKeyForm[] = [
  'raw',
  'bare',
  'extended',
  'pkcs8',
  'pem',
  'jwk',
  'json',
];
export const ENCRYPTED_FORMS: readonly EncryptedKeyForm[] = ['encryptedPkcs8', 'encryptedPem'];

export const FALCONS: readonly Falcon[] = [falcon512, falcon1024];

/** Returns the object of a parameter set. */
export const falconOf = (name: ParameterSet): Falcon =>
  name === 'falcon512' ? falcon512 : falcon1024;

/** The header bytes of raw keys: the high half is the kind, the low half logn (Falcon, 3.11). */
export const publicHeader = (falcon: Falcon): number => (falcon.name === 'falcon512' ? 0x09 : 0x0a);
export const secretHeader = (falcon: Falcon): number => (falcon.name === 'falcon512' ? 0x59 : 0x5a);

/** Returns the parameter set for which `lengthOf` gives this length, or undefined. */
export function falconWith(
  length: number,
  lengthOf: (lengths: Falcon['lengths']) => number,
): Falcon | undefined {
  return FALCONS.find(({ lengths }) => lengthOf(lengths) === length);
}

/**
 * Object identifiers in use for Falcon keys, with the parameter set of each.
 *
 * The arc 1.3.9999.3 belongs to the Open Quantum Safe project; its table (oqs-provider,
 * ALGORITHMS.md and generate.yml, July 2026) lists the identifiers of each generation of the
 * implementation. The encoding of keys is the same in all of them. `.16` and `.19` additionally
 * mean that signatures are padded.
 */
export const OIDS: Readonly<Record<string, ParameterSet>> = Object.freeze({
  '1.3.9999.3.11': 'falcon512', // oqs-provider and BouncyCastle of 2026
  '1.3.9999.3.14': 'falcon1024',
  '1.3.9999.3.6': 'falcon512', // "old" in both
  '1.3.9999.3.9': 'falcon1024',
  '1.3.9999.3.1': 'falcon512', // older still; BouncyCastle 1.72
  '1.3.9999.3.4': 'falcon1024',
  '1.3.9999.3.16': 'falcon512', // padded signatures
  '1.3.9999.3.19': 'falcon1024',
});

/** Of the same table: a key of each kind has another algorithm's key beside that of Falcon. */
const HYBRIDS: Readonly<Record<string, string>> = Object.freeze({
  '1.3.9999.3.12': 'p256_falcon512',
  '1.3.9999.3.13': 'rsa3072_falcon512',
  '1.3.9999.3.15': 'p521_falcon1024',
  '1.3.9999.3.17': 'p256_falconpadded512',
  '1.3.9999.3.18': 'rsa3072_falconpadded512',
  '1.3.9999.3.20': 'p521_falconpadded1024',
  '1.3.9999.3.7': 'p256_falcon512', // "old"
  '1.3.9999.3.8': 'rsa3072_falcon512',
  '1.3.9999.3.10': 'p521_falcon1024',
  '1.3.9999.3.2': 'p256_falcon512', // older still
  '1.3.9999.3.3': 'rsa3072_falcon512',
  '1.3.9999.3.5': 'p521_falcon1024',
});

/** The identifier to write by default. */
export const currentOid = (name: ParameterSet): string =>
  name === 'falcon512' ? '1.3.9999.3.11' : '1.3.9999.3.14';

/**
 * Returns the object for an identifier. @throws CodedError `BAD_KEY` if it is not one of Falcon's
 */
export function falconOfOid(oid: string, form: string): Falcon {
  if (Object.hasOwn(HYBRIDS, oid)) {
    throw badKey(form, `it is a hybrid key, ${HYBRIDS[oid]} (${oid}): only Falcon alone is read`);
  }
  if (!Object.hasOwn(OIDS, oid)) throw badKey(form, `${oid} is not the identifier of a Falcon key`);
  return falconOf(OIDS[oid]!);
}

/** @throws RangeError if the identifier is not one of this parameter set */
export function checkOid(oid: unknown, name: ParameterSet): string {
  if (oid === undefined) return currentOid(name);
  if (typeof oid === 'string' && Object.hasOwn(OIDS, oid) && OIDS[oid] === name) return oid;
  throw new RangeError(`"oid" is not an identifier of ${name} keys`);
}

/** @throws TypeError or RangeError for invalid options */
export function readImportOptions<F extends string>(
  value: unknown,
  forms: readonly F[],
): ImportOptions<F> {
  const { form, parameterSet } = readOptions(value, ['form', 'parameterSet']);
  if (form !== undefined) checkOneOf('form', form, forms);
  if (parameterSet !== undefined) checkOneOf('parameterSet', parameterSet, SETS);
  return { form, parameterSet } as ImportOptions<F>;
}

const SETS: readonly ParameterSet[] = ['falcon512', 'falcon1024'];

/** @throws RangeError for a value that is not in the list */
export function checkOneOf<T extends string>(
  name: string,
  value: unknown,
  list: readonly T[],
): asserts value is T {
  if (!list.includes(value as T)) throw new RangeError(`"${name}" expected ${list.join(', ')}`);
}

/** @throws CodedError `BAD_KEY` if the key does not meet the options' requirements */
export function checkDemands<F extends string>(
  demands: ImportOptions<F>,
  form: string,
  parameterSet: ParameterSet,
): void {
  if (demands.form !== undefined && demands.form !== form) {
    throw badKey(form, `the form ${demands.form} is asked for`);
  }
  if (demands.parameterSet !== undefined && demands.parameterSet !== parameterSet) {
    throw badKey(form, `a key of ${parameterSet}, and ${demands.parameterSet} is asked for`);
  }
}

/** Creates an error that names the form found and the problem. */
export function keyError(
  code: ErrorCode,
  form: string | undefined,
  what: string,
  cause?: unknown,
): CodedError {
  const message = form === undefined ? what : `${form}: ${what}`;
  return new CodedError(code, { message, cause, ...(form === undefined ? {} : { form }) });
}

export const badKey = (form: string | undefined, what: string, cause?: unknown): CodedError =>
  keyError('BAD_KEY', form, what, cause);
