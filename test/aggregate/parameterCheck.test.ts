/** Everything that the check of the parameters refuses. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  checkConstants,
  checkMixed,
  checkParameters,
  checkRow,
} from '../../scripts/parameters/check.ts';
import { checkHidden } from '../../scripts/parameters/checkHidden.ts';
import { checkTable } from '../../scripts/parameters/checkTable.ts';
import { tableText } from '../../scripts/parameters/emit.ts';
import { boundOfX, messagesOf } from '../../scripts/parameters/hidden.ts';
import { type LevelRow, readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { FOUND, FOUND_512_128, OPEN_512_128 } from './parameterRows.ts';

const file = new URL('../../vectors/table.json', import.meta.url);
const text = readFileSync(file, 'utf8');
const TABLE: readonly TableRow[] = JSON.parse(text);

const NAMES = 'n f b fu bu fg bg kappa kappa1 cut inSq outSq codeY w k xSq codeX ct'.split(' ');
const NAMES_OF_TAIL = 'n kappa cut inSq outSq codeY codeE codesZ codesG'.split(' ');
type Entry = LevelRow[number];

/** The row with some numbers of a level replaced, by their names. */
function withNumbers(row: TableRow, level: number, numbers: Record<string, Entry>): TableRow {
  const [set, bucket, levels] = row;
  const names = level === levels.length - 1 ? NAMES_OF_TAIL : NAMES;
  expect(names).toEqual(expect.arrayContaining(Object.keys(numbers)));
  const changed = levels.map((one, index) =>
    index === level ? one.map((value, i) => numbers[names[i]!] ?? value) : one,
  );
  return [set, bucket, changed];
}

const wrongWith = (level: number, numbers: Record<string, Entry>, row = FOUND_512_128): string =>
  checkRow(withNumbers(row, level, numbers)).join('\n');

type Case = [name: string, level: number, numbers: Record<string, Entry>, reason: string];
/** The level of the row that is the tail. */
const T = FOUND_512_128[2].length - 1;
const [, ONE] = FOUND_512_128[2] as number[][];
const TAIL = FOUND_512_128[2][T] as number[];
const numberOf = (level: number[], name: string): number => level[NAMES.indexOf(name)]!;

it('good rows are not refused', () => {
  for (const row of [...FOUND, OPEN_512_128]) expect(checkRow(row)).toEqual([]);
});

describe('of the form of a row, the check refuses', () => {
  const [set, bucket, levels] = FOUND_512_128;
  const withLevel = (index: number, change: (level: LevelRow) => LevelRow): TableRow => [
    set,
    bucket,
    levels.map((level, i) => (i === index ? change(level) : level)),
  ];

  it.each<[string, TableRow, string]>([
    ['a fraction', withNumbers(FOUND_512_128, 1, { n: 825.5 }), 'not all integers'],
    ['a negative number', withNumbers(FOUND_512_128, 1, { codeY: -1 }), 'not all integers'],
    ['another set', [256 as 512, bucket, levels], 'no set or bucket'],
    ['no items', [set, 0, levels], 'no set or bucket'],
    ['a tail alone', [set, bucket, levels.slice(-1)], 'no level before the tail'],
    ['no level at all', [set, bucket, []], 'no level before the tail'],
    ['13 numbers', withLevel(1, (level) => level.slice(0, 13)), 'level 1: not 18 numbers'],
    ['a number more', withLevel(1, (level) => [...level, 0]), 'level 1: not 18 numbers'],
    ['a list', withLevel(1, ([n, ...rest]) => [[n as number], ...rest]), 'level 1: not'],
    ['rows of no size', withNumbers(FOUND_512_128, 1, { n: 0 }), 'of no size'],
    ['digits of t of no size', withNumbers(FOUND_512_128, 1, { bu: 0 }), 'of no size'],
    ['no digits of z', withNumbers(FOUND_512_128, 1, { f: 0 }), 'digits of z'],
    ['four digits of z', withNumbers(FOUND_512_128, 1, { f: 4 }), 'digits of z'],
    ['a list less', withLevel(T, (level) => level.slice(0, -1)), 'tail: not 7 numbers'],
    ['a list more', withLevel(T, (level) => [...level, []]), 'tail: not 7 numbers'],
    ['a list too early', withLevel(T, ([n, ...rest]) => [[n as number], ...rest]), 'tail: not'],
    ['no runs of columns', withLevel(T, (level) => level.with(7, 51)), 'tail: not 7 numbers'],
    ['no pairs in them', withLevel(T, (level) => level.with(7, [218, 51])), 'tail: not 7 numbers'],
    ['no list of codes', withLevel(T, (level) => level.with(8, 100)), 'tail: not 7 numbers'],
    ['pairs of codes', withLevel(T, (level) => level.with(8, [[1, 2]])), 'tail: not 7 numbers'],
    ['a tail of no size', withNumbers(FOUND_512_128, T, { n: 0 }), 'tail: rows of no size'],
  ])('%s', (_, row, reason) => {
    expect(checkRow(row).join('\n')).toContain(reason);
  });
});

