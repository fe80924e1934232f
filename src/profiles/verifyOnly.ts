/**
 * The entry `falconry/verify`: verification alone, in every profile, for pages and edge functions
 * that count kilobytes. The package builds it with the module `falcon.verify.wasm`, which has no
 * code for secrets.
 */
import type { DeterministicVerifier } from '../falcon/det.ts';
import { createDeterministicVerifier } from '../falcon/deterministic.ts';
import { paramsIn } from '../falcon/params.ts';
import type { ParameterSet } from '../falcon/types.ts';
import { createVerifier, type FalconVerifier } from '../falcon/verifier.ts';
import { bestModule } from '../falcon/wasm.ts';
import type { FnDsaDraftVerifier } from './fnDsaTypes.ts';
import { createDraftVerifier } from './fnDsaVerifier.ts';

export { isCodedError } from '../errors.ts';
export type {
  DeterministicFormat,
  DeterministicInvalidReason,
  DeterministicLengths,
  DeterministicVerifier,
  DeterministicVerifyOptions,
  InvalidDeterministicItem,
} from '../falcon/det.ts';
export { ready, useFalconModule } from '../falcon/index.ts';
export type { FalconLengths } from '../falcon/params.ts';
export type {
  BatchItem,
  ByteStream,
  InvalidBatchItem,
  InvalidReason,
  NoOptions,
  ParameterSet,
  PreparedPublicKey,
  Profile,
  SignatureFormat,
  VerifyOptions,
} from '../falcon/types.ts';
export type { FalconVerifier } from '../falcon/verifier.ts';
export type { ModuleName } from '../falcon/wasm.ts';
export type { FnDsaMessageOptions, PreHash } from './fnDsaMessage.ts';
export type { FnDsaDraftLengths, FnDsaDraftVerifier, FnDsaStatement } from './fnDsaTypes.ts';

/** Verifies with a parameter set of round 3, and deterministic signatures by its keys. */
export interface Round3Verifier extends FalconVerifier {
  readonly det: DeterministicVerifier;
}

function createRound3(parameterSet: ParameterSet): Round3Verifier {
  const params = paramsIn('round3', parameterSet);
  const module = bestModule();
  return Object.freeze({
    ...createVerifier(params, module),
    det: createDeterministicVerifier(module, params),
  });
}

/** Verifies with Falcon-512. */
export const falcon512: Round3Verifier = /* @__PURE__ */ createRound3('falcon512');
/** Verifies with Falcon-1024. */
export const falcon1024: Round3Verifier = /* @__PURE__ */ createRound3('falcon1024');

/** Verifies with ETHFALCON. */
export const ethFalcon512: FalconVerifier = /* @__PURE__ */ createVerifier(
  /* @__PURE__ */ paramsIn('eth-falcon', 'falcon512'),
  /* @__PURE__ */ bestModule(),
);

/** Verifies with the FN-DSA draft, n = 512. */
export const fnDsaDraft512: FnDsaDraftVerifier = /* @__PURE__ */ createDraftVerifier(
  'fnDsaDraft512',
  'falcon512',
);
/** Verifies with the FN-DSA draft, n = 1024. */
export const fnDsaDraft1024: FnDsaDraftVerifier = /* @__PURE__ */ createDraftVerifier(
  'fnDsaDraft1024',
  'falcon1024',
);
