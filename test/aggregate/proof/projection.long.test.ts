/**
 * The norm of the projection by signs (docs/protocol.md, 5.3 and 11.1), from what is sent: x_j = 2
 * y'_j - ((U + V) mod 2), where mod is 0 or 1 for negative integers too. The functions by
 * themselves, and whole proofs under the smallest bound that holds and the largest that does not,
 * for sums of every kind.
 *
 * A proof without a fault is all it takes: what would be forged is the norm, and the bound can be
 * moved to it, since the rows used here have the same hash in the transcript.
 */
import { describe, expect, test } from 'vitest';
import { readRow, type TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { proveSection } from '../../../src/aggregate/proof/index.ts';
import {
  isShortProjection,
  projectionOf,
  sentOf,
} from '../../../src/aggregate/proof/projection.ts';
import { parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { headerOf, signedItem } from '../../reference/items.ts';
import { verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { fact } from '../../support/facts.ts';
import { testRandom } from '../../support/random.ts';
import { NIGHTLY } from '../../support/run.ts';
import { TOY2 } from '../reference/toyRows.ts';
import { judge, PROJECTIONS, type Section, saltsOf } from './sections.ts';

/** Absorbed as the hash of every row. */
const hash = new Uint8Array(32);

const LONG = { timeout: 600_000 };
const mod2 = (x: number): number => ((x % 2) + 2) % 2;
const sumOf = (list: readonly number[]): number => list.reduce((sum, x) => sum + x, 0);
const squares = (list: readonly number[]): number => sumOf(list.map((x) => x * x));

describe('what is sent', () => {
  const random = testRandom('sent projections');
  const [LOW, HIGH] = [-(2 ** 31), 2 ** 31 - 1];
  const normSqOf = (y: readonly bigint[], [u, v]: readonly [number, number]): bigint => {
    const halves = [BigInt(u) + BigInt(v), BigInt(v) - BigInt(u)];
    return y.reduce((all, x, i) => all + (2n * x - halves[i % 2]!) ** 2n, 0n);
  };

  test.each([
    ...[0, 1, -1, 2, -3].flatMap((u) => [0, 1, -2, 5].map((v) => [u, v] as const)),
    ...[HIGH, LOW].flatMap((u) => [HIGH, LOW, HIGH - 1, 3].map((v) => [u, v] as const)),
  ])('y and back, and x, with sums of %i and %i', (u, v) => {
    const near = [Math.floor((u + v) / 2), Math.floor((v - u) / 2)];
    const y = Array.from({ length: PROJECTIONS }, (_, i) =>
      BigInt(near[i % 2]! + random.between(-(2 ** 21), 2 ** 21 - 1)),
    );
    const sent = sentOf(BigInt64Array.of(...y, BigInt(u), BigInt(v)));
    expect(sent.length).toBe(PROJECTIONS + 2);
    expect(sent.slice(PROJECTIONS)).toEqual([u, v]);
    expect(Math.max(...sent.slice(0, PROJECTIONS).map(Math.abs))).toBeLessThanOrEqual(2 ** 21);
    expect(projectionOf(sent).map(BigInt)).toEqual([...y, BigInt(u), BigInt(v)]);
    expect(projectionOf(Int32Array.from(sent))).toEqual(projectionOf(sent));
    // the norm is that of 2 y - (U + V) and 2 y* - (V - U)
    const bound = Number((normSqOf(y, [u, v]) + 287n) / 288n);
    expect(isShortProjection(sent, bound)).toBe(true);
    expect(isShortProjection(Int32Array.from(sent), bound)).toBe(true);
    expect(isShortProjection(sent, bound - 1)).toBe(false);
  });

  test('a norm of exactly 288 inSq is accepted, eight more are not', () => {
    // odd x: 271 of +-1 and one of 17 are 560; two times 288 are 576, so two of 3 more
    // biome-ignore format: one line
    const ends = [[1, 0], [0, -1], [HIGH, 0], [LOW, HIGH]] as const;
    for (const [u, v] of ends) {
      // biome-ignore format: pairs
      const signs: number[] = Array.from({ length: PROJECTIONS }, (_, j) => (j % 3 ? -1 : 1));
      const x = signs.with(9, 17).with(10, 3).with(11, -3);
      const sentFor = (list: readonly number[]) =>
        Int32Array.of(...list.map((value) => (value + 1) / 2), u, v);
      expect(squares(x)).toBe(576);
      expect(isShortProjection(sentFor(x), 2)).toBe(true);
      expect(isShortProjection(sentFor(x.map((value) => -value)), 2)).toBe(true);
      expect(isShortProjection(sentFor(x.with(12, 3)), 2)).toBe(false);
      expect(isShortProjection(sentFor(x.with(12, -3)), 2)).toBe(false);
    }
    // even x: 272 times 6^2 are 288 times 34
    // biome-ignore format: one line
    const choices = [[0, 0], [1, 1], [-1, 1], [HIGH, LOW + 1]] as const;
    for (const [u, v] of choices) {
      // biome-ignore format: pairs
      const y: number[] = Array.from({ length: PROJECTIONS }, (_, j) => (j % 2 === 0 ? 3 : -3));
      expect(isShortProjection(Int32Array.of(...y, u, v), 34)).toBe(true);
      expect(isShortProjection(Int32Array.of(...y, u, v), 33)).toBe(false);
      expect(isShortProjection(Int32Array.of(...y.with(0, 4), u, v), 34)).toBe(false);
    }
  });

  test('the largest values of the codes, to the unit', () => {
    const end = 2 ** 21;
    // biome-ignore format: one line
    const tuples = [
      [end - 1, 0, 0, 2 * end - 2], [-end, 0, 0, 2 * end], [-end, 1, 0, 2 * end + 1],
      [-end, 0, -1, 2 * end + 1], [-end, 1, -1, 2 * end], [end - 1, LOW + 1, 0, 2 * end - 3],
    ] as const;
    for (const [y, u, v, x] of tuples) {
      const sent = Int32Array.of(...new Array<number>(PROJECTIONS).fill(y), u, v);
      const normSq = BigInt(PROJECTIONS) * BigInt(x) ** 2n;
      expect(normSq).toBeLessThan(2n ** 53n);
      const bound = Number((normSq + 287n) / 288n);
      expect(isShortProjection(sent, bound)).toBe(true);
      expect(isShortProjection(sent, bound - 1)).toBe(false);
    }
  });

  test('values so large that their sum is not exact are refused all the same', () => {
    const y = new Array<number>(PROJECTIONS).fill(-(2 ** 22));
    expect(isShortProjection(Int32Array.of(...y, 1, 0), 2 ** 43 - 1)).toBe(false);
  });
});

/** A level between level 0 and the tail; one item in a bucket of two. */
const ROW = TOY2 as unknown as TableRow;
const LEVELS = ROW[2].length;
const heldTo = (level: number, inSq: number): TableRow => {
  const at = level === LEVELS - 1 ? 3 : 10;
  return [ROW[0], ROW[1], ROW[2].with(level, ROW[2][level]!.with(at, inSq))];
};

async function proof(number: number, row: TableRow): Promise<Section | undefined> {
  const items = [signedItem('falcon512', number)];
  const header = headerOf(items);
  const bytes = await proveSection('falcon512', header, items, { other: { row, hash } });
  return bytes && { set: 'falcon512', header, items, salts: saltsOf(items), bytes };
}

function isAccepted(section: Section, row: TableRow, module: 'plain' | 'relaxed'): boolean {
  return judge(section, { module, other: { row, hash } }) === section.bytes.length;
}

/** The slow verifier, which says why; and the same without the norm. */
const slowVerdict = (
  { header, items, salts, bytes }: Section,
  row: TableRow,
  projectionNorm = true,
) =>
  verifyReferenceSection({
    ...{ set: 512, header, statements: items, salts: [salts], bytes },
    row: row as unknown as Parameters<typeof verifyReferenceSection>[0]['row'],
    rowHash: hash,
    checks: { projectionNorm },
  });

/** Mistakes in x: the parity left out, or added, as a remainder of -1 would have it. */
const MISTAKES: readonly ((y: readonly number[], sum: number) => number[])[] = [
  (y) => y.map((value) => 2 * value),
  (y, sum) => y.map((value) => 2 * value + mod2(sum)),
];

describe('proofs at the bound', () => {
  interface Found {
    readonly name: string;
    readonly level: number;
    readonly inSq: number;
    readonly number: number;
    readonly section: Section;
  }
  const kinds = [
    'level 0, even',
    ...[1, 2].flatMap((level) =>
      ['an odd sum above zero', 'an odd sum below zero'].flatMap((sum) =>
        ['longer', 'shorter'].map((norm) => `level ${level}, ${sum}, ${norm} by mistake`),
      ),
    ),
  ];

  test('the smallest bound that holds, and the largest that does not', LONG, async ({ task }) => {
    const found = new Map<string, Found>();
    let number = 0;
    for (; found.size < kinds.length && number < 120; number++) {
      const section = await proof(number, ROW);
      if (section === undefined) continue;
      const { levels, tail } = parseSection(readRow(ROW), section.bytes, 0)!;
      for (const [level, { y: sent }] of [...levels, tail].entries()) {
        const y = [...sent].slice(0, PROJECTIONS);
        const sum = sent[PROJECTIONS]! + sent[PROJECTIONS + 1]!;
        const normSq = squares(y.map((value) => 2 * value - mod2(sum)));
        const inSq = Math.ceil(normSq / 288);
        const mistaken = MISTAKES.map((x) => squares(x(y, sum)));
        const isShorter = mistaken.every((other) => other <= 288 * (inSq - 1));
        const isLonger = mistaken.every((other) => other > 288 * inSq);
        if (level === 0 && mod2(sum) !== 0) continue;
        if (level > 0 && (mod2(sum) === 0 || isShorter === isLonger)) continue;
        const name =
          level === 0
            ? kinds[0]!
            : `level ${level}, an odd sum ${sum > 0 ? 'above' : 'below'} zero, ${isShorter ? 'shorter' : 'longer'} by mistake`;
        if (!found.has(name)) found.set(name, { name, level, inSq, number, section });
      }
    }
    expect([...found.keys()].sort()).toEqual([...kinds].sort());
    fact({ task }, 'projection', `sums of ${kinds.length} kinds in proofs of ${number} items`);

    for (const { name, level, inSq, number: of, section } of found.values()) {
      const [holds, fails] = [heldTo(level, inSq), heldTo(level, inSq - 1)];
      for (const module of ['plain', 'relaxed'] as const) {
        expect(isAccepted(section, holds, module), name).toBe(true);
        expect(isAccepted(section, fails, module), name).toBe(false);
      }
      // the prover judges as the verifier does: the same counter, and another one
      expect((await proof(of, holds))!.bytes).toEqual(section.bytes);
      const other = await proof(of, fails);
      expect(other?.bytes).not.toEqual(section.bytes);
      if (other !== undefined) expect(isAccepted(other, fails, 'plain')).toBe(true);
    }

    // the slow verifier, of one kind at each level: the norm alone is what refuses it
    const shown = [...found.values()].filter(({ name }) => !/longer/.test(name));
    for (const { level, inSq, section } of shown.filter((_, i) => NIGHTLY || i % 2 === 0)) {
      const [holds, fails] = [heldTo(level, inSq), heldTo(level, inSq - 1)];
      const accepted = { ok: true, length: section.bytes.length };
      expect(slowVerdict(section, holds)).toEqual(accepted);
      const where = level === LEVELS - 1 ? 'tail' : `level ${level}`;
      expect(slowVerdict(section, fails)).toEqual({ ok: false, why: `projectionNorm: ${where}` });
      expect(slowVerdict(section, fails, false)).toEqual(accepted);
    }
  });
});
