/** Prints the totals of the last test run as one plain line. */
import { readFileSync } from 'node:fs';

const results = JSON.parse(
  readFileSync(new URL('../build/test-results.json', import.meta.url), 'utf8'),
) as { numPassedTests: number; numFailedTests: number; numPendingTests: number };

const { numPassedTests, numFailedTests, numPendingTests } = results;
if (numPassedTests === 0) throw new Error('no test ran');
process.stdout.write(
  `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped\n`,
);
process.exitCode = numFailedTests === 0 ? 0 : 1;
