import { defineConfig } from 'vitest/config';
import { ContractReporter } from './test/support/contract/reporter.ts';
import { FactsReporter } from './test/support/factsReporter.ts';
import { FailuresReporter } from './test/support/failuresReporter.ts';

/**
 * Minutes of big-integer arithmetic each, left to SLOW=1. What they hold the fast prover and verifier to is held in every run by
 * frozen vectors, the slow prover's bytes for small batches, and the cheating provers before the fast verifier.
 */
const SLOW_ONLY = [
  'test/aggregate/adversary/argument.test.ts',
  'test/aggregate/reference/interop.test.ts',
  'test/aggregate/reference/prover.test.ts',
  'test/aggregate/reference/tamper.test.ts',
];

// Two cores are the yardstick: two processes, each with one test file at a time. Forks, not threads: native add-ons
// of the peers and tests that start worker threads of their own are safest with a process to themselves.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.SLOW ? [] : SLOW_ONLY,
    // Holds every answer of every service to the OpenAPI document.
    setupFiles: ['test/support/contract/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    // Named explicitly: the default would change with the terminal and could hide what the tests print.
    reporters: [
      'default',
      ['json', { outputFile: 'build/test-results.json' }],
      new FactsReporter(),
      new ContractReporter(),
      new FailuresReporter(),
    ],
  },
});
