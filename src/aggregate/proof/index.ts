/**
 * The succinct proof of one section (docs/protocol.md): its prover, its verifier, its size, and the
 * parts of both that run in other threads. README.md gives an overview.
 */
export { CLAIMED_BITS, claimedBitsOf, MAX_SECTION_ITEMS } from './constants.ts';
export { holdInstances } from './instances.ts';
export { holdKeys, keptKeyBytes } from './keyCache.ts';
export { jobsOfPart, openPart, verifiedPart } from './merger.ts';
export { ColumnProver } from './prover/columnProver.ts';
export {
  type Helper,
  runStep,
  type StepInput,
  type StepName,
  type StepOutput,
} from './prover/columnProvers.ts';
export type { PartOutput } from './prover/partInput.ts';
export {
  type ProveOptions,
  type ProveProgress,
  proveMerge,
  provePart,
  proveSection,
  type SectionItem,
} from './prover/prove.ts';
export { MOST_PARTS, mergedParametersFor, mergedRowsOf, parametersFor } from './shapes.ts';
export { proofSize } from './size.ts';
export type { Trace, TraceEvent } from './transcript.ts';
export type { StatedItem } from './verifier/foldItems.ts';
export { type FoldJob, type FoldResult, foldOnIdle } from './verifier/folds.ts';
export {
  type OpenedBytes,
  openSection,
  SectionsInBlocks,
  type SectionToVerify,
  statedItems,
  verifySection,
  verifySectionIn,
} from './verifier/verify.ts';
export {
  MergedInBlocks,
  type MergedToVerify,
  openMerged,
  verifyMerged,
  verifyMergedIn,
} from './verifier/verifyMerged.ts';
