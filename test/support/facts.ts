/**
 * What a test run has really shown, in figures: `fact(task, 'known answers', 'Falcon-512 dd75…')`.
 *
 * Facts travel with the result of the test that states them, so a test that fails or is skipped
 * states nothing, and {@link file://./factsReporter.ts} prints them all at the end of the run,
 * whatever else the terminal shows.
 */
import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    facts?: { topic: string; text: string }[];
  }
}

/**
 * Records one line for the closing table of the run. Call it after what it claims has been
 * asserted.
 */
export function fact(context: Pick<TestContext, 'task'>, topic: string, text: string): void {
  const meta = context.task.meta;
  meta.facts ??= [];
  meta.facts.push({ topic, text });
}
