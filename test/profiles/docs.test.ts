/** The examples of docs/profiles.md for the entries of src/profiles, run as they stand. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localised } from '../hosts/recipes.ts';

const text = readFileSync(new URL('../../docs/profiles.md', import.meta.url), 'utf8');
const examples = [...text.matchAll(/```ts\n([\s\S]*?)```/g)]
  .map((match) => match[1]!)
  .filter((source) => /'falconry\/(eth-falcon|drafts\/[^']+)'/.test(source));

test('both entries have an example', () => expect(examples.length).toBeGreaterThanOrEqual(2));

test.each(examples)('an example prints what it says', (source) => {
  const folder = mkdtempSync(join(tmpdir(), 'falconry-profiles-'));
  try {
    const file = join(folder, 'example.ts');
    writeFileSync(file, localised(source));
    const printed = execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
    const promised = [...source.matchAll(/console\.log\(.*\); \/\/ (true|false)/g)];
    expect(promised.length).toBeGreaterThan(0);
    expect(printed.trim().split('\n')).toEqual(promised.map((match) => match[1]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
