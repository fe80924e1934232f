/** How many polynomials are challenges of a fold: docs/soundness.md, 2, item 4. */
import { expect, test } from 'vitest';
import {
  ALL_SAMPLES,
  acceptedCandidates,
  LEAST_ACCEPTED,
  SAMPLES,
} from '../../scripts/parameters/streams.ts';
import { fact } from '../support/facts.ts';

test('2^24 candidates for challenges', { timeout: 3_600_000 }, (context) => {
  let count = 0;
  for (let number = 0; number < ALL_SAMPLES; number++) count += acceptedCandidates(number);
  expect(count).toBeGreaterThan(LEAST_ACCEPTED * SAMPLES * ALL_SAMPLES);
  expect(count).toBe(9_258_028);
  fact(context, 'challenges', `${count} of ${SAMPLES * ALL_SAMPLES} candidates pass`);
});
