/**
 * How many bytes a batch takes in each form, from the code that makes the forms: bundles are really
 * made; of a proof it is the estimate by which `format: 'auto'` decides, from the parameter table.
 */
import { createHash } from 'node:crypto';
import { startBatch } from '../../src/aggregate/batch.ts';
import { encodeBundle } from '../../src/aggregate/bundle.ts';
import { estimateProofBytes } from '../../src/aggregate/proofFormat.ts';
import type { TestSeed } from '../../src/falcon/types.ts';
import {
  type AggregateItem,
  type Falcon,
  falcon512,
  falcon1024,
  MAX_PROOF_ITEMS,
} from '../../src/index.ts';
import type { SizeRow, Sizes } from './theme/sizeRows.ts';

/** Where the lines of proof and bundle cross, for both sets: every number is drawn there. */
const CROSSING = { from: 36, to: 110 };

/** As many as the service takes by default: docs/aggregation.md lists its sizes. */
const USUAL = 1722;

/**
 * Numbers of signatures, up to the largest proof: each a tenth more than the one before, save at
 * the crossing and at the usual maximum.
 */
function counts(most: number): number[] {
  const list = [1];
  for (let last = 1; last < most; list.push(last)) {
    const isNear = last >= CROSSING.from && last < CROSSING.to;
    const next = isNear ? last + 1 : Math.max(last + 1, Math.round(last * 1.1));
    last = Math.min(last < USUAL ? USUAL : most, next);
  }
  return list;
}

/** What replaces randomness, another for each signature. */
function seedOf(index: number): TestSeed {
  const bytes = createHash('sha512').update(`sizes ${index}`).digest();
  const more = createHash('sha512').update(bytes).digest();
  return { salt: bytes.subarray(0, 40), samplerSeed: more.subarray(0, 48) };
}

/**
 * Signatures of one key, whose seeds are fixed: a chart is the same whenever it is made, and the
 * table of docs/aggregation.md has its figures.
 */
function makeItems(falcon: Falcon, derived: boolean): AggregateItem[] {
  const { publicKey, secretKey } = falcon.keygen(new Uint8Array(48).fill(7));
  using expanded = falcon.expandSecretKey(secretKey);
  return Array.from({ length: MAX_PROOF_ITEMS[falcon.name] }, (_, i) => {
    const message = new TextEncoder().encode(`message ${i}`);
    const options = derived ? ({ salt: 'derived' } as const) : { testSeed: seedOf(i) };
    return { publicKey, message, signature: falcon.sign(message, expanded, options) };
  });
}

function bytesOf(items: readonly AggregateItem[]): { bundle: number; proof: number } {
  const batch = startBatch();
  batch.add(items);
  const verified = batch.finish();
  return {
    bundle: encodeBundle(verified).length,
    proof: Math.round(estimateProofBytes(verified)),
  };
}

function sizesOf(falcon: Falcon): SizeRow[] {
  const random = makeItems(falcon, false);
  const derived = makeItems(falcon, true);
  return counts(MAX_PROOF_ITEMS[falcon.name]).map((count) => {
    const written = bytesOf(random.slice(0, count));
    const unwritten = bytesOf(derived.slice(0, count));
    return {
      count,
      signatures: random.slice(0, count).reduce((sum, item) => sum + item.signature.length, 0),
      bundle: written.bundle,
      proof: written.proof,
      bundleDerived: unwritten.bundle,
      proofDerived: unwritten.proof,
    };
  });
}

/** The rows of both parameter sets, by number of signatures. */
export function measureSizes(): Sizes {
  return { falcon512: sizesOf(falcon512), falcon1024: sizesOf(falcon1024) };
}
