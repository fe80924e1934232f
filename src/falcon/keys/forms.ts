/** The forms of keys, and what they have in common. No code that touches a secret. */
import { readOptions } from '../../shared/arguments.ts';
import { CodedError, type ErrorCode } from '../../shared/errors.ts';
import { type Falcon, falcon512, falcon1024, type ParameterSet } from '../index.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * How a public key is wrapped.
 *
 * - `raw`: with its header byte, 897 or 1793 bytes (Falcon, 3.11.4)
 * - `bare`: without it, 896 or 1792 bytes
 * - `spki`, `pem`: SubjectPublicKeyInfo in DER (RFC 5280) and in text (RFC 7468)
 * - `jwk`: RFC 7517, with private names
 */
export type PublicKeyForm = 'raw' | 'bare' | 'spki' | 'pem' | 'jwk';

/**
 * How a secret key is wrapped.
 *
 * - `raw`: with its header byte, 1281 or 2305 bytes (Falcon, 3.11.5)
 * - `bare`: without it, f ‖ g ‖ F, 1280 or 2304 bytes
 * - `extended`: f ‖ g ‖ F ‖ h, 2176 or 4096 bytes
 * - `pkcs8`, `pem`: OneAsymmetricKey in DER (RFC 5958) and in text
 * - `jwk`: RFC 7517, with private names
 */
export type SecretKeyForm = 'raw' | 'bare' | 'extended' | 'pkcs8' | 'pem' | 'jwk';

/** `pkcs8` and `pem` under a passphrase: EncryptedPrivateKeyInfo (RFC 5958), PBES2 (RFC 8018). */
export type EncryptedKeyForm = 'encryptedPkcs8' | 'encryptedPem';

/**
 * What is inside the OCTET STRING of a PKCS#8 key.
 *
 * - `oqs`: another OCTET STRING with the raw secret key and the raw public key
 * - `bouncyCastle`: a SEQUENCE of version, f, g, F and the bare public key
 */
export type Pkcs8Layout = 'oqs' | 'bouncyCastle';

/** A public key, out of its wrapping. */
export interface ImportedPublicKey {
  readonly form: PublicKeyForm;
  readonly parameterSet: ParameterSet;
  /** The key in the `raw` form, as `verify` takes it; fresh memory. */
  readonly key: Bytes;
  /** The object identifier of the wrapping, where it has one. */
  readonly oid?: string;
}

/** A secret key, out of its wrapping. Clear `key` after use. */
export interface ImportedSecretKey {
  readonly form: SecretKeyForm | EncryptedKeyForm;
  readonly parameterSet: ParameterSet;
  /** The key in the `raw` form, as `sign` takes it; fresh memory. */
  readonly key: Bytes;
  /** The public key that belongs to it, computed from it. */
  readonly publicKey: Bytes;
  /** The object identifier of the wrapping, where it has one. */
  readonly oid?: string;
}

/** What the caller demands of a key to be read. */
export interface ImportOptions<F extends string> {
  /** The only form allowed. Default: any. */
  readonly form?: F;
  /** The only parameter set allowed. Default: either. */
  readonly parameterSet?: ParameterSet;
}

/** The longest input that is looked at; the largest key in the most verbose form has 6 kB. */
export const MAX_INPUT = 65_536;

export const PUBLIC_FORMS: readonly PublicKeyForm[] = ['raw', 'bare', 'spki', 'pem', 'jwk'];
export const SECRET_FORMS: readonly SecretKeyForm[] = [
  'raw',
  'bare',
  'extended',
  'pkcs8',
  'pem',
  'jwk',
];
export const ENCRYPTED_FORMS: readonly EncryptedKeyForm[] = ['encryptedPkcs8', 'encryptedPem'];

const FALCONS: readonly Falcon[] = [falcon512, falcon1024];

/** The object of a parameter set. */
export const falconOf = (name: ParameterSet): Falcon =>
  name === 'falcon512' ? falcon512 : falcon1024;

/** The header bytes of raw keys: the high half is the kind, the low half logn (Falcon, 3.11). */
export const publicHeader = (falcon: Falcon): number => (falcon.name === 'falcon512' ? 0x09 : 0x0a);
export const secretHeader = (falcon: Falcon): number => (falcon.name === 'falcon512' ? 0x59 : 0x5a);

/** The parameter set for which `lengthOf` gives this length, if there is one. */
export function falconWith(
  length: number,
  lengthOf: (lengths: Falcon['lengths']) => number,
): Falcon | undefined {
  return FALCONS.find(({ lengths }) => lengthOf(lengths) === length);
}

/**
 * Object identifiers under which Falcon keys are found, and the parameter set of each.
 *
 * The arc 1.3.9999.3 belongs to the Open Quantum Safe project; its table (oqs-provider,
 * ALGORITHMS.md and generate.yml, July 2026) lists what each generation of the implementation
 * used. The encoding of keys is the same in all of them. `.16` and `.19` say in addition that
 * signatures are padded.
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

/** The identifier that is written unless another one is asked for. */
export const currentOid = (name: ParameterSet): string =>
  name === 'falcon512' ? '1.3.9999.3.11' : '1.3.9999.3.14';

/** The object of an identifier. @throws CodedError `BAD_KEY` for one that is not Falcon's */
export function falconOfOid(oid: string, form: string): Falcon {
  if (!Object.hasOwn(OIDS, oid)) throw badKey(form, `${oid} is not the identifier of a Falcon key`);
  return falconOf(OIDS[oid]!);
}

/** @throws RangeError for an identifier that does not stand for this parameter set */
export function checkOid(oid: unknown, name: ParameterSet): string {
  if (oid === undefined) return currentOid(name);
  if (typeof oid === 'string' && Object.hasOwn(OIDS, oid) && OIDS[oid] === name) return oid;
  throw new RangeError(`"oid" is not an identifier of ${name} keys`);
}

/** @throws TypeError or RangeError for options of another kind */
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

/** @throws CodedError `BAD_KEY` if the key is not what the options demand */
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

/** An error that names the form found and what is wrong with it. */
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