describe('of the numbers of a level, the check refuses', () => {
  it.each<Case>([
    ['digits of z of one bit', 1, { b: 1 }, 'digits of z'],
    ['digits of z of 14 bits', 1, { b: 14 }, 'digits of z'],
    ['fewer digits of t than 44 bits need', 1, { fu: 7 }, 'digits of t'],
    ['more digits of t', 1, { fu: 9 }, 'digits of t'],
    ['digits of t of 15 bits', 1, { fu: 3, bu: 15 }, 'digits of t'],
    ['no digits of g', 1, { fg: 0 }, 'digits of g'],
    ['digits of g of one bit', 1, { bg: 1 }, 'digits of g'],
    ['digits of g of 14 bits', 1, { fg: 2, bg: 14 }, 'digits of g'],
    ['a power of the base of g beyond q', 1, { fg: 10 }, 'digits of g'],
    ['a cut of 3 bits', 1, { cut: 3 }, 'level 1: cut'],
    ['a cut of 16 bits', 1, { cut: 16 }, 'level 1: cut'],
    ['a bound of 2^43', 1, { outSq: 2 ** 43 }, 'level 1: output'],
    ['a projection of 2^43', 1, { inSq: 2 ** 43 }, 'level 1: inSq (p. 11.1)'],
    ['a tail that is cut by 3 bits', T, { cut: 3 }, 'tail: cut'],
    ['a tail that is cut by 16 bits', T, { cut: 16 }, 'tail: cut'],
  ])('%s', (_, level, numbers, reason) => {
    expect(wrongWith(level, numbers)).toContain(reason);
  });

  it('but not 13 bits, or cuts of 0, 4 and 15', () => {
    expect(wrongWith(1, { b: 13, fg: 4, bg: 13 })).not.toMatch('digits');
    for (const cut of [0, 4, 15]) expect(wrongWith(1, { cut })).not.toContain('level 1: cut');
    for (const cut of [4, 15]) expect(wrongWith(T, { cut })).not.toContain('tail: cut');
  });
});

