/**
 * As much of a test framework as the contract suites use, for runtimes that vitest does not run in:
 * it stands in for `vitest` when the suites are bundled. The assertions are vitest's own.
 */
type Step = () => unknown;

interface Suite {
  readonly name: string;
  readonly before: Step[];
  readonly after: Step[];
  readonly tests: { readonly name: string; readonly body: Step }[];
}

const suites: Suite[] = [];
let current: Suite | undefined;

export { expect } from '../../../node_modules/vitest/dist/index.js';

export function describe(name: string, body: () => void): void {
  const outer = current;
  current = {
    name,
    before: [...(outer?.before ?? [])],
    after: [...(outer?.after ?? [])],
    tests: [],
  };
  suites.push(current);
  body();
  current = outer;
}

export const beforeEach = (step: Step): void => void current!.before.push(step);
export const afterEach = (step: Step): void => void current!.after.unshift(step);
export const it = (name: string, body: Step): void => void current!.tests.push({ name, body });

export interface Outcome {
  readonly passed: number;
  /** Name and error of each. */
  readonly failed: readonly string[];
}

/** Runs every test that was described, one after the other. */
export async function runAll(): Promise<Outcome> {
  let passed = 0;
  const failed: string[] = [];
  for (const { name: suite, before, after, tests } of suites) {
    for (const { name, body } of tests) {
      try {
        for (const step of before) await step();
        try {
          await body();
        } finally {
          for (const step of after) await step();
        }
        passed++;
      } catch (error) {
        failed.push(`${suite} > ${name}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
  }
  return { passed, failed };
}
