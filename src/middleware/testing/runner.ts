/**
 * As much of a test runner as the suites need. The functions of vitest, node:test, `bun:test` and
 * mocha all fit: `import { describe, it } from 'node:test'`, then `{ describe, it }`.
 */
export interface TestRunner {
  /** Groups the tests that `body` declares. */
  describe(name: string, body: () => void): unknown;
  /** Declares a test, which fails if the promise of `body` rejects. */
  it(name: string, body: () => Promise<void>): unknown;
}
