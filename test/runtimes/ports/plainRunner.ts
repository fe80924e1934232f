/**
 * As much of a test framework as the contract suites use, for runtimes that vitest does not run in
 * and for suites that are to fail.
 */
import type { TestRunner } from '../../../src/middleware/testing/index.ts';

export interface Outcome {
  readonly passed: number;
  /** Name and error of each. */
  readonly failed: readonly string[];
}

export interface PlainRunner extends TestRunner {
  /** Runs every test that was declared, one after the other. */
  runAll(): Promise<Outcome>;
}

export function plainRunner(): PlainRunner {
  const tests: { readonly name: string; readonly body: () => Promise<void> }[] = [];
  let suite = '';
  return {
    describe(name, body) {
      suite = name;
      body();
    },
    it: (name, body) => void tests.push({ name: `${suite} > ${name}`, body }),
    async runAll() {
      let passed = 0;
      const failed: string[] = [];
      for (const { name, body } of tests) {
        try {
          await body();
          passed++;
        } catch (error) {
          failed.push(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
        }
      }
      return { passed, failed };
    },
  };
}
