import { fileURLToPath } from 'node:url';
import { defineConfig, type TestUserConfig } from 'vitest/config';
import { ContractReporter } from './test/support/contract/reporter.ts';
import { FactsReporter } from './test/support/factsReporter.ts';
import { FailuresReporter } from './test/support/failuresReporter.ts';
import { RunReporter } from './test/support/runReporter.ts';

export const LONG = 'test/**/*.long.test.ts';
export const NIGHTLY = 'test/**/*.nightly.test.ts';

/**
 * Two cores are the yardstick: two processes, each with one test file at a time. Forks, not
 * threads: native add-ons of the peers and tests that start worker threads of their own are safest
 * with a process to themselves.
 */
export const common: TestUserConfig = {
  // Holds every answer of every service to the OpenAPI document.
  setupFiles: ['test/support/contract/setup.ts'],
  // Many tests start commands: what Node has compiled for one of them serves the next.
  env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('build/compile-cache', import.meta.url)) },
  pool: 'forks',
  maxWorkers: 2,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  teardownTimeout: 10_000,
  // A second is little on a busy machine.
  expect: { poll: { timeout: 60_000 } },
};

/**
 * The short run (`npm test`) and the long run (`npm run test:all`, what the short one leaves out):
 * the name of a file says in which it is. The nightly run has a configuration of its own.
 */
export default defineConfig({
  test: {
    ...common,
    // Named explicitly: the default would change with the terminal and could hide what the tests
    // print.
    reporters: [
      'default',
      new FactsReporter(),
      new ContractReporter(),
      new FailuresReporter(),
      new RunReporter(),
    ],
    projects: [
      'vitest.short.config.ts',
      {
        extends: true,
        test: {
          name: 'long',
          provide: { run: 'long' },
          include: [LONG],
          globalSetup: ['test/support/rgwSetup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
