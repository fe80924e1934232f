/**
 * Whole aggregates of the slow prover, of every coding of salts, and such that are wrong in one
 * respect each: the verdict of the fast verifier, and the bytes of the fast prover.
 */
import { describe, expect, test } from 'vitest';
import { aggregate, verifyAggregate } from '../../../src/aggregate/index.ts';
import { badCases } from '../../reference/badCases.ts';
import { type Case, goodCases } from '../../reference/cases.ts';
import { hex } from '../../support/hex.ts';
import { NIGHTLY } from '../../support/run.ts';

const LONG = { timeout: 3_600_000 };
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));

const itemsOf = ({ task }: Case) =>
  task.map(({ digest, public_key, signature }) => ({
    message: bytes(digest),
    publicKey: bytes(public_key),
    signature: bytes(signature),
  }));

// A hundred proofs of the slow prover, each of seconds.
describe.skipIf(!NIGHTLY)('whole aggregates', () => {
  test('honest ones are what the fast prover makes, and are accepted', LONG, async () => {
    let count = 0;
    for (const one of goodCases()) {
      const items = itemsOf(one);
      expect(hex(await aggregate(items, { format: 'proof' })), one.name).toBe(one.aggregate);
      expect(verifyAggregate(bytes(one.aggregate), items), one.name).toBe(true);
      count += 1;
    }
    expect(count).toBeGreaterThanOrEqual(12);
  });

  test('wrong ones are refused', LONG, () => {
    let count = 0;
    for (const one of badCases()) {
      expect(verifyAggregate(bytes(one.aggregate), itemsOf(one)), one.name).toBe(false);
      count += 1;
    }
    expect(count).toBeGreaterThan(100);
  });
});
