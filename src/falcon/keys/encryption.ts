/**
 * EncryptedPrivateKeyInfo (RFC 5958, section 3) under PBES2 (RFC 8018, section 6.2): a key derived
 * from the passphrase by scrypt (RFC 7914, section 7) or PBKDF2, and AES-256-CBC.
 *
 * The file itself specifies the work and memory of the key derivation. Both are checked before
 * anything is computed, since the file may be untrusted.
 */
import { scryptAsync } from '@noble/hashes/scrypt.js';
import { wipe } from '../../shared/bytes.ts';
import { CodedError } from '../../shared/errors.ts';
import { randomBytes } from '../../shared/random.ts';
import { DerReader, encode, encodeInteger, encodeOid, isSequence, TAG } from './der.ts';
import { badKey, keyError } from './forms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const PBES2 = '1.2.840.113549.1.5.13';
const PBKDF2 = '1.2.840.113549.1.5.12';
const SCRYPT = '1.3.6.1.4.1.11591.4.11';
const AES_256_CBC = '2.16.840.1.101.3.4.1.42';
/** HMAC identifiers of RFC 8018, appendix B.1, mapped to WebCrypto's hash names. */
const HMACS: Readonly<Record<string, string>> = Object.freeze({
  '1.2.840.113549.2.7': 'SHA-1',
  '1.2.840.113549.2.9': 'SHA-256',
  '1.2.840.113549.2.10': 'SHA-384',
  '1.2.840.113549.2.11': 'SHA-512',
});
const HMAC_SHA256 = '1.2.840.113549.2.9';
const KEY_BYTES = 32;
const BLOCK = 16;
const SALT = 16;

/** A key derivation function with its cost parameters. */
export type Derivation =
  | { readonly kdf: 'scrypt'; readonly N: number; readonly r: number; readonly p: number }
  | { readonly kdf: 'pbkdf2'; readonly iterations: number; readonly hash: string };

/** Maximum cost of decrypting a key. */
export interface CostLimits {
  /** Bytes of memory for scrypt, 128 r (N + p). Default 256 MiB. */
  readonly memoryBytes: number;
  /** N r p of scrypt, and iterations of PBKDF2. Default 16,777,216. */
  readonly work: number;
}

export const DEFAULT_LIMITS: CostLimits = Object.freeze({
  memoryBytes: 256 * 2 ** 20,
  work: 2 ** 24,
});

/**
 * Costs of new files. scrypt: 5 passes of 16 MiB, as strong as one of 128 MiB by OWASP's table
 * (Password Storage Cheat Sheet), and within OpenSSL's limit of 32 MiB. PBKDF2: the same table, for
 * SHA-256.
 */
export const DEFAULT_DERIVATIONS = Object.freeze({
  scrypt: Object.freeze({ kdf: 'scrypt', N: 2 ** 14, r: 8, p: 5 }),
  pbkdf2: Object.freeze({ kdf: 'pbkdf2', iterations: 600_000, hash: 'SHA-256' }),
} as const satisfies Record<string, Derivation>);

/** The parsed contents of a file. */
interface Encrypted {
  readonly derivation: Derivation;
  readonly salt: Bytes;
  readonly iv: Bytes;
  readonly ciphertext: Bytes;
}

/**
 * Returns whether a SEQUENCE is an EncryptedPrivateKeyInfo: it starts with a SEQUENCE, not a
 * version.
 */
export function isEncrypted(der: Bytes): boolean {
  return new DerReader(der, '').enter(TAG.sequence, '').next === TAG.sequence;
}

/** @throws CodedError `BAD_KEY` */
function decode(der: Bytes, form: string): Encrypted {
  const file = new DerReader(der, form);
  const info = file.enter(TAG.sequence, 'EncryptedPrivateKeyInfo');
  file.end('file');
  const algorithm = info.enter(TAG.sequence, 'encryption algorithm');
  const oid = algorithm.oid('encryption algorithm');
  if (oid !== PBES2) throw badKey(form, `the encryption ${oid} is not PBES2`);
  const parameters = algorithm.enter(TAG.sequence, 'parameters of PBES2');
  algorithm.end('encryption algorithm');
  const ciphertext = info.read(TAG.octetString, 'encrypted data') as Bytes;
  info.end('EncryptedPrivateKeyInfo');
  const kdf = parameters.enter(TAG.sequence, 'key derivation');
  const cipher = parameters.enter(TAG.sequence, 'cipher');
  parameters.end('parameters of PBES2');
  const cipherOid = cipher.oid('cipher');
  if (cipherOid !== AES_256_CBC) throw badKey(form, `the cipher ${cipherOid} is not AES-256-CBC`);
  const iv = cipher.read(TAG.octetString, 'initial vector') as Bytes;
  cipher.end('cipher');
  if (iv.length !== BLOCK) throw badKey(form, `the initial vector has ${iv.length} bytes`);
  if (ciphertext.length === 0 || ciphertext.length % BLOCK !== 0) {
    throw badKey(form, 'the encrypted data is not of whole blocks');
  }
  return { ...decodeDerivation(kdf, form), iv, ciphertext };
}

