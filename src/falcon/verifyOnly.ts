/**
 * The entry `falconry/verify`: only verification, in every profile, for pages and edge functions
 * with size limits. The package builds it with the module `falcon.verify.wasm`, which has no
 * secret-key code.
 */
import type { DeterministicVerifier } from './det.ts';
import { createDeterministicVerifier } from './deterministic.ts';
import { paramsIn } from './params.ts';
import type { FnDsaDraftVerifier } from './profiles/fnDsaTypes.ts';
import { createDraftVerifier } from './profiles/fnDsaVerifier.ts';
import type { ParameterSet } from './types.ts';
import { createVerifier, type FalconVerifier } from './verifier.ts';
import { bestModule } from './wasm.ts';

export { isCodedError } from '../shared/errors.ts';
export type { ModuleName } from '../shared/wasmLoader.ts';
export type {
  DeterministicFormat,
  DeterministicInvalidReason,
  DeterministicLengths,
  DeterministicVerifier,
  DeterministicVerifyOptions,
  InvalidDeterministicItem,
} from './det.ts';
export { ready, useFalconModule } from './index.ts';
export type { FalconLengths } from './params.ts';
export type { FnDsaMessageOptions, PreHash } from './profiles/fnDsaMessage.ts';
export type {
  FnDsaDraftLengths,
  FnDsaDraftVerifier,
  FnDsaStatement,
} from './profiles/fnDsaTypes.ts';
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
} from './types.ts';
export type { FalconVerifier } from './verifier.ts';

/** Verification for a parameter set of round 3, including deterministic signatures. */
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

/** Verification for Falcon-512. */
export const falcon512: Round3Verifier = /* @__PURE__ */ createRound3('falcon512');
/** Verification for Falcon-1024. */
export const falcon1024: Round3Verifier = /* @__PURE__ */ createRound3('falcon1024');

/** Verification for ETHFALCON. */
export const ethFalcon512: FalconVerifier = /* @__PURE__ */ createVerifier(
  /* @__PURE__ */ paramsIn('eth-falcon', 'falcon512'),
  /* @__PURE__ */ bestModule(),
);

/** Verification for the FN-DSA draft, n = 512. */
export const fnDsaDraft512: FnDsaDraftVerifier = /* @__PURE__ */ createDraftVerifier(
  'fnDsaDraft512',
  'falcon512',
);
/** Verification for the FN-DSA draft, n = 1024. */
export const fnDsaDraft1024: FnDsaDraftVerifier = /* @__PURE__ */ createDraftVerifier(
  'fnDsaDraft1024',
  'falcon1024',
);
