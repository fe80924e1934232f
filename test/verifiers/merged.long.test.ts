/** Merged proofs of the slow prover before the second verifier: another hand, the same text. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { joinSeries } from '../../src/aggregate/index.ts';
import { concat } from '../../src/shared/bytes.ts';
import { type SignedItem, signedItem } from '../reference/items.ts';
import { headerOfPart, mergeParts, provePart } from '../reference/merged/prover.ts';
import { MERGED_TOY_ROWS } from '../reference/merged/toyRows.ts';
import type { LevelRow, MergedRow } from '../reference/tableRow.ts';
import { hex } from '../support/hex.ts';
import { NIGHTLY } from '../support/run.ts';

type Four<T> = [T, T, T, T];
interface Case {
  /** null: those of the repository */
  readonly rows: readonly MergedRow[] | null;
  /** rows whose hashes these have */
  readonly as?: readonly MergedRow[];
  readonly items: readonly SignedItem[];
  readonly proof: Uint8Array;
}
interface Verdict {
  /** null, or the one that is broken */
  readonly rule: string | null;
  /** where they begin; words of two bytes are not fields */
  readonly levels: readonly number[];
  readonly fields: readonly number[];
  readonly norms: readonly number[];
}
const noPython = spawnSync('python3', ['-c', 'import sys']).status !== 0;
if (noPython && process.env.CI === 'true') throw new Error('no python3 on this machine');
const LONG = { timeout: 900_000 };
const SOURCE = new URL('../../verifiers/python/merged.py', import.meta.url);