describe('of hidden messages and cut inner commitments, the check refuses', () => {
  it.each<Case>([
    ['digits of one bit', 0, { w: 1 }, 'level 0: digits of messages'],
    ['digits of seven bits', 0, { w: 7 }, 'level 0: digits of messages'],
    ['rows that hide nothing', 3, { k: 6 }, 'level 3: nothing is hidden'],
    ['a bound of nothing', 3, { xSq: 1 }, 'level 3: nothing is hidden'],
    ['a code of nothing', 3, { codeX: 1 }, 'level 3: nothing is hidden'],
    ['five rows', 0, { k: 5 }, 'level 0: fewer than 6 rows'],
    ['no X', 0, { xSq: 0 }, 'level 0: X (p. 11.1)'],
    ['an X of 2^43', 0, { xSq: 2 ** 43 }, 'level 0: X (p. 11.1)'],
    ['an index of 144', 0, { codeX: 144 }, 'level 0: tX'],
    ['an X that honest digits exceed', 0, { xSq: 29_071 }, 'level 0: X has no room'],
    ['a cut of 3 bits', 1, { ct: 3 }, 'level 1: ct'],
    ['a cut of 16 bits', 1, { ct: 16 }, 'level 1: ct'],
    ['a cut at level 0', 0, { ct: 5 }, 'level 0: inner commitments are cut'],
  ])('%s', (_, level, numbers, reason) => {
    expect(wrongWith(level, numbers)).toContain(reason);
  });

  it('but not the ends of what is allowed', () => {
    for (const w of [2, 6]) expect(wrongWith(0, { w })).not.toContain('digits of messages');
    for (const ct of [4, 15]) expect(wrongWith(1, { ct })).not.toContain('level 1: ct');
    expect(wrongWith(0, { ct: 0, k: 6 })).toBe('512, bucket 128: level 0: quarters (2)');
    expect(wrongWith(0, { codeX: 143, xSq: 2 ** 43 - 1 })).not.toMatch(/tX|level 0: X/);
  });

  it('X below the bound that the search takes, and not that bound', () => {
    const level = readRow(FOUND_512_128).levels[0]!;
    const room = (kappa1: number, cut: number, w: number, index: number, less: number) => {
      const row = withNumbers(FOUND_512_128, index, { kappa1, cut, w });
      const xSq = boundOfX(messagesOf(index === 0, kappa1, cut), w) - less;
      const wrong: string[] = [];
      checkHidden({ ...readRow(row).levels[index]!, xSq }, index, (reason) => wrong.push(reason));
      return wrong.filter((reason) => reason.includes('room'));
    };
    expect(level.w).toBe(2);
    for (const w of [2, 3, 4, 5, 6]) {
      // biome-ignore format: one line
      const choices = [[1, 15], [4, 5], [7, 10], [9, 0]] as const;
      for (const [kappa1, cut] of choices) {
        for (const index of [0, 1]) {
          expect(room(kappa1, cut, w, index, 0)).toEqual([]);
          expect(room(kappa1, cut, w, index, 1)).toEqual([
            `level ${index}: X has no room for honest digits`,
          ]);
        }
      }
    }
  });
});

describe('of projections, the check refuses', () => {
  it.each<Case>([
    ['projections that wrap around q', 1, { inSq: 2 ** 48 }, 'level 1: projections can wrap'],
    ['sums of coefficients of more than 32 bits', 1, { inSq: 2 ** 50 }, 'level 1: the sums do not'],
    ['codes of y that are too small', 1, { codeY: 49 }, 'level 1: y does not fit'],
    ['squares of y beyond doubles', 1, { codeY: 144 }, 'level 1: sum of x^2'],
    ['projections of x', 0, { kappa1: 1000, xSq: 2 ** 42 }, 'level 0: x: projections can'],
    ['sums of x of more than 32 bits', 0, { xSq: 2 ** 50 }, 'level 0: x: the sums do not'],
    ['codes of y_x that are too small', 0, { codeX: 9 }, 'level 0: x: y does not fit'],
    ['squares of y_x beyond doubles', 0, { codeX: 144 }, 'level 0: x: sum of x^2'],
    ['codes of y of the tail that are too small', T, { codeY: 40 }, `level ${T}: y does not fit`],
    ['codes of y that are none', 1, { codeY: 256 }, 'an unknown code'],
  ])('%s', (_, level, numbers, reason) => {
    expect(wrongWith(level, numbers)).toContain(reason);
  });

  it('single coefficients that wrap', () => {
    const large = { 'level 1': { inSq: 2 ** 80 }, 'level 1: x': { xSq: 2 ** 80 } };
    for (const [name, numbers] of Object.entries(large)) {
      expect(wrongParameters(1, numbers)).toContain(`${name}: a large coefficient`);
    }
  });

  it('wraps that are due to the errors of cut inner commitments', () => {
    // the projection of level 1 with the errors, and without
    const { inSq, r, kappa, lengths } = readRow(FOUND_512_128).levels[1]!;
    const ofParts = lengths.reduce((a, b) => a + b);
    expect(inSq).toBe(numberOf(ONE!, 'inSq'));
    // 128 J l + 2^32 = q, l^2 = 288/30 inSq
    const inside = (q: number, J: number) => ((q - 2 ** 32) / (128 * J)) ** 2 / 9.6;
    const most = Math.floor(inside(2 ** 44, ofParts + (r * kappa) / 2));
    expect(wrongWith(1, { inSq: most })).toContain('level 1: projections can wrap');
    expect(wrongWith(1, { inSq: most, ct: 0 })).not.toContain('level 1: projections can wrap');
    const tail = readRow(FOUND_512_128).tail;
    const ofTail = tail.lengths.reduce((a, b) => a + b) + (tail.r * tail.kappa) / 2;
    const mostOfTail = Math.floor(inside(2 ** 44, ofTail));
    expect(wrongWith(T, { inSq: mostOfTail })).toContain(`level ${T}: projections can wrap`);
  });
});

