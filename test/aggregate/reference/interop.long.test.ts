/** Prover and verifier, written apart from one text (see test/reference/README.md), agree. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { levelsOf, type Run, runOf } from '../../reference/prover/runs.ts';
import { type Projection, signedNormSq } from '../../reference/prover/steps.ts';
import { hashOfRow, tableRow } from '../../reference/table.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { TOY_ROWS } from '../../reference/toyRows.ts';
import { type SectionInput, verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { expectSameTranscript } from './toyProofs.ts';

// BigInt on a busy machine
vi.setConfig({ testTimeout: 600_000 });

const inputOf = ({ set, row, header, items, bytes }: Run): SectionInput => ({
  set: set === 'falcon512' ? 512 : 1024,
  row,
  rowHash: hashOfRow(tableRow(set, items.length)),
  header,
  statements: items,
  salts: items.map(({ signature }) => signature.slice(1, 41)),
  bytes,
});

test('both bound the same norm of the projection', () => {
  const [set, bucket, [first, ...rest]] = TOY_ROWS['one level']!;
  const bounded = (inSq: number): TableRow => [set, bucket, [first!.with(10, inSq), ...rest]];
  const run = runOf('falcon512', 1, bounded(2 ** 40));
  const input = inputOf(run);
  const { projecting } = levelsOf(run)[0]!.values as { projecting: { projection: Projection } };
  const normSq = signedNormSq(projecting.projection);

  const enough = bounded(Number((normSq + 287n) / 288n));
  const less = bounded(Number((normSq - 1n) / 288n));
  expect(runOf('falcon512', 1, enough).bytes).toEqual(run.bytes);
  expect(verifyReferenceSection({ ...input, row: enough }).ok).toBe(true);
  const why = 'projectionNorm: level 0';
  expect(verifyReferenceSection({ ...input, row: less })).toEqual({ ok: false, why });
  const again = runOf('falcon512', 1, less);
  expect(again.bytes).not.toEqual(run.bytes);
  expectSameTranscript(inputOf(again), again.events);
});

test('the two share no code', () => {
  const folder = (name: string): string =>
    fileURLToPath(new URL(`../../reference/${name}/`, import.meta.url));
  const importsOf = (name: string): string[] =>
    readdirSync(folder(name))
      .map((file) => readFileSync(folder(name) + file, 'utf8'))
      .flatMap((text) => [...text.matchAll(/^(import|export) (?!type )[^;]*?from '([^']+)'/gm)])
      .map((match) => match[2]!);
  const outside = (name: string): Set<string> =>
    new Set(importsOf(name).filter((path) => !path.startsWith('./') && !path.startsWith('node:')));
  expect(importsOf('prover').length).toBeGreaterThan(20);
  expect([...outside('prover')].sort()).toEqual([
    '../../../src/falcon/points.ts',
    '../items.ts',
    '../table.ts',
  ]);
  expect(importsOf('verifier').length).toBeGreaterThan(10);
  for (const path of outside('verifier'))
    expect(path).not.toMatch(/prover|labrador|falcon\/points/);
});
