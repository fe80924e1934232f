/** Every TypeScript example of the README runs as it stands, and prints what it says it prints. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bytesPicture, pictureFile } from '../scripts/bytes-picture.ts';
import { localised, readRecipes } from './hosts/recipes.ts';

const ROOT = new URL('..', import.meta.url);

const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);

/** What the comments behind `console.log` promise, where they are values. */
function promised(source: string): string[] {
  return [...source.matchAll(/console\.log\(.*\); \/\/ (true|false|\d+|\[\])/g)].map((m) => m[1]!);
}

describe('README', () => {
  test('has examples', () => expect(examples.length).toBeGreaterThanOrEqual(2));

  test.each(examples.map((source, i) => [i + 1, source] as const))('example %i', (_, source) => {
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
  });

  test('every line that mounts the service stands in a program that is run', async () => {
    const programs = (await readRecipes()).map(({ source }) => source).join();
    const lines = [
      ...readme.matchAll(/^\|[^|]*\| `(\w[^`]*\(service[^`]*|app\.route[^`]*)` \|$/gm),
    ];
    expect(lines.length).toBe(5);
    for (const [, line = ''] of lines) expect(programs).toContain(line);
  });

  test('every link leads to a file', () => {
    const paths = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1]!);
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) expect(existsSync(new URL(path, ROOT)), path).toBe(true);
  });

  test('its picture is made from its table: node scripts/bytes-picture.ts', () => {
    for (const theme of ['light', 'dark'] as const) {
      expect(readFileSync(pictureFile(theme), 'utf8')).toBe(bytesPicture(readme, theme));
    }
  });

  test('it is short: 200 lines, of 100 columns where they are no rows of a table', () => {
    const lines = readme.split('\n');
    expect(lines.length).toBeLessThanOrEqual(200);
    expect(lines.filter((line) => line.length > 100 && !line.startsWith('|'))).toEqual([]);
  });

  test('no figure is left open', () => expect(readme).not.toContain('@@'));
});
