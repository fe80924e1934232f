import type { Reporter, TestModule } from 'vitest/node';
import type {} from './facts.ts';

/**
 * Prints, after everything else, the facts that passing tests stated with `fact()`, grouped by
 * topic.
 */
export class FactsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const topics = new Map<string, string[]>();
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        if (test.result().state !== 'passed') continue;
        for (const { topic, text } of test.meta().facts ?? []) {
          const lines = topics.get(topic) ?? [];
          lines.push(text);
          topics.set(topic, lines);
        }
      }
    }
    if (topics.size === 0) return;
    const lines = ['', ' What this run has shown'];
    for (const [topic, texts] of [...topics].sort(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push(`   ${topic}`, ...texts.map((text) => `     ${text}`));
    }
    process.stdout.write(`${lines.join('\n')}\n\n`);
  }
}
