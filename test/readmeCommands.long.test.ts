/**
 * The README as somebody reads it who has an empty folder: every block in order, as it stands, with
 * the packed library. Only "From a checkout" is for another folder.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from './bundlers/project.ts';
import { pack, removePacked } from './examples/example.ts';
import { blocksOf, promised } from './support/documentBlocks.ts';
import { fact } from './support/facts.ts';

const ELSEWHERE = 'npm ci';
const blocks = blocksOf('README.md').filter(({ source }) => !source.startsWith(ELSEWHERE));
const folder = mkdtempSync(join(tmpdir(), 'falconry-readme-'));
const bin = mkdtempSync(join(tmpdir(), 'falconry-readme-bin-'));

beforeAll(async () => {
  const { tarball } = await pack();
  // The registry does not have this version yet: its name means the tarball.
  const npm = join(bin, 'npm');
  writeFileSync(
    npm,
    `#!/bin/sh
for word; do shift; [ "$word" = falconry ] && word='${tarball}'; set -- "$@" "$word"; done
PATH="\${PATH#*:}" exec npm "$@"
`,
  );
  chmodSync(npm, 0o755);
}, 300_000);
afterAll(async () => {
  for (const each of [folder, bin]) rmSync(each, { recursive: true, force: true });
  await removePacked();
});

test('every block runs in order, in an empty folder', { timeout: 300_000 }, async (context) => {
  const PATH = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { PATH, FALCONRY_PORT: '0' };
  let shell = 0;
  for (const { language, source, line } of blocks) {
    if (language === 'sh') {
      shell++;
      await command(folder, 'bash', ['-e', '-o', 'pipefail', '-c', source], env);
      continue;
    }
    expect(language).toBe('ts');
    const file = join(folder, `line${line}.mts`);
    writeFileSync(file, source);
    const printed = await command(folder, process.execPath, [file], env);
    for (const value of promised(source)) expect(printed.split('\n')).toContain(value);
  }
  expect(shell).toBeGreaterThanOrEqual(2);
  expect(existsSync(join(folder, 'result.json'))).toBe(true);
  fact(context, 'README', `${blocks.length} blocks run with the packed library, in order`);
});
