/**
 * Algorand's post-quantum accounts: addresses, keys from 25 words, the signer that algosdk takes,
 * and the verification of their signatures. The scheme is Falcon-1024 in its deterministic variant.
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
  type PqSignature,
  programToSign,
  type SignedBytes,
  verifyPqDelegation,
  verifyPqSignature,
} from './signature.ts';
