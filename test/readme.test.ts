/** Every TypeScript example of the README runs as it stands, and prints what it says it prints. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bytesPicture, pictureFile } from '../scripts/bytes-picture.ts';
import { blocksOf, promised, runBlock } from './support/documentBlocks.ts';

const ROOT = new URL('..', import.meta.url);

const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
const examples = blocksOf('README.md').filter(({ language }) => language === 'ts');

describe('README', () => {
  test('has examples', () => expect(examples.length).toBeGreaterThanOrEqual(2));

  test.each(examples.map(({ source }, i) => [i + 1, source] as const))(
    'example %i',
    async (_, source) => {
      expect(promised(source).length).toBeGreaterThan(0);
      expect(await runBlock(source)).toEqual(promised(source));
    },
  );

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

  test('it is short: 150 lines, of 100 columns where they are no rows of a table', () => {
    const lines = readme.split('\n');
    expect(lines.length).toBeLessThanOrEqual(150);
    expect(lines.filter((line) => line.length > 100 && !line.startsWith('|'))).toEqual([]);
  });

  test('no figure is left open', () => expect(readme).not.toContain('@@'));
});
