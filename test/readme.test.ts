/** Every TypeScript example of the README runs as it stands, and prints what it says it prints. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('..', import.meta.url);
const ENTRIES: Readonly<Record<string, string>> = {
  falconry: new URL('src/index.ts', ROOT).href,
  'falconry/middleware': new URL('src/middleware/index.ts', ROOT).href,
};

const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);

/** The example with its imports pointed at this checkout. */
function localised(source: string): string {
  return source.replace(/from '([^']+)'/g, (_, name: string) => {
    const target = ENTRIES[name] ?? import.meta.resolve(name);
    return `from '${target}'`;
  });
}

/** What the comments behind `console.log` promise, where they are values. */
function promised(source: string): string[] {
  return [...source.matchAll(/console\.log\(.*\); \/\/ (true|false|\d+|\[\])/g)].map((m) => m[1]!);
}

describe('README', () => {
  test('has examples', () => expect(examples.length).toBeGreaterThanOrEqual(5));

  test.each(examples.map((source, i) => [i + 1, source] as const))(
    'example %i',
    (_, source) => {
      const folder = mkdtempSync(join(tmpdir(), 'falconry-readme-'));
      try {
        const file = join(folder, 'example.ts');
        writeFileSync(file, localised(source));
        const printed = execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
        const values = printed.split('\n').filter((line) => /^(true|false|\d+|\[\])$/.test(line));
        expect(promised(source).length).toBeGreaterThan(0);
        expect(values).toEqual(promised(source));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    60_000,
  );

  test('no figure is left open', () => expect(readme).not.toContain('@@'));
});