/** What is wrong with a row that was read, and then changed as no row would be. */
function wrongParameters(index: number, change: object): string {
  const parameters = readRow(FOUND_512_128);
  const levels = parameters.levels.map((level, i) =>
    i === index ? { ...level, ...change } : level,
  );
  const tail = index === levels.length ? { ...parameters.tail, ...change } : parameters.tail;
  const wrong: string[] = [];
  checkParameters({ ...parameters, levels, tail }, (reason) => wrong.push(reason));
  return wrong.join('\n');
}

describe('of what levels hand on, the check refuses', () => {
  it.each<Case>([
    ['another input bound', 0, { inSq: 4_356_444_929 }, 'level 0: inSq is not the bound before'],
    ['less room than for the errors', 2, { inSq: 47_213_994 }, 'level 2: inSq has no room'],
    ['a larger output before', 1, { outSq: numberOf(ONE!, 'outSq') + 1 }, 'level 2: inSq has no'],
    ['a longer cut with the same room', 2, { ct: 9 }, 'level 2: inSq has no room'],
    ['less room in the tail', T, { inSq: 91_423_375 }, 'tail: inSq has no room'],
  ])('%s', (_, level, numbers, reason) => {
    expect(wrongWith(level, numbers)).toContain(reason);
  });

  it('another bound of the input of a level that is not cut', () => {
    const [, , , three] = OPEN_512_128[2] as number[][];
    for (const more of [-1, 1]) {
      const inSq = numberOf(three!, 'inSq') + more;
      expect(wrongWith(3, { inSq }, OPEN_512_128)).toContain(
        'level 3: inSq is not the bound before',
      );
    }
  });

  it('a tail of one row, or without one of v at its end; an empty output', () => {
    expect(wrongParameters(T, { r: 1 })).toContain('tail: fewer than two rows');
    const { lengths, rows } = readRow(FOUND_512_128).tail;
    expect(wrongParameters(T, { lengths: lengths.slice(1) })).toContain('is not a row of v');
    expect(wrongParameters(T, { rows: rows.with(-1, 0) })).toContain('is not a row of v');
    expect(wrongParameters(1, { m: 0 })).toContain('level 1: output');
  });
});

describe('of the codes of the tail, the check refuses', () => {
  const runs = TAIL[7] as unknown as [number, number][];
  const codes = TAIL[8] as unknown as number[];
  it.each<[string, Record<string, Entry>, string]>([
    ['an unknown code of y', { codeY: 256 }, 'an unknown code'],
    ['an unknown code of e', { codeE: 256 }, 'an unknown code'],
    ['an unknown code of z', { codesZ: runs.with(0, [194, 256]) }, 'an unknown code'],
    ['an unknown code of g', { codesG: codes.with(0, 256) }, 'an unknown code'],
    ['columns of z that are not n', { codesZ: [...runs, [1, 40]] }, 'columns of z'],
    ['runs of no columns', { codesZ: [...runs, [0, 40]] }, 'columns of z'],
    ['codes of z beyond 16 bits', { codesZ: runs.with(0, [194, 64]) }, 'range of z'],
    ['codes of e beyond 21 bits', { codeE: 104 }, 'range of e'],
    ['codes of g beyond (q-1)/2', { codesG: codes.with(0, 280) }, 'range of g'],
    ['fewer codes of g', { codesG: codes.slice(1) }, 'tables of g'],
    ['squares beyond doubles', { kappa: 128, codeE: 103 }, 'the sum of squares is no exact double'],
  ])('%s', (_, numbers, reason) => {
    expect(wrongWith(T, numbers)).toContain(reason);
  });

  it('but not the largest codes', () => {
    const wrong = wrongWith(T, { codesZ: runs.with(0, [194, 63]), codeE: 103 });
    expect(wrong).not.toMatch(/range|unknown|double/);
  });
});

