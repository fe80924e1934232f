import { defineConfig } from 'vitest/config';
import { FactsReporter } from './test/support/factsReporter.ts';
import { FailuresReporter } from './test/support/failuresReporter.ts';
import { RunReporter } from './test/support/runReporter.ts';

/**
 * Every test, with the numbers that take hours: `npm run test:nightly`, of all or of the files that
 * are named.
 */
export default defineConfig({
  test: {
    name: 'nightly',
    provide: { run: 'nightly' },
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/rgwSetup.ts'],
    setupFiles: ['test/support/contract/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    teardownTimeout: 10_000,
    reporters: ['default', new FactsReporter(), new FailuresReporter(), new RunReporter()],
  },
});
