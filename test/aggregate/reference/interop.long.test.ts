/**
 * Prover and verifier, written apart from one text, meet: proofs are accepted, and both see the
 * same transcript. What the two do not share (see test/reference/README.md) is what this test is
 * about.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { tau } from '../../reference/prover/challenges.ts';
import { Q } from '../../reference/prover/ring.ts';
import { fieldsOf, levelsOf, type Run, runOf, stepsOf } from '../../reference/prover/runs.ts';
import { type Projection, signedNormSq } from '../../reference/prover/steps.ts';
import type { Faults } from '../../reference/prover/trace.ts';
import { TABLE_HASH } from '../../reference/table.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { TOY_ROWS } from '../../reference/toyRows.ts';
import { tauOf } from '../../reference/verifier/level0.ts';
import { type SectionInput, verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { hex } from '../../support/hex.ts';
import { NIGHTLY } from '../../support/run.ts';

// BigInt on a busy machine
vi.setConfig({ testTimeout: 600_000 });

interface Step {
  readonly kind: string;
  readonly label: string;
  readonly value: string;
}

function judge(run: Run, change: Partial<SectionInput> = {}) {
  const steps: Step[] = [];
  const verdict = verifyReferenceSection({
    set: run.set === 'falcon512' ? 512 : 1024,
    row: run.row,
    tableHash: TABLE_HASH,
    header: run.header,
    statements: run.items,
    salts: run.items.map(({ signature }) => signature.slice(1, 41)),
    bytes: run.bytes,
    trace: (kind, label, bytes) => {
      if (kind !== 'seal') steps.push({ kind, label, value: hex(bytes) });
    },
    ...change,
  });
  return { verdict, steps };
}

function expectAccepted(run: Run): void {
  const { verdict, steps } = judge(run);
  expect(verdict).toEqual({ ok: true, length: run.bytes.length });
  const mine = stepsOf(run.events).flatMap((step): Step[] => {
    if (step.kind === 'seal') return [];
    const value = hex(step.kind === 'absorb' ? step.st : step.seed);
    return [{ kind: step.kind, label: step.label, value }];
  });
  expect(mine.length).toBeGreaterThan(20);
  // each side draws seeds when it needs them: compare the absorbs in order, the seeds as a set
  const absorbs = (list: Step[]) => list.filter(({ kind }) => kind === 'absorb');
  expect(absorbs(steps)).toEqual(absorbs(mine));
  const seeds = (list: Step[]) =>
    new Set(
      list.filter(({ kind }) => kind === 'seed').map((step) => `${step.label} ${step.value}`),
    );
  expect(seeds(steps)).toEqual(seeds(mine));
}

describe('accepted, with equal transcripts', () => {
  for (const set of ['falcon512', 'falcon1024'] as const) {
    for (const count of NIGHTLY ? [1, 2, 3, 9] : [2]) {
      test(`${count} of ${set}`, () => {
        const run = runOf(set, count);
        expectAccepted(run);
      });
    }
  }

  for (const [name, row] of Object.entries(TOY_ROWS)) {
    test(`toy row: ${name}`, () => {
      const set = row[0] === 512 ? 'falcon512' : 'falcon1024';
      if (NIGHTLY) expectAccepted(runOf(set, Math.max(1, row[1] - 1), row));
      expectAccepted(runOf(set, row[1], row));
    });
  }
});

const [toy] = Object.values(TOY_ROWS);

test('another header, table, item, salt or order is refused', () => {
  const row = TOY_ROWS['two digits, no cut']!;
  const run = runOf('falcon512', 2, row);
  expect(judge(run).verdict.ok).toBe(true);
  const [first, second] = run.items;
  const salts = run.items.map(({ signature }) => signature.slice(1, 41));
  const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
    bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));
  for (const change of [
    { header: flipped(run.header, 7) },
    { tableHash: flipped(TABLE_HASH, 0) },
    { statements: [second!, first!] },
    { salts: [salts[1]!, salts[0]!] },
    { statements: [{ ...first!, message: Uint8Array.of(1, 2, 3) }, second!] },
  ]) {
    expect(judge(run, change).verdict.ok).toBe(false);
  }
});

test('a flipped bit in any field is refused', () => {
  const run = runOf('falcon512', 1, toy);
  let at = 0;
  for (const { bytes } of fieldsOf(run)) {
    const where = at + Math.floor(bytes.length / 2);
    const changed = run.bytes.map((byte, i) => (i === where ? byte ^ 4 : byte));
    expect(judge(run, { bytes: changed }).verdict.ok).toBe(false);
    at += bytes.length;
  }
  expect(at).toBe(run.bytes.length);
  expect(judge(run, { bytes: run.bytes.subarray(0, -1) }).verdict.ok).toBe(false);
});

describe('a deviation is refused, and accepted without the check that stops it', () => {
  const bump = (poly: readonly bigint[], by = 1n) => poly.map((x, i) => (i === 3 ? x + by : x));
  const at = <T>(list: readonly T[], index: number, change: (value: T) => T): T[] =>
    list.map((value, i) => (i === index ? change(value) : value));

  const deviations: Record<string, { faults: Faults; checks: SectionInput['checks'] }> = {
    'padding is not zero': {
      faults: {
        rowsY: (rows) => at(rows, rows.length - 1, (row) => at(row, row.length - 1, bump)),
        omit: new Set(['padding']),
      },
      checks: { padding: false },
    },
    'y is not the projection': {
      faults: {
        y: ({ y, star }) => ({ y: at(y, 17, (x) => x + 1n), star }),
        omit: new Set(['J']),
      },
      checks: { J: false },
    },
    'y* is not the projection': {
      faults: {
        y: ({ y, star }) => ({ y, star: at(star, 135, (x) => x - 1n) }),
        omit: new Set(['J']),
      },
      checks: { J: false },
    },
    'U is not the sum of the lower halves': {
      faults: {
        y: ({ y, star }) => ({ y: at(y, 136, (x) => x + 1n), star }),
        omit: new Set(['J']),
      },
      checks: { J: false },
    },
    'V is not the sum of the upper halves': {
      faults: {
        y: ({ y, star }) => ({ y, star: at(star, 136, (x) => x + 1n) }),
        omit: new Set(['J']),
      },
      checks: { J: false },
    },
    'w_j is one too large': {
      faults: { w: (w) => at(w, 4, (x) => x + 1n), omit: new Set(['F']) },
      checks: { F: false },
    },
    'Y is not the product': {
      faults: {
        Y: (Y) => at(Y, 0, (list) => at(list, 0, bump)),
        omit: new Set(['K', 'N1']),
      },
      checks: { K: false, N1: false },
    },
  };

  // one item of two: the other's places are padding
  const row = TOY_ROWS['two digits, no cut']!;
  for (const [name, { faults, checks }] of Object.entries(deviations)) {
    test(name, () => {
      const { omit: _, ...honestCombination } = faults;
      expect(judge(runOf('falcon512', 1, row, honestCombination)).verdict.ok).toBe(false);
      const run = runOf('falcon512', 1, row, faults);
      expect(judge(run).verdict.ok).toBe(false);
      expect(judge(run, { checks: checks! }).verdict).toEqual({
        ok: true,
        length: run.bytes.length,
      });
    });
  }
});

test('both bound the same norm of the projection', () => {
  const [set, bucket, [first, ...rest]] = TOY_ROWS['one level']!;
  const bounded = (inSq: number): TableRow => [set, bucket, [first!.with(10, inSq), ...rest]];
  const run = runOf('falcon512', 1, bounded(2 ** 40));
  const { projecting } = levelsOf(run)[0]!.values as { projecting: { projection: Projection } };
  const normSq = signedNormSq(projecting.projection);

  const enough = bounded(Number((normSq + 287n) / 288n));
  const less = bounded(Number((normSq - 1n) / 288n));
  expect(runOf('falcon512', 1, enough).bytes).toEqual(run.bytes);
  expect(judge(run, { row: enough }).verdict.ok).toBe(true);
  expect(judge(run, { row: less }).verdict).toEqual({
    ok: false,
    why: 'projectionNorm: level 0',
  });
  const again = runOf('falcon512', 1, less);
  expect(again.bytes).not.toEqual(run.bytes);
  expectAccepted(again);
});

test('both draw the same tau for every part', () => {
  const lift = Uint8Array.from({ length: 32 }, (_, i) => 7 * i);
  for (let t = 0; t < 33; t++) {
    expect(tauOf(lift, t)).toEqual(tau(lift, 0, t).map((x) => (x + Q) % Q));
  }
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
