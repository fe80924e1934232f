import { defaultExclude, defineConfig } from 'vitest/config';
import { common, LONG, NIGHTLY } from './vitest.config.ts';

/** Files that mock modules, watch the memory of their process, or need code that has never run. */
const ALONE = [
  'test/aggregate/adversary/projection.test.ts',
  'test/aggregate/parameterCheck.test.ts',
  'test/aggregate/proof/fuzz{Hidden,Mixed,One}.test.ts',
  'test/aggregate/proof/refusals.test.ts',
  'test/boundary/secrets.test.ts',
];
const exclude = [...defaultExclude, LONG, NIGHTLY];

/**
 * The short run, in two parts: `--project short` takes both. To load the library and to compile its
 * modules for every file anew took a third of the time of the folders that only compute: there, the
 * files that a process runs one after the other share them.
 */
export default defineConfig({
  test: {
    ...common,
    name: 'short',
    provide: { run: 'short' },
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/{,!(aggregate|boundary|falcon|wire)/**/}*.test.ts', ...ALONE],
          exclude,
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          isolate: false,
          include: ['test/{aggregate,boundary,falcon,wire}/**/*.test.ts'],
          exclude: [...exclude, ...ALONE],
        },
      },
    ],
  },
});
