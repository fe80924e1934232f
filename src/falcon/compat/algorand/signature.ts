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
import { copyBytes, isIntact, readOptions, typeName } from '../../../shared/arguments.ts';
import { ascii, concat, equal } from '../../../shared/bytes.ts';
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

/** The signed bytes: `transaction`, or in older signatures its `transactionId`. */
export type SignedBytes = 'transaction' | 'transactionId';

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
 * @throws TypeError or RangeError if the arguments are not an address and bytes
 */
export function programToSign(authorizer: string | Uint8Array, program: Uint8Array): Bytes {
  return concat(PROGRAM_TAG, readAddress(authorizer), copyBytes('program', program));
}

/**
 * Verifies the signature of a transaction. The caller must check the contents of the transaction,
 * and that the address may act for its sender (it is the sender, or the sender was rekeyed to it).
 *
 * @param pqsig the field as decoded; any contents give true or false
 * @param transaction the unsigned transaction in canonical msgpack
 * @param authorizer the address that must have signed, as text or 32 bytes
 * @param options `signed`: the signed bytes. Default `transaction`
 * @throws TypeError if `pqsig` is not an object, or for arguments of the wrong type; RangeError if
 *   `authorizer` is not an address, or for unknown values
 */
export function verifyPqSignature(
  pqsig: PqSignature,
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
 * @throws as `verifyPqSignature`
 */
export function verifyPqDelegation(
  pqsig: PqSignature,
  program: Uint8Array,
  authorizer: string | Uint8Array,
): boolean {
  const address = readAddress(authorizer);
  return verify(pqsig, programToSign(address, program), address);
}

const readAddress = (value: string | Uint8Array): Bytes =>
  typeof value === 'string' ? decodeAddress(value) : copyBytes('authorizer', value, 32);

function verify(pqsig: PqSignature, message: Bytes, authorizer: Bytes): boolean {
  if (typeof pqsig !== 'object' || pqsig === null) {
    throw new TypeError(`"pqsig" expected an object, got ${typeName(pqsig)}`);
  }
  const { sch, slt = 0, pk, sig } = pqsig as { readonly [K in keyof PqSignature]: unknown };
  if (!isIntact(sch) || !isIntact(pk) || !isIntact(sig)) return false;
  if (!Number.isInteger(slt) || (slt as number) < 0 || (slt as number) > 255) return false;
  // Copies, so that the same bytes are checked and verified.
  const scheme = copyBytes('sch', sch);
  const publicKey = copyBytes('pk', pk);
  const signature = copyBytes('sig', sig);
  if (!equal(scheme, SCHEME_BYTES)) return false;
  if (!equal(addressBytes(publicKey, slt as number), authorizer)) return false;
  if (signature[0] !== COMPRESSED) return false;
  return falcon1024.det.verify(signature, message, publicKey, { saltVersions: 'any' });
}
