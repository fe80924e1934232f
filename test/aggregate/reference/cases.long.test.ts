/** Whole aggregates, good and bad, proved here and put before the slow verifier. */
import { describe, expect, test } from 'vitest';
import { badCases, badSalts } from '../../reference/badCases.ts';
import { type Case, goodCases } from '../../reference/cases.ts';
import { TABLE } from '../../reference/table.ts';
import { verifyReferenceProof } from '../../reference/verifier/proof.ts';
import { NIGHTLY } from '../../support/run.ts';

const LONG = { timeout: 3_600_000 };
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

function expectJudged({ name, task, aggregate, valid }: Case): void {
  const statements = task.map(({ public_key: key, digest }) => ({
    publicKey: bytesOf(key),
    message: bytesOf(digest),
  }));
  const verdict = verifyReferenceProof({
    table: TABLE,
    statements,
    bytes: bytesOf(aggregate),
  });
  expect(verdict.ok, name).toBe(valid);
}

describe('whole aggregates', () => {
  test('codings of salts that are not their own', LONG, () => {
    let count = 0;
    for (const one of badSalts()) {
      expectJudged(one);
      count++;
    }
    expect(count).toBe(11);
  });

  test.runIf(NIGHTLY)('all that are good', LONG, () => {
    for (const one of goodCases()) expectJudged(one);
  });

  test.runIf(NIGHTLY)('all that are bad', LONG, () => {
    for (const one of badCases()) expectJudged(one);
  });
});
