/** The succinct proof of one section (docs/protocol.md): its prover, its verifier, its size, and the shares of both for other threads. */
export type { StatedItem } from './foldItems.ts';
export { type FoldJob, type FoldResult, foldOnIdle } from './folds.ts';
export { holdInstances } from './instances.ts';
export { type ProveOptions, type ProveProgress, proveSection, type SectionItem } from './prove.ts';
export { MAX_SECTION_ITEMS } from './shapes.ts';
export { Share } from './share.ts';
export { proofSize } from './size.ts';
export { type Helper, runStep, type StepInput, type StepName, type StepOutput } from './team.ts';
export type { Trace, TraceEvent } from './transcript.ts';
export { nextTurn } from './turn.ts';
export { endOfSection, verifySection, verifySectionIn } from './verify.ts';
