/**
 * The entry `falconry/verify`: verification of Falcon-512 and Falcon-1024 alone, for pages and
 * edge functions that count kilobytes. The package builds it with the module `falcon.verify.wasm`,
 * which has no code for secrets.
 */
export { isCodedError } from '../errors.ts';
export { ready, useFalconModule } from './index.ts';
export type { FalconLengths } from './params.ts';
export type {
  BatchItem,
  InvalidBatchItem,
  InvalidReason,
  ParameterSet,
  PreparedPublicKey,
  SignatureFormat,
  VerifyOptions,
} from './types.ts';
export {
  type FalconVerifier,
  verifier512 as falcon512,
  verifier1024 as falcon1024,
} from './verifier.ts';
