/** The succinct proof of one section (docs/protocol.md): its prover, its verifier, its size. */
export { type ProveOptions, type ProveProgress, proveSection, type SectionItem } from './prove.ts';
export { MAX_SECTION_ITEMS } from './shapes.ts';
export { proofSize } from './size.ts';
export type { Trace, TraceEvent } from './transcript.ts';
export { verifySection } from './verify.ts';
