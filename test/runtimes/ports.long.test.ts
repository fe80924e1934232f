/**
 * The contract suites of SQLite and the directory, run in Deno and Bun as well: what they promise
 * on Node, they keep there.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fact } from '../support/facts.ts';
import { BUN, BUN_RUN, CHECKOUT, DENO } from '../support/hostCommands.ts';
import type { Outcome } from './ports/plainRunner.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

let folder: string;
let file: string;

beforeAll(async () => {
  // In the project, so that its packages are found from there.
  folder = await mkdtemp(here('../../build/ports-'));
  file = join(folder, 'main.mjs');
  const bundle = await rolldown({
    input: here('./ports/main.ts'),
    platform: 'node',
    logLevel: 'silent',
  });
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const RUNTIMES = [
  { name: 'Node', program: process.execPath, args: [] },
  {
    name: 'Deno',
    program: DENO,
    args: [
      'run',
      ...CHECKOUT.Deno!,
      ...['read', 'write', 'env', 'sys'].map((it) => `--allow-${it}`),
    ],
  },
  { name: 'Bun', program: BUN, args: BUN_RUN },
];

describe('the embedded ports', () => {
  for (const { name, program, args } of RUNTIMES) {
    test(`in ${name}`, { timeout: 300_000 }, async (context) => {
      const { stdout } = await promisify(execFile)(program, [...args, file]);
      const { passed, failed } = JSON.parse(stdout.trim().split('\n').at(-1)!) as Outcome;
      expect(failed).toEqual([]);
      expect(passed).toBeGreaterThan(30);
      const what = `${name}: ${passed} tests of SQLite and the directory`;
      fact(context, 'runtimes really started', what);
    });
  }
});
