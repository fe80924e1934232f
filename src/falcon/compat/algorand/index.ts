/**
 * Algorand's post-quantum accounts: addresses, keys from 25 words, a signer for algosdk, and the
 * verification of their signatures. The scheme is deterministic Falcon-1024.
 */
export {
  type AlgorandAccount,
  accountFromEntropy,
  accountFromMnemonic,
  type Falcon1024Signer,
  falcon1024Signer,
} from './account.ts';
export { type AlgorandAddress, algorandAddress, decodeAddress, encodeAddress } from './address.ts';
export { entropyOf, mnemonicOf } from './mnemonic.ts';
export {
  bytesToSign,
  type IndexerPqSignature,
  type PqSignature,
  programToSign,
  type SignedBytes,
  type SignedProgram,
  verifyPqDelegation,
  verifyPqSignature,
} from './signature.ts';