describe('of integers of the kernels, the check refuses', () => {
  it.each<Case>([
    ['long rows', 1, { n: 2 ** 16 }, 'level 1: range of products'],
    ['long outer commitments', 1, { kappa: 2048 }, 'level 1: range of products'],
    ['many pairs', 1, { n: 30 }, 'level 1: range of products'],
    ['long messages', 1, { kappa1: 3000 }, 'level 1: range of products'],
    ['a long tail', T, { n: 2 ** 16 }, `level ${T}: range of products`],
    ['many rows in quarters', 0, { k: 1024 }, 'level 0: range of quarters'],
    ['sums of c phi', 1, { f: 3, b: 13 }, 'level 2: range of phi'],
  ])('%s', (_, level, numbers, reason) => {
    expect(wrongWith(level, numbers)).toContain(reason);
  });

  it('lifts of too many items, links of items that are too long', () => {
    const [, , levels] = FOUND_512_128;
    expect(checkRow([512, 2 ** 22, levels]).join()).toContain('range of lifts');
    expect(wrongParameters(0, { lengths: [2 ** 50, 256, 2176] })).toContain('range of links');
  });
});

describe('of equalities of integers, the check refuses', () => {
  // rows so long that there are few
  const long = [0, T].map((level) => withNumbers(FOUND_512_128, level, { n: 2 ** 30 })[2][level]!);
  it.each<[string, number, string]>([
    ['functionals that wrap around q', 2 ** 14, 'the functionals can wrap'],
    ['exact norms that do', 2 ** 18, 'the exact norm can wrap'],
    ['sums of C_j beyond doubles', 2 ** 19, 'C_j is no exact double'],
  ])('%s', (_, bucket, reason) => {
    expect(checkRow([512, bucket, long]).join()).toContain(reason);
  });
});

describe('of commitments, the check refuses', () => {
  it.each<Case>([
    ['a smaller inner rank', 1, { kappa: 11 }, 'level 1: inner, first branch'],
    ['a smaller outer rank', 1, { kappa1: 3 }, 'level 1: outer'],
    ['a smaller rank of the tail', T, { kappa: 9 }, `level ${T}: inner, first branch`],
    ['fewer rows in quarters', 0, { k: 6 }, 'level 0: quarters'],
    ['a longer x', 0, { xSq: 60_640 }, 'level 0: quarters'],
    ['a longer input', 2, { inSq: 2 ** 42 }, 'level 2: inner, second branch'],
  ])('%s', (_, level, numbers, reason) => {
    expect(wrongWith(level, numbers)).toContain(reason);
  });

  it('but not the largest X of 136 bits', () => {
    expect(wrongWith(0, { xSq: 60_639 })).toBe('');
    expect(wrongWith(1, { xSq: 21_505 })).toBe('');
    expect(wrongWith(1, { xSq: 21_506 })).toBe('512, bucket 128: level 1: quarters (2)');
  });
});

describe('of errors, the check refuses', () => {
  const [, , levels] = FOUND_512_128;
  /** The row with as many levels more, whose rows are so long that they are three. */
  const longer = (set: 512 | 1024, times: number): TableRow => {
    const more = Array.from({ length: times }, () => levels[3]!.with(0, 5000));
    return [set, 128, [...levels.slice(0, -1), ...more, levels[T]!]];
  };

  it('more than 76 rows, and so too large an error of a round', () => {
    const wrong = wrongWith(0, { n: 60 });
    expect(wrong).toContain('level 0: more than 76 rows');
    expect(wrong).toContain('the error of a round');
  });

  it('a sum beyond 2^-128', () => {
    expect(checkRow(longer(512, 80)).join()).toContain('the error exceeds 2^-128');
    expect(checkRow(longer(512, 25)).join()).not.toContain('the error exceeds 2^-128');
  });

  it('two rows whose errors add up beyond it', () => {
    expect(checkMixed([FOUND_512_128, longer(1024, 0)])).toEqual([]);
    expect(checkMixed([longer(512, 25), longer(1024, 25)]).join()).toContain('a mixed batch');
  });
});

