/**
 * The published test vectors are those of the slow prover, and the slow verifier, which shares no
 * code with it, accepts the proofs among them. After a change of the table: node
 * test/reference/vectors.ts.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { headerOf, signedItems } from '../../reference/items.ts';
import { hashOfRow, tableRow } from '../../reference/table.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { VECTOR_ROW } from '../../reference/vectorRow.ts';
import { allVectors, hiddenVector, proofVector, smallVectors } from '../../reference/vectors.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { hex } from '../../support/hex.ts';
import { NIGHTLY, SHORT_RUN } from '../../support/run.ts';

// BigInt on a busy machine
vi.setConfig({ testTimeout: 600_000 });

const path = fileURLToPath(new URL('../../vectors/proof.json', import.meta.url));
const published = JSON.parse(readFileSync(path, 'utf8'));
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

test('all that is no proof', () => {
  const small = asJson(smallVectors());
  expect(Object.keys(small)).toHaveLength(12);
  for (const [name, value] of Object.entries(small)) expect(published[name], name).toEqual(value);
});

test.skipIf(SHORT_RUN)('the proof that is printed in full, and the mixed one', () => {
  const { proofs } = published['11 proofs'];
  expect(proofs).toHaveLength(9);
  for (const index of [0, 8]) {
    const again = proofVector(proofs[index].items, index === 0);
    expect(asJson(again)).toEqual(proofs[index]);
  }
  expect(proofs[8].sections.map(({ set }: { set: string }) => set)).toEqual([
    'falcon512',
    'falcon1024',
  ]);
});

/** The slow verifier accepts a printed proof of one item. */
function expectAccepted(printed: string, row: TableRow): void {
  const bytes = Uint8Array.from(Buffer.from(printed, 'hex'));
  const items = signedItems('falcon512', 1);
  const rowHash = hashOfRow(row);
  const header = headerOf(items, [rowHash]);
  expect(hex(bytes.subarray(0, header.length))).toBe(hex(header));
  const verdict = verifyReferenceSection({
    set: 512,
    row,
    rowHash,
    header,
    statements: items,
    salts: items.map(({ signature }) => signature.slice(1, 41)),
    bytes: bytes.subarray(header.length),
  });
  expect(verdict).toEqual({ ok: true, length: bytes.length - header.length });
}

test('the other verifier accepts the printed bytes', () => {
  const [proof] = published['11 proofs'].proofs;
  expectAccepted(proof.bytes, tableRow('falcon512', 1));
});

test.skipIf(SHORT_RUN)('hidden messages, and a proof that the other verifier accepts', () => {
  expect(asJson(hiddenVector())).toEqual(published['13 hidden']);
  expectAccepted(published['13 hidden'].proof.bytes, VECTOR_ROW);
});

test.runIf(NIGHTLY)('every proof', () => {
  expect(asJson(allVectors())).toEqual(published);
});
