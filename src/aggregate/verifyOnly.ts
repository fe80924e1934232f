/**
 * The entry `falconry/verify-aggregate`: verification of proofs and bundles only, on the calling
 * thread. The package builds it with the modules `falcon.verify.wasm` and `labrador.verify.wasm`,
 * which contain only the verifier. The checks are those of `falconry/aggregate`.
 */

export { useFalconModule } from '../falcon/index.ts';
export { isCodedError } from '../shared/errors.ts';
export {
  type AggregateFormat,
  type AggregateInfo,
  type Arriving,
  type ArrivingBytes,
  extractSignatures,
  inspectAggregate,
  MAX_AGGREGATE_ITEMS,
  MAX_PROOF_ITEMS,
  MAX_SERIES_ELEMENTS,
  type SaltCoding,
  type Statement,
  type StreamProgress,
  statementCommitment,
  useLabradorModule,
  type VerifyStreamOptions,
  verifyAggregate,
  verifyAggregateStream,
} from './index.ts';
