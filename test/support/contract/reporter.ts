import type { Reporter, TestModule } from 'vitest/node';
import type {} from './setup.ts';

/** Prints how many answers were held to the OpenAPI document, and what of it no test has seen. */
export class ContractReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    const documented = new Set<string>();
    const codes = new Set<string>();
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { contract } = test.meta();
        for (const [key, count] of Object.entries(contract?.counts ?? {})) {
          counts.set(key, (counts.get(key) ?? 0) + count);
        }
        for (const key of contract?.documented ?? []) documented.add(key);
        for (const code of contract?.codes ?? []) codes.add(code);
      }
    }
    const events = counts.get('events') ?? 0;
    counts.delete('events');
    const unknown = [...codes].filter((code) => !counts.has(`code ${code}`));
    for (const key of counts.keys()) if (key.startsWith('code ')) counts.delete(key);
    const answers = [...counts.values()].reduce((sum, count) => sum + count, 0);
    if (answers === 0) return;
    const operations = new Set([...counts.keys()].map((key) => key.split(' ')[0]));
    operations.delete('general');
    const all = new Set([...documented].map((key) => key.split(' ')[0]));
    const unseen = [...documented].filter((key) => !counts.has(key));
    const lines = [
      `   contract-checked answers: ${answers}, and ${events} events`,
      `     of ${operations.size}${all.size > 0 ? ` of ${all.size}` : ''} operations; ` +
        [...counts]
          .filter(([key]) => key.startsWith('general'))
          .map(([key, count]) => `${count} ${key}`)
          .join(', '),
    ];
    if (documented.size > 0) {
      const seen = documented.size - unseen.length;
      lines.push(`     documented answers seen: ${seen} of ${documented.size}`);
      if (unseen.length > 0) lines.push(`     not seen: ${unseen.join(', ')}`);
      lines.push(
        `     problem codes seen: ${codes.size - unknown.length} of ${codes.size}` +
          (unknown.length > 0 ? `; not ${unknown.join(', ')}` : ''),
      );
    }
    process.stdout.write(`${lines.join('\n')}\n\n`);
  }
}
