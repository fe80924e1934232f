/**
 * Honest proofs over the rows of the cheating provers are accepted by both verifiers: what is
 * refused over these rows is not refused for the row.
 */
import { expect, test } from 'vitest';
import { expectAccepted, forged, isAcceptedByLibrary } from './attack.ts';
import { IN_LONG, IN_SHORT, LONG } from './hidden.ts';
import * as ROWS from './rows.ts';

const { BEHIND_ZERO, CUT, NARROW_0, NARROW_1, NARROW_OUTPUT, NARROW_TAIL, ...others } = ROWS;
const TAKEN = [
  ...(IN_SHORT ? Object.entries({ CUT }) : []),
  // in the short run encoding.test.ts has such a proof over BEHIND_ZERO
  ...(IN_LONG ? Object.entries({ BEHIND_ZERO, ...others }) : []),
];

test.each(TAKEN)('%s', LONG, (_, row) => {
  const failed: string[] = [];
  const ignore = (reason: string): boolean => failed.push(reason) > 0;
  const proof = forged({ row, faults: { ignore } });
  expect(failed).toEqual([]);
  expectAccepted(proof, {});
  expect(isAcceptedByLibrary(proof)).toBe(true);
});

test('an honest witness is beyond a bound of the narrow ones', () => {
  for (const narrow of [NARROW_0, NARROW_1, NARROW_OUTPUT, NARROW_TAIL]) {
    expect(Object.values(others)).not.toContain(narrow);
  }
});
