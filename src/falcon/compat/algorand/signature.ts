/**
 * Transaction signatures of post-quantum accounts: the field `pqsig` of a signed transaction. Empty
 * members are omitted.
 *
 *   | sch | 2 bytes, "f1" |
 *   | slt | the salt byte of the address |
 *   | pk  | 1793 bytes |
 *   | sig | compressed deterministic signature of Falcon-1024, of any salt version |
 *
 * The signed bytes are "TX" followed by the transaction in canonical msgpack. Until 20 July 2026
 * (go-algorand, pull request 6669) they were the SHA-512/256 of that, the transaction's id; test
 * vectors and SDKs from before that date still sign the id.
 */
import { sha512_256 } from '@noble/hashes/sha2.js';
import { copyBytes, isIntact, notBytes, readOptions, typeName } from '../../../shared/arguments.ts';
import { ascii, concat, equal } from '../../../shared/bytes.ts';
import { hasOwn } from '../../../shared/intrinsics.ts';
import { falcon1024 } from '../../index.ts';
import { addressBytes, decodeAddress, SCHEME } from './address.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The decoded `pqsig` of a transaction. */
export interface PqSignature {
  readonly sch: Uint8Array;
  /** Omitted when it is 0. */
  readonly slt?: number;
  readonly pk: Uint8Array;
  readonly sig: Uint8Array;
}

/** The same as the models of algosdk's indexer and algod have it. */
export interface IndexerPqSignature {
  readonly scheme: string;
  /** Omitted when it is 0. */
  readonly salt?: number | bigint;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** The signed bytes: `transaction`, or in older signatures its `transactionId`. */
export type SignedBytes = 'transaction' | 'transactionId';

/** The signed bytes of a delegation: `program`, or in older ones their hash, `programHash`. */
export type SignedProgram = 'program' | 'programHash';

const TAG = ascii('TX');
const PROGRAM_TAG = ascii('PQProgram');
const SCHEME_BYTES = ascii(SCHEME);
/** The header of a compressed deterministic signature: 0xb0 + logn. */
const COMPRESSED = 0xba;

/**
 * Returns the bytes that an account signs.
 *
 * @param transaction the unsigned transaction in canonical msgpack (algosdk:
 *   `encodeUnsignedTransaction`)
 * @throws TypeError or RangeError for any other input
 */
export function bytesToSign(transaction: Uint8Array, signed: SignedBytes = 'transaction'): Bytes {
  const tagged = concat(TAG, copyBytes('transaction', transaction));
  if (signed === 'transaction') return tagged;
  if (signed === 'transactionId') return sha512_256(tagged) as Bytes;
  throw new RangeError('"signed" expected transaction or transactionId');
}

/**
 * Returns the bytes that an account signs to delegate its authority to a program: "PQProgram", the
 * account's address, the program (go-algorand, data/transactions/logic/program.go).
 *
 * @param signed `programHash`: their SHA-512/256, which older delegations sign
 * @throws TypeError or RangeError if the arguments are not an address and bytes
 */
export function programToSign(
  authorizer: string | Uint8Array,
  program: Uint8Array,
  signed: SignedProgram = 'program',
): Bytes {
  const tagged = concat(PROGRAM_TAG, readAddress(authorizer), copyBytes('program', program));
  if (signed === 'program') return tagged;
  if (signed === 'programHash') return sha512_256(tagged) as Bytes;
  throw new RangeError('"signed" expected program or programHash');
}

/**
 * Verifies the signature of a transaction. The caller must check the contents of the transaction,
 * and that the address may act for its sender (it is the sender, or the sender was rekeyed to it).
 *
 * @param pqsig the field as decoded, or the object of algosdk's indexer. Any contents of the right
 *   types give true or false; a missing member is an empty one
 * @param transaction the unsigned transaction in canonical msgpack
 * @param authorizer the address that must have signed, as text or 32 bytes
 * @param options `signed`: the signed bytes. Default `transaction`
 * @throws TypeError if `pqsig` has none of these members, or one of another type (base64 text of
 *   JSON), or for arguments of the wrong type; RangeError if `authorizer` is not an address, or for
 *   unknown values
 */
export function verifyPqSignature(
  pqsig: PqSignature | IndexerPqSignature,
  transaction: Uint8Array,
  authorizer: string | Uint8Array,
  options?: { readonly signed?: SignedBytes },
): boolean {
  const { signed } = readOptions(options, ['signed']);
  const message = bytesToSign(transaction, signed as SignedBytes | undefined);
  return verify(pqsig, message, readAddress(authorizer));
}

/**
 * Verifies a signature by which an account delegates its authority to a program (`pqsig` of a logic
 * signature).
 *
 * @param options `signed`: the signed bytes. Default `program`
 * @throws as `verifyPqSignature`
 */
export function verifyPqDelegation(
  pqsig: PqSignature | IndexerPqSignature,
  program: Uint8Array,
  authorizer: string | Uint8Array,
  options?: { readonly signed?: SignedProgram },
): boolean {
  const { signed } = readOptions(options, ['signed']);
  const address = readAddress(authorizer);
  const message = programToSign(address, program, signed as SignedProgram | undefined);
  return verify(pqsig, message, address);
}

const readAddress = (value: string | Uint8Array): Bytes =>
  typeof value === 'string' ? decodeAddress(value) : copyBytes('authorizer', value, 32);

function verify(pqsig: unknown, message: Bytes, authorizer: Bytes): boolean {
  const { scheme, salt, publicKey, signature } = readPqSignature(pqsig);
  if (!equal(scheme, SCHEME_BYTES)) return false;
  if (!Number.isInteger(salt) || salt < 0 || salt > 255) return false;
  if (!equal(addressBytes(publicKey, salt), authorizer)) return false;
  if (signature[0] !== COMPRESSED) return false;
  return falcon1024.det.verify(signature, message, publicKey, { saltVersions: 'any' });
}

const CODEC = { scheme: 'sch', salt: 'slt', publicKey: 'pk', signature: 'sig' };
const INDEXER = { scheme: 'scheme', salt: 'salt', publicKey: 'publicKey', signature: 'signature' };

/** Copies the members, so that the same bytes are checked and verified. @throws TypeError */
function readPqSignature(pqsig: unknown) {
  if (typeof pqsig !== 'object' || pqsig === null) {
    throw new TypeError(`"pqsig" expected an object, got ${typeName(pqsig)}`);
  }
  const names = [CODEC, INDEXER].find((each) =>
    Object.values(each).some((name) => hasOwn(pqsig, name)),
  );
  if (names === undefined) {
    throw new TypeError(`"pqsig" expected sch, pk and sig, got ${typeName(pqsig)} without them`);
  }
  const member = (name: string): unknown =>
    hasOwn(pqsig, name) ? (pqsig as Record<string, unknown>)[name] : undefined;
  const bytes = (name: string, value: unknown): Bytes => {
    if (value === undefined) return new Uint8Array(0);
    if (!isIntact(value)) throw notBytes(`pqsig.${name}`, value);
    return copyBytes(name, value);
  };
  const scheme = member(names.scheme);
  const given = member(names.salt);
  const salt = given === undefined ? 0 : given;
  if (typeof salt !== 'number' && typeof salt !== 'bigint') {
    throw new TypeError(`"pqsig.${names.salt}" expected a number, got ${typeName(salt)}`);
  }
  return {
    scheme:
      names === INDEXER && typeof scheme === 'string' ? ascii(scheme) : bytes(names.scheme, scheme),
    salt: Number(salt),
    publicKey: bytes(names.publicKey, member(names.publicKey)),
    signature: bytes(names.signature, member(names.signature)),
  };
}