function decodeDerivation(kdf: DerReader, form: string): Pick<Encrypted, 'derivation' | 'salt'> {
  const oid = kdf.oid('key derivation');
  if (oid !== SCRYPT && oid !== PBKDF2) {
    throw badKey(form, `the key derivation ${oid} is neither scrypt nor PBKDF2`);
  }
  const parameters = kdf.enter(TAG.sequence, 'parameters of the key derivation');
  kdf.end('key derivation');
  const salt = parameters.read(TAG.octetString, 'salt') as Bytes;
  const numbers = oid === SCRYPT ? ['N', 'r', 'p'] : ['number of iterations'];
  const [first = 0, r = 0, p = 0] = numbers.map((name) => parameters.integer(name));
  if (parameters.next === TAG.integer && parameters.integer('key length') !== KEY_BYTES) {
    throw badKey(form, 'the key length is not that of AES-256');
  }
  const hash = oid === PBKDF2 ? decodeHash(parameters, form) : '';
  parameters.end('parameters of the key derivation');
  if (oid === PBKDF2) {
    if (first === 0) throw badKey(form, 'the number of iterations is zero');
    return { salt, derivation: { kdf: 'pbkdf2', iterations: first, hash } };
  }
  // RFC 7914, section 2
  const isPower = first > 1 && (first & (first - 1)) === 0;
  if (!isPower || r === 0 || p === 0) throw badKey(form, 'N, r, p are not parameters of scrypt');
  return { salt, derivation: { kdf: 'scrypt', N: first, r, p } };
}

/** Reads the pseudo-random function of PBKDF2; the default is HMAC with SHA-1. */
function decodeHash(parameters: DerReader, form: string): string {
  if (parameters.next === undefined) return 'SHA-1';
  const prf = parameters.enter(TAG.sequence, 'pseudo-random function');
  const oid = prf.oid('pseudo-random function');
  if (prf.next === TAG.null) prf.read(TAG.null, 'parameters');
  prf.end('pseudo-random function');
  if (!Object.hasOwn(HMACS, oid)) throw badKey(form, `the function ${oid} of PBKDF2 is not known`);
  return HMACS[oid]!;
}

/** @throws CodedError `KEY_TOO_COSTLY` */
function checkCost(derivation: Derivation, limits: CostLimits, form: string): void {
  const tooCostly = (what: string) => keyError('KEY_TOO_COSTLY', form, what);
  if (derivation.kdf === 'pbkdf2') {
    const { iterations } = derivation;
    if (iterations > limits.work) throw tooCostly(`${iterations} iterations of PBKDF2`);
    return;
  }
  const { N, r, p } = derivation;
  if (128 * r * (N + p) > limits.memoryBytes || N * r * p > limits.work) {
    throw tooCostly(`scrypt with N = ${N}, r = ${r}, p = ${p}`);
  }
}

/**
 * Decrypts an EncryptedPrivateKeyInfo.
 *
 * @param passphrase not changed
 * @returns a PrivateKeyInfo, not parsed yet, to be wiped by the caller
 * @throws CodedError `BAD_KEY`, `KEY_TOO_COSTLY`, `WRONG_PASSPHRASE`, `NO_WEBCRYPTO`
 */
export async function decrypt(
  der: Bytes,
  passphrase: Bytes,
  limits: CostLimits,
  form: string,
): Promise<Bytes> {
  const { derivation, salt, iv, ciphertext } = decode(der, form);
  checkCost(derivation, limits, form);
  const key = await derive(derivation, salt, passphrase, 'decrypt');
  const wrong = (cause?: unknown) =>
    keyError('WRONG_PASSPHRASE', form, 'the passphrase does not open it', cause);
  let plain: Bytes;
  try {
    plain = new Uint8Array(await subtle().decrypt({ name: 'AES-CBC', iv }, key, ciphertext));
  } catch (cause) {
    throw wrong(cause);
  }
  // One wrong passphrase in 256 yields valid padding.
  if (isSequence(plain)) return plain;
  wipe(plain);
  throw wrong();
}

