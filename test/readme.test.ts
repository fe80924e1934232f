/** Every TypeScript example of the README runs as it stands, and prints what it says it prints. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readRecipes } from './hosts/recipes.ts';
import { blocksOf, promised, runBlock } from './support/documentBlocks.ts';

const ROOT = new URL('..', import.meta.url);

const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
const examples = blocksOf('README.md').filter(({ language }) => language === 'ts');

describe('README', () => {
  test('has examples', () => expect(examples.length).toBeGreaterThanOrEqual(5));

  test.each(examples.map(({ source }, i) => [i + 1, source] as const))(
    'example %i',
    async (_, source) => {
      expect(promised(source).length).toBeGreaterThan(0);
      expect(await runBlock(source)).toEqual(promised(source));
    },
  );

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

  test('no figure is left open', () => expect(readme).not.toContain('@@'));
});
