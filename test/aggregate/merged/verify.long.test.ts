/** The library's verifier of merged proofs, before proofs of the slow prover. */
import { describe, expect, it } from 'vitest';
import { verifyAggregate } from '../../../src/aggregate/index.ts';
import { whyMerged } from '../../reference/merged/verifier.ts';
import { mergedProof, ROWS, withRows } from './mergedFiles.ts';

describe.each(ROWS)('%s', (_, row) => {
  it.each(Array.from({ length: row[1] }, (_, i) => i + 1))('accepts %i parts', async (count) => {
    const t0 = performance.now();
    const { parts, bytes } = mergedProof(row, count);
    const t1 = performance.now();
    const list = parts.flat();
    expect(whyMerged(bytes, list, [row])).toBe(undefined);
    const t2 = performance.now();
    const ok = await withRows([row], () => verifyAggregate(bytes, list));
    console.log(count, t1 - t0, t2 - t1, performance.now() - t2, ok);
    expect(ok).toBe(true);
  });
});