/**
 * Encrypts to an EncryptedPrivateKeyInfo with a fresh salt and initialisation vector.
 *
 * @param plain a PrivateKeyInfo; not changed
 */
export async function encrypt(
  plain: Bytes,
  passphrase: Bytes,
  derivation: Derivation,
): Promise<Bytes> {
  const salt = randomBytes(SALT);
  const iv = randomBytes(BLOCK);
  const key = await derive(derivation, salt, passphrase, 'encrypt');
  const data = new Uint8Array(await subtle().encrypt({ name: 'AES-CBC', iv }, key, plain));
  const cipher = encode(TAG.sequence, encodeOid(AES_256_CBC), encode(TAG.octetString, iv));
  const parameters = encode(TAG.sequence, encodeDerivation(derivation, salt), cipher);
  const algorithm = encode(TAG.sequence, encodeOid(PBES2), parameters);
  return encode(TAG.sequence, algorithm, encode(TAG.octetString, data));
}

function encodeDerivation(derivation: Derivation, salt: Bytes): Bytes {
  const start = encode(TAG.octetString, salt);
  if (derivation.kdf === 'scrypt') {
    const costs = [derivation.N, derivation.r, derivation.p].map(encodeInteger);
    return encode(TAG.sequence, encodeOid(SCRYPT), encode(TAG.sequence, start, ...costs));
  }
  const prf = encode(TAG.sequence, encodeOid(HMAC_SHA256), encode(TAG.null));
  const parameters = encode(TAG.sequence, start, encodeInteger(derivation.iterations), prf);
  return encode(TAG.sequence, encodeOid(PBKDF2), parameters);
}

async function derive(
  derivation: Derivation,
  salt: Bytes,
  passphrase: Bytes,
  usage: 'encrypt' | 'decrypt',
): Promise<CryptoKey> {
  const algorithm = { name: 'AES-CBC', length: 8 * KEY_BYTES };
  const host = subtle();
  if (derivation.kdf === 'pbkdf2') {
    const { iterations, hash } = derivation;
    const base = await host.importKey('raw', passphrase, 'PBKDF2', false, ['deriveKey']);
    const how = { name: 'PBKDF2', salt, iterations, hash };
    return host.deriveKey(how, base, algorithm, false, [usage]);
  }
  const bytes = await scryptKey(derivation, salt, passphrase);
  try {
    return await host.importKey('raw', bytes, algorithm, false, [usage]);
  } finally {
    wipe(bytes);
  }
}

/**
 * Derives a key from a passphrase with scrypt (RFC 7914, section 2).
 *
 * @returns 32 bytes, to be wiped by the caller
 */
async function scryptKey(
  { N, r, p }: Omit<Extract<Derivation, { kdf: 'scrypt' }>, 'kdf'>,
  salt: Bytes,
  passphrase: Bytes,
): Promise<Bytes> {
  const maxmem = 128 * r * (N + p) + 1024;
  return (await scryptAsync(passphrase, salt, { N, r, p, dkLen: KEY_BYTES, maxmem })) as Bytes;
}

/** Cost parameters of scrypt, within `DEFAULT_LIMITS`. */
export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** The cost of new files. */
export const SCRYPT_COST: ScryptCost = Object.freeze({
  N: DEFAULT_DERIVATIONS.scrypt.N,
  r: DEFAULT_DERIVATIONS.scrypt.r,
  p: DEFAULT_DERIVATIONS.scrypt.p,
});

/**
 * Derives a 256-bit key from a passphrase with scrypt, for use with the caller's cipher.
 *
 * @param salt 16 random bytes
 * @returns 32 bytes, to be wiped by the caller
 * @throws (as the promise's rejection) CodedError `KEY_TOO_COSTLY` before any work
 */
export async function passphraseKey(
  passphrase: Uint8Array,
  salt: Uint8Array,
  cost: ScryptCost = SCRYPT_COST,
): Promise<Uint8Array<ArrayBuffer>> {
  checkCost({ kdf: 'scrypt', ...cost }, DEFAULT_LIMITS, 'passphrase');
  return scryptKey(cost, salt as Bytes, passphrase as Bytes);
}

/** @throws CodedError `NO_WEBCRYPTO`: browsers provide it only in secure contexts */
function subtle(): SubtleCrypto {
  const found = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (found === undefined) throw new CodedError('NO_WEBCRYPTO');
  return found;
}
