/** The published types fit a browser project that checks its libraries, too. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile, layOut, OUR_TSC } from './typed.ts';

const folder = mkdtempSync(join(tmpdir(), 'falconry-types-'));
beforeAll(() => layOut(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(['bundler', 'nodenext'])('as resolved by %s', async (resolution) => {
  expect(await compile(OUR_TSC, folder, resolution)).toBe('');
});
