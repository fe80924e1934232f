/** The code of Next in docs/hosts.md is that of the example, which is built and run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf } from '../support/documentBlocks.ts';
import { examplesFolder } from './layOut.ts';

const FILES = [
  'service.ts',
  'app/falcon/[...path]/route.ts',
  'next.config.mjs',
  'app/verify/page.tsx',
  'proxy.ts',
];

test.each(FILES)('%s stands in docs/hosts.md as it is', (path) => {
  const sources = blocksOf('docs/hosts.md').map(({ source }) => source);
  expect(sources).toContain(readFileSync(join(examplesFolder, 'next', path), 'utf8'));
});