function judge(...cases: readonly Case[]): Verdict[] {
  const input = cases.map(({ rows, as = rows, items, proof }) => {
    const list = items.map((x) => ({ publicKey: hex(x.publicKey), message: hex(x.message) }));
    return { rows, as, items: list, proof: hex(proof) };
  });
  const run = spawnSync('python3', ['-B', 'judge_merged.py'], {
    cwd: fileURLToPath(new URL('hidden/', import.meta.url)),
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  expect(run.stderr).toBe('');
  return JSON.parse(run.stdout) as Verdict[];
}
const rulesOf = (...cases: readonly Case[]) => judge(...cases).map(({ rule }) => rule);

const OPEN = MERGED_TOY_ROWS['levels 0 and 1 open']!;
const HIDDEN = MERGED_TOY_ROWS['levels 0 and 1 hidden']!;
const ONE_DIGIT = MERGED_TOY_ROWS['level 0 hidden, level 1 open and with one digit']!;
const tailOf = (n: number, r: number): LevelRow => {
  const runs = [[n - 3, 63] as const, [3, 61] as const];
  const tG = new Array<number>((r * (r + 1)) / 2 - 1).fill(160);
  return [n, ...HIDDEN[2].at(-1)!.slice(1, 7), runs, tG];
};
/** HIDDEN for more parts, and a row of the larger set with three digits of z. */
const WIDER: MergedRow = [HIDDEN[0], 4, [HIDDEN[2][0]!.with(0, 160), tailOf(160, 12)]];
const LEVEL_1 = [...[60, 2, 7, 5, 9, 4, 7, 2, 1, 4, 0], ...OPEN[2][0]!.slice(11)];
const LARGE: MergedRow = [ONE_DIGIT[0], 2, [LEVEL_1, tailOf(140, 8)]];

const [a, b, c, d] = [0, 1, 2, 3].map((number) =>
  signedItem('falcon512', number),
) as Four<SignedItem>;
const [e, f] = [0, 1].map((number) => signedItem('falcon1024', number)) as Four<SignedItem>;
function proved(row: MergedRow, ...lists: readonly (readonly SignedItem[])[]) {
  const parts = lists.map((items) => provePart(items, row[0]));
  return { rows: [row], items: lists.flat(), proof: mergeParts(parts, row) };
}
/** Two parts of HIDDEN, of two items and of one. */
const GOOD = proved(HIDDEN, [a, b], [c]);
const spoilt = (at: number, value = GOOD.proof[at]! ^ 1): Case => ({
  ...GOOD,
  proof: GOOD.proof.with(at, value),
});

test.skipIf(noPython)("proofs of 1 to P' parts are accepted", LONG, () => {
  // biome-ignore format: several in a line
  const good = [
    GOOD, proved(OPEN, [a]), proved(OPEN, [a], [b]), proved(LARGE, [e]), proved(LARGE, [e], [f]),
    proved(WIDER, [a], [b, c], [a]), proved(WIDER, [a], [b], [c], [d]),
  ];
  expect(rulesOf(...good)).toEqual(good.map(() => null));
  // P parts use the smallest P' that is enough
  const [two, rows] = [proved(WIDER, [a], [b]), [HIDDEN, WIDER]];
  const [right, alone, wrong] = rulesOf({ ...good[5]!, rows }, two, { ...two, rows });
  expect([right, alone, wrong]).toEqual([null, null, expect.stringMatching(/^(bytes|proof): /)]);
});

test.skipIf(noPython)('bounds are those of the part row, for every part', LONG, () => {
  const made = [proved(HIDDEN, [b], [d]), proved(HIDDEN, [b], [a])];
  const [set, bucket, zero] = HIDDEN[0];
  const level = zero.with(11, 1).with(15, 1); // outSq and X are not asked for
  // biome-ignore format: one line
  const rowOf = (inP: number, XP: number): MergedRow =>
    [[set, bucket, level, [Math.ceil(inP), 96, Math.ceil(XP), 28]], 2, HIDDEN[2]];
  const longest: number[] = [];
  const cases = judge(...made).flatMap(({ norms }, i) => {
    const [y1, x1, y2, x2] = norms.slice(2).map((norm) => norm / 288) as Four<number>;
    longest.push(Number(y2 > y1), Number(x2 > x1));
    const [y, x] = [Math.max(y1, y2), Math.max(x1, x2)];
    const rows = [rowOf(y, x), rowOf(y - 1, x), rowOf(y, x - 1)];
    return rows.map((row) => ({ ...made[i]!, as: [HIDDEN], rows: [row] }));
  });
  expect(longest).toEqual([0, 0, 1, 1]);
  const rules = ['projection 1 is too long', 'the projection of x at 1: too long'];
  expect(rulesOf(...cases)).toEqual(made.flatMap(() => [null, ...rules.map((x) => `proof: ${x}`)]));
});

test.skipIf(noPython)('a series may contain them', LONG, () => {
  const proof = joinSeries([GOOD.proof, GOOD.proof]);
  const twice = { ...GOOD, proof, items: [...GOOD.items, ...GOOD.items] };
  const wrong = { ...twice, items: [...GOOD.items, ...GOOD.items.toReversed()] };
  const longer = { ...twice, items: [...twice.items, a] };
  const rules = [null, 'list: other statements', 'list: longer than the series'];
  expect(rulesOf(twice, wrong, longer)).toEqual(rules);
});

/** Half a second each: the long run takes a third of the fields, the nightly one all. */
test.skipIf(noPython)('a changed byte in any field is noticed', LONG, () => {
  const [{ fields }] = judge(GOOD) as [Verdict];
  expect(fields.length).toBeGreaterThan(70);
  const some = fields.slice(1).filter((_, i) => NIGHTLY || i % 3 === 0);
  const places = [...some, 38, 39, 72, 73, 78, 79, 81, 82, GOOD.proof.length - 1];
  const rules = rulesOf(...places.map((at) => spoilt(at)));
  expect(places.filter((_, i) => rules[i] === null)).toEqual([]);
  const short = fields.slice(1).map((at) => ({ ...GOOD, proof: GOOD.proof.subarray(0, at) }));
  const missing = expect.stringMatching(/^(header|bytes): bytes are missing$/);
  expect(rulesOf(...short)).toEqual(short.map(() => missing));
});

/** What refuses these, of which each breaks one rule. */
function broken(): [rule: string, ...cases: Case[]][] {
  const { proof } = GOOD;
  const [{ levels }] = judge(GOOD) as [Verdict];
  const [part1, part2, level1] = [levels[0]!, levels[1]!, levels[2]! - 1];
  const list = (...others: readonly SignedItem[]): Case => ({ ...GOOD, items: others });
  const bytes = (...parts: readonly Uint8Array[]): Case => ({ ...GOOD, proof: concat(...parts) });
  // with both parts in the other order
  const header2 = 40 + headerOfPart([a, b], HIDDEN[0]).length;
  const exchanged = bytes(
    ...[proof.subarray(0, 40), proof.subarray(header2, part1), proof.subarray(40, header2)],
    ...[proof.subarray(part2, level1), proof.subarray(part1, part2), proof.subarray(level1)],
  );
  const withHeader = (row: MergedRow, ...of: readonly SignedItem[]): Case => {
    const part = provePart([a], row[0], { header: headerOfPart(of, row[0]) });
    return { rows: [row], items: of, proof: mergeParts([part], row) };
  };
  const rows = (...changed: readonly unknown[]): Case => ({
    ...GOOD,
    rows: changed as MergedRow[],
  });
  const bound = (at: number, value: number, [part, ...more] = HIDDEN): Case =>
    rows([part.with(3, part[3].with(at, value) as never), ...more]);
  const most = (value: number): Case => rows(HIDDEN.with(1, value));
  const level1With = (at: number): Case =>
    rows(HIDDEN.with(2, [HIDDEN[2][0]!.with(at, 4), ...HIDDEN[2].slice(1)]));
  // biome-ignore format: several in a line
  return [
    ['format: unknown', spoilt(0), spoilt(3), spoilt(4)],
    ['version: unknown', spoilt(5)],
    ['list: of another length', list(a, b)],
    ['list: longer than the parts', list(a, b, c, c)],
    ['list: other statements', list(a, c, b), list(a, b, d), list(c, a, b), exchanged],
    ['proof: wrong seal', { ...exchanged, items: [c, a, b] }],
    ['header: items of another set', withHeader(OPEN, e), withHeader(HIDDEN, a, e)],
    ['table: too many items for a part', withHeader(HIDDEN, a, b, c)],
    ['table: made with another row of parameters', spoilt(6), spoilt(37), { ...GOOD, rows: null }],
    ['table: made with other rows of parameters', spoilt(74)],
    ['header: no row for so many parts', spoilt(38, 0), spoilt(38, 3), spoilt(39)],
    ['bytes: attempt is above 15', spoilt(level1, 16)],
    ['bytes: some are left over', bytes(proof, Uint8Array.of(0))],
    ['bytes: bytes are missing', bytes(proof.subarray(0, -1))],
    ['the table: level 1 of a merged row is the tail', rows(HIDDEN.with(2, HIDDEN[2].slice(1)))],
    ["the table: P' and the four bounds of a part", most(0), most(2 ** 16), most(2.5), bound(0, 2.2e9 + 0.5)],
    ['the table: a bound of a part', bound(0, 2e9 - 1), bound(0, 2 ** 43), bound(1, -1), bound(1, 144),
      bound(2, 12_999), bound(2, 2 ** 43), bound(3, -1), bound(3, 144)],
    ['the table: a bound of x where nothing is hidden', bound(2, 1, OPEN), bound(3, 1, OPEN)],
    ['the table: inSq, tY or ct of level 1', level1With(10), level1With(12), level1With(17)],
    ["the table: two merged rows of a part row have one P'", rows(HIDDEN, WIDER.with(1, 2))],
  ];
}

test.skipIf(noPython)('each rule of merged.py refuses what breaks it', LONG, () => {
  const cases = broken();
  const rules = rulesOf(...cases.flatMap(([, ...each]) => each));
  expect(rules).toEqual(cases.flatMap(([rule, ...each]) => each.map(() => rule)));
  const source = readFileSync(SOURCE, 'utf8');
  const named = [...source.matchAll(/check\(.*, "(.*)"\)$/gm)].map(([, rule]) => rule!);
  expect(named.length).toBe(source.split('check(').length - 1);
  expect(named.filter((rule) => !rules.includes(rule))).toEqual([]);
});
