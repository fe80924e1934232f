/** Keys of Algorand's post-quantum accounts, and the signer that Algorand's SDK accepts. */
import { sha512_256 } from '@noble/hashes/sha2.js';
import { copyBytes, readBytes } from '../../../shared/arguments.ts';
import { ascii, concat, wipe } from '../../../shared/bytes.ts';
import { falcon1024 } from '../../index.ts';
import { type AlgorandAddress, algorandAddress, SCHEME } from './address.ts';
import { entropyOf } from './mnemonic.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const TAG = ascii(`PQK${SCHEME}`);

/** A key pair of Falcon-1024 with its address. Clear `secretKey` after use. */
export interface AlgorandAccount extends AlgorandAddress {
  readonly publicKey: Bytes;
  readonly secretKey: Bytes;
}

/**
 * Derives an account from 32 secret bytes. The key is generated from SHA-512/256("PQK" ‖ scheme ‖
 * entropy), as in algokey and the SDKs.
 *
 * @param entropy 32 bytes
 * @throws TypeError or RangeError for any other input
 */
export function accountFromEntropy(entropy: Uint8Array): AlgorandAccount {
  const bytes = copyBytes('entropy', entropy, 32);
  const tagged = concat(TAG, bytes);
  const seed = sha512_256(tagged);
  try {
    const { publicKey, secretKey } = falcon1024.keygen(seed);
    return { publicKey, secretKey, ...algorandAddress(publicKey) };
  } finally {
    wipe(bytes, tagged, seed);
  }
}

/**
 * Derives an account from 25 words.
 *
 * @throws TypeError or RangeError as `entropyOf`
 */
export function accountFromMnemonic(mnemonic: string): AlgorandAccount {
  const entropy = entropyOf(mnemonic);
  try {
    return accountFromEntropy(entropy);
  } finally {
    wipe(entropy);
  }
}

/**
 * The argument of algosdk's `addressWithSignersFromRawFalcon1024Signer` (its
 * `Falcon1024SigningKey`). Holds secrets: destroy it after use.
 */
export interface Falcon1024Signer {
  readonly falcon1024PublicKey: Bytes;
  /** Signs exactly these bytes, deterministically. The SDK chooses the bytes. */
  readonly falcon1024Signer: (bytesToSign: Uint8Array) => Promise<Bytes>;
  /** Overwrites the key with zeros; later calls reject with TypeError. */
  readonly destroy: () => void;
}

/**
 * Creates a signer for algosdk. The same bytes always get the same signature.
 *
 * @param secretKey 2305 bytes; copied
 * @throws TypeError or RangeError if it is not a secret key of Falcon-1024
 * @example
 * ```ts
 * const signer = falcon1024Signer(secretKey);
 * const { address, txnSigner } = algosdk.addressWithSignersFromRawFalcon1024Signer(signer);
 * ```
 */
export function falcon1024Signer(secretKey: Uint8Array): Falcon1024Signer {
  const falcon1024PublicKey = falcon1024.getPublicKey(secretKey);
  const key = falcon1024.expandSecretKey(secretKey);
  return Object.freeze({
    falcon1024PublicKey,
    falcon1024Signer: async (bytesToSign: Uint8Array) => {
      readBytes('bytesToSign', bytesToSign);
      return falcon1024.det.sign(bytesToSign, key);
    },
    destroy: () => key.destroy(),
  });
}
