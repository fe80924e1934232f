/**
 * Prints the results of the last test runs: the peers they compared with, and the totals in one
 * plain line.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { RunResults } from '../test/support/runReporter.ts';

const folder = new URL('../build/test-results/', import.meta.url);
const runs = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RunResults);

const sum = (count: (run: RunResults) => number): number =>
  runs.reduce((total, run) => total + count(run), 0);
const [passed, failed, skipped] = [
  sum((run) => run.passed),
  sum((run) => run.failed),
  sum((run) => run.skipped),
];
if (passed === 0) throw new Error('no test ran');
const peers = new Set(runs.flatMap((run) => run.peers));
if (peers.size === 0) throw new Error('no test was held against a peer');
for (const { run, seconds } of runs) {
  process.stdout.write(`${run} run: ${(seconds / 60).toFixed(1)} minutes\n`);
}
process.stdout.write(`peers: ${[...peers].join(', ')}\n`);
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed === 0 ? 0 : 1;
