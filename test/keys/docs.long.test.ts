/** Every TypeScript example of docs/keys.md runs as it stands. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localised } from '../hosts/recipes.ts';

const text = readFileSync(new URL('../../docs/keys.md', import.meta.url), 'utf8');
const examples = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, source]) => source!);

test.each(examples.map((source, i) => [i + 1, source] as const))('example %i', (_, source) => {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-keys-'));
  try {
    const file = join(folder, 'example.mts');
    writeFileSync(file, localised(source));
    const printed = execFileSync(process.execPath, [file], { encoding: 'utf8' });
    expect(printed).toBe(source.includes('console.log') ? '58\n' : '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('they are found', () => expect(examples.length).toBe(3));