describe('of what holds for all rows, the check refuses', () => {
  afterEach(() => {
    vi.doUnmock(CONSTANTS);
    vi.doUnmock(LEMMA);
    vi.resetModules();
  });
  const CONSTANTS = '../../scripts/parameters/constants.ts';
  const LEMMA = '../../scripts/parameters/projectionTail.ts';
  /** The check, with constants changed; the lemma is not evaluated again. */
  const checkWith = async (change: object, projectionError = () => 1n) => {
    vi.resetModules();
    vi.doMock(CONSTANTS, async (original) => ({ ...(await original<object>()), ...change }));
    vi.doMock(LEMMA, async (original) => ({ ...(await original<object>()), projectionError }));
    return import('../../scripts/parameters/check.ts');
  };

  it.each<[string, object, string]>([
    ['a q that is no prime', { Q: 2n ** 44n - 119n }, 'q'],
    ['a q that is another number mod 8', { Q: 2n ** 44n - 17n }, 'q'],
    ['primes that are none', { PRIMES: [13697n - 128n] }, '13569'],
    ['primes that are not 1 mod 128', { PRIMES: [13691n] }, '13691'],
    ['challenges so long that differences are no units', { TAU: 2 ** 42 }, 'differences'],
    ['other norms of challenges', { C_L1: 59 }, 'norms of challenges'],
    ['an operator norm without room for rounding', { T_SQ: 2 ** 40 }, 'T^2'],
    ['another modulus of Falcon', { P: 12_287n }, 'p'],
  ])('%s', async (_, change, reason) => {
    const { checkConstants: checked } = await checkWith(change);
    expect(checked().map((line) => line.slice(0, reason.length))).toContain(reason);
  });

  it('a lemma of the projection that does not hold', async () => {
    const { checkConstants: checked } = await checkWith({}, () => 1n << 122n);
    expect(checked()).toEqual(['the lemma of the projection']);
  });

  it('links that are too large', async () => {
    const { checkRow: checked } = await checkWith({ ALPHA_L1: 2 ** 29 });
    expect(checked(FOUND_512_128).join()).toContain('range of a link');
  });

  it('nothing as it is', () => expect(checkConstants()).toEqual([]));
});

describe('of the table, the check refuses', () => {
  const STREAMS = '../../scripts/parameters/streams.ts';
  const CHECK = '../../scripts/parameters/check.ts';
  afterEach(() => {
    vi.doUnmock(STREAMS);
    vi.doUnmock(CHECK);
    vi.resetModules();
  });

  it('another text, other rows, and rows that may not be used', () => {
    expect(checkTable(TABLE.slice(1), text)).toEqual([
      'the file is not as written',
      'the rows are not those of the buckets, in order',
    ]);
    const wrong = TABLE.with(1, withNumbers(TABLE[1]!, 0, { kappa: 1 }));
    expect(checkTable(wrong, tableText(wrong)).join()).toContain('512, bucket 2: level 0: inner');
    const short: TableRow[] = TABLE.map(([set, bucket, levels]) => [set, bucket, levels.slice(1)]);
    expect(checkTable(short, tableText(short)).join()).toContain('no level before the tail');
  });

  it('all else that rows share', async () => {
    vi.resetModules();
    const mock = (path: string, change: object) =>
      vi.doMock(path, async (original) => ({ ...(await original<object>()), ...change }));
    mock(STREAMS, { foldedKeyWords: () => 1, acceptedCandidates: () => 10_000 });
    mock(CHECK, { checkConstants: () => ['constants'], checkMixed: () => ['a mixed batch'] });
    const { checkTable: checked } = await import('../../scripts/parameters/checkTable.ts');
    expect(checked(TABLE, text)).toEqual([
      'constants',
      'a mixed batch',
      'a word of the commitment keys is not below q',
      'fewer candidates for challenges pass than are counted on',
    ]);
  });
});
