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
  extractSignatures,
  inspectAggregate,
  MAX_AGGREGATE_ITEMS,
  MAX_PROOF_ITEMS,
  type SaltCoding,
  type Statement,
  statementCommitment,
  useLabradorModule,
  verifyAggregate,
} from './index.ts';
