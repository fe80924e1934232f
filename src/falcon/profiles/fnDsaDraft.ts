/**
 * FN-DSA according to the draft of July 2026: the profile of the crate fn-dsa 0.4.0 (rust-fn-dsa at
 * 0629bb1). FIPS 206 is not published. Keys and signatures of this entry will probably be invalid
 * under it; this entry will not change then (docs/profiles.md).
 */
import { bestModule } from '../wasm.ts';
import { createDraft } from './fnDsaScheme.ts';
import type { FnDsaDraft } from './fnDsaTypes.ts';

export type { FnDsaMessageOptions, PreHash } from './fnDsaMessage.ts';
export type {
  FnDsaDraft,
  FnDsaDraftLengths,
  FnDsaDraftVerifier,
  FnDsaItem,
  FnDsaSignOptions,
  FnDsaStatement,
} from './fnDsaTypes.ts';

/** n = 512, NIST security level 1. */
export const fnDsaDraft512: FnDsaDraft = /* @__PURE__ */ createDraft(
  'fnDsaDraft512',
  'falcon512',
  /* @__PURE__ */ bestModule(),
);
/** n = 1024, NIST security level 5. */
export const fnDsaDraft1024: FnDsaDraft = /* @__PURE__ */ createDraft(
  'fnDsaDraft1024',
  'falcon1024',
  /* @__PURE__ */ bestModule(),
);
