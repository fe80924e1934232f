/** What the verifier refuses by looking: norms and ranges just beyond their ends, wrong seals. */
import { createHash } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type Parameters, readRow } from '../../../src/aggregate/parameters/rows.ts';
import { TABLE } from '../../../src/aggregate/parameters/table.gen.ts';
import { prepareOmega, Seed } from '../../../src/aggregate/proof/challenges.ts';
import { FALCON_Q, PAIRS, Q_BITS, Q_NUMBER } from '../../../src/aggregate/proof/constants.ts';
import { shiftOf } from '../../../src/aggregate/proof/gaussianFields.ts';
import { keepInstance, onInstance, takeInstance } from '../../../src/aggregate/proof/instances.ts';
import { itemsWithin } from '../../../src/aggregate/proof/itemColumns.ts';
import { liftsOf } from '../../../src/aggregate/proof/lifts.ts';
import { isShortProjection, PROJECTION_LENGTH } from '../../../src/aggregate/proof/projection.ts';
import {
  type Blocks,
  joinLists,
  sumOfLists,
  type Values,
  valuesOfVec,
  vecOfBlocks,
} from '../../../src/aggregate/proof/ring.ts';
import { degreeOf, parametersFor } from '../../../src/aggregate/proof/shapes.ts';
import { STREAM, Transcript } from '../../../src/aggregate/proof/transcript.ts';
import { type FoldedItems, ItemsFolder } from '../../../src/aggregate/proof/verifier/foldItems.ts';
import { Folding } from '../../../src/aggregate/proof/verifier/folding.ts';
import {
  type FoldJob,
  type FoldResult,
  foldOnIdle,
  planFolds,
} from '../../../src/aggregate/proof/verifier/folds.ts';
import type { ParsedOrdinary, ParsedSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { reduceLevelZero } from '../../../src/aggregate/proof/verifier/reduceLevelZero.ts';
import {
  HeldInstance,
  openSection,
  verifySectionIn,
} from '../../../src/aggregate/proof/verifier/verify.ts';
import { bestModule } from '../../../src/aggregate/wasm.ts';
import { concat } from '../../../src/shared/bytes.ts';
import { bytesOf, type SetName, type SignedItem, signedItems } from '../../reference/items.ts';
import { encodedLevels, fastSection, finished, judge, rowOf } from './sections.ts';

/** Changes the amortisation challenges of the tail, as they are multiplied at its end. */
const tail = vi.hoisted(() => ({ change: undefined as ((c: Int16Array) => void) | undefined }));
vi.mock('../../../src/aggregate/proof/challenges.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../../src/aggregate/proof/challenges.ts')>();
  const sampleCs: typeof real.sampleCs = (lab, ...args) => {
    const made = real.sampleCs(lab, ...args);
    tail.change?.(lab.i16(made));
    return made;
  };
  return { ...real, sampleCs };
});

const LAST = 2 * PAIRS - 1;
const most = (code: number): number => 256 * 2 ** shiftOf(code) - 1;
const square = (x: number): number => x * x;
const triangle = (x: number): number => (x * (x - 1)) / 2;

/**
 * As many integers up to `limit`, their values of `of` adding up to the total: the last one first,
 * then from the first one on.
 */
function filled(count: number, total: number, limit: number, of = square): Int32Array {
  const list = new Int32Array(count);
  let left = total;
  for (let i = 0; i < count && left > 0; i++) {
    let x = Math.min(limit, Math.ceil(Math.sqrt(2 * left)) + 1);
    while (of(x) > left) x--;
    list.set([x], i === 0 ? count - 1 : i - 1);
    left -= of(x);
  }
  expect(left).toBe(0);
  return list;
}

/** A section of zeros. */
function zeroSection({ levels, tail: last }: Parameters): ParsedSection {
  const packed = (count: number, width: number) => new Uint8Array(8 * count * width);
  const projections = (number: number) => ({
    y: new Int32Array(PROJECTION_LENGTH),
    others: [],
    ...((levels[number - 1]?.w ?? 0) > 0 && { yOfX: new Int32Array(PROJECTION_LENGTH) }),
  });
  return {
    levels: levels.map(({ kappa1, cut, w, k }, i) => {
      const outer = () => (w === 0 ? packed(kappa1, Q_BITS - cut) : packed(k, 11));
      return {
        retry: 0,
        first: Array.from({ length: i === 0 ? 2 : 1 }, outer),
        counter: 0,
        ...projections(i),
        w: new Int32Array(i === 0 ? 10 : 0),
        b: new Uint8Array(w === 0 ? liftsOf(i).bytes : 88 * k + (i === 0 ? 17 : 0)),
        second: outer(),
      };
    }),
    tail: {
      retry: 0,
      t: packed((last.r - 1) * last.kappa, Q_BITS - last.cut),
      g: new Float64Array(64 * last.codesG.length),
      sealT: new Uint8Array(32),
      counter: 0,
      ...projections(levels.length),
      b: new Uint8Array(liftsOf(levels.length).bytes),
      h: packed(last.pairs - 2, Q_BITS),
      sealH: new Uint8Array(32),
      z: new Int32Array(64 * last.n),
      e: new Int32Array(64 * last.kappa),
    },
    end: 0,
  };
}

const deepest = TABLE.toSorted(([, , a], [, , b]) => b.length - a.length)[0]!;

test('the row of most levels hides messages', () => {
  expect(readRow(deepest).levels.filter(({ w }) => w > 0).length).toBeGreaterThan(1);
});

describe.each([
  ['one item', rowOf('falcon512', 1)],
  ['the row of most levels', deepest],
])('norms, %s', (_, row) => {
  const parameters = readRow(row);
  const zeros = zeroSection(parameters);
  const [degree, bucket] = row;
  const isShort = (section: ParsedSection): boolean => {
    const bytes = concat(...encodedLevels(parameters, section).map((part) => part!));
    const end = openSection(degree === 512 ? 'falcon512' : 'falcon1024', bucket, bytes, 0)?.section
      .end;
    if (end !== undefined) expect(end).toBe(bytes.length);
    return end !== undefined;
  };

  /** Zeros but for one projection. */
  const withProjection = (
    at: number,
    projection: { y: Int32Array } | { yOfX: Int32Array },
  ): ParsedSection =>
    at < zeros.levels.length
      ? { ...zeros, levels: zeros.levels.with(at, { ...zeros.levels[at]!, ...projection }) }
      : { ...zeros, tail: { ...zeros.tail, ...projection } };

  /** Norms at the bound, and beyond it by one. */
  function judgeNorms(at: number, name: 'y' | 'yOfX', bound: number, code: number): void {
    // x = 2 y, so that y may have a quarter of the bound; x = 2 y - 1 where U or V is odd
    for (const [more, isRight] of [
      [0, true],
      [1, false],
    ] as const) {
      const y = new Int32Array(PROJECTION_LENGTH);
      const judged = () => isShort(withProjection(at, name === 'y' ? { y } : { yOfX: y }));
      y.set(filled(2 * PAIRS, 72 * bound + more, most(code)));
      expect(judged(), 'even').toBe(isRight);
      y.set(filled(2 * PAIRS, 36 * bound - 34 + more, most(code), triangle));
      for (const sums of [
        [1, 0],
        [0, 1],
      ]) {
        y.set(sums, 2 * PAIRS);
        expect(judged(), 'odd').toBe(isRight);
      }
    }
  }

  test.each([...parameters.levels, parameters.tail].map((level, at) => [at, level] as const))(
    'the projection of level %i',
    (at, { inSq, codeY }) => judgeNorms(at, 'y', inSq, codeY),
  );

  const hidden = parameters.levels.flatMap((level, at) =>
    level.w > 0 ? [[at, level] as const] : [],
  );
  if (hidden.length > 0) {
    test.each(hidden)('the projection of x of level %i', (at, { xSq, codeX }) =>
      judgeNorms(at + 1, 'yOfX', xSq, codeX),
    );
  }

  test('the last message', () => {
    const { outSq, codesZ, codeE, n, kappa } = parameters.tail;
    const limit = Math.min(...codesZ.map(({ code }) => most(code)));
    for (const share of [0, 0.5, 1]) {
      const ofE = Math.floor(share * Math.min(outSq, 32 * kappa * most(codeE) ** 2));
      const e = filled(64 * kappa, ofE, most(codeE));
      const z = (more: number) => filled(64 * n, outSq - ofE + more, limit);
      expect(isShort({ ...zeros, tail: { ...zeros.tail, z: z(0), e } })).toBe(true);
      expect(isShort({ ...zeros, tail: { ...zeros.tail, z: z(1), e } })).toBe(false);
    }
  });
});

test('the bound of a projection is exact', () => {
  const y = new Int32Array(PROJECTION_LENGTH).with(LAST, 3);
  expect(isShortProjection(y, 36 / 288)).toBe(true);
  expect(isShortProjection(y, 35 / 288)).toBe(false);
});

describe('p w_j + C_j', () => {
  const parameters = readRow(rowOf('falcon512', 1));
  const [level] = parameters.levels;
  const [zero] = zeroSection(parameters).levels as [ParsedOrdinary];
  const seed = bytesOf('seed', 32);
  const seeds = { jl: seed, lift: seed, combine: seed, amortise: seed, alpha: seed, rho: seed };
  const isInRange = (j: number, w: number, c: number) =>
    onInstance(bestModule(), (lab) => {
      const sums = new Array<number>(10).fill(0).with(j, c);
      const phi = new BigInt64Array(64 * level!.n);
      const folded = [{ phi, sums, alphas: new Int32Array(64) }];
      const fields = { ...zero, w: new Int32Array(10).with(j, w) };
      return reduceLevelZero(lab, parameters, folded, fields, seeds) !== undefined;
    });

  test('has the size of a residue modulo q', () => {
    const half = (Q_NUMBER - 1) / 2;
    const w = Math.floor(half / FALCON_Q);
    const c = half - FALCON_Q * w;
    for (const j of [0, 4, 9]) {
      expect(isInRange(j, w, c)).toBe(true);
      expect(isInRange(j, w, c + 1)).toBe(false);
      expect(isInRange(j, -w, -c)).toBe(true);
      expect(isInRange(j, -w, -c - 1)).toBe(false);
      expect(isInRange(j, 2 ** 31 - 1, 0)).toBe(false);
      expect(isInRange(j, -(2 ** 31), 0)).toBe(false);
    }
  });
});

const hashed = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
  createHash('sha256')
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest('hex');

/** All that a fold gives. */
const folded = (job: FoldJob): FoldResult => finished(foldOnIdle(job));

test('a key that does not decode, whatever the proof is', async () => {
  const { items, ...section } = await fastSection('falcon512', 3);
  const verified = async (statements: typeof items) => {
    const missing: string[] = [];
    const end = await verifySectionIn({ ...section, statements, at: 0 }, 1, async (jobs) =>
      jobs.map((job) => {
        const result = folded(job);
        if (result === undefined) missing.push(job.kind);
        return result;
      }),
    );
    return { end, missing };
  };
  expect(await verified(items)).toEqual({ end: section.bytes.length, missing: [] });
  // what is no section has no parts
  const bytes = section.bytes.subarray(1);
  const nothing = { ...section, bytes, statements: items, at: 0 };
  expect(await verifySectionIn(nothing, 1, async () => [])).toBeUndefined();
  // what was opened before is not read again
  const opened = openSection('falcon512', items.length, section.bytes, 0)!;
  const spread = async (jobs: readonly FoldJob[]) => jobs.map(folded);
  expect(await verifySectionIn({ ...nothing, opened }, 1, spread)).toBe(section.bytes.length);
  for (const [i, { publicKey, message }] of items.entries()) {
    const large = publicKey.slice();
    large.set([255, 255], 1);
    const statements = items.with(i, { publicKey: large, message });
    expect(await verified(statements)).toEqual({ end: undefined, missing: ['items'] });
  }
});

/** The sum of vectors, as coefficients. */
const sumOf = (summands: readonly Blocks[]): Values =>
  onInstance(bestModule(), (lab) =>
    lab.scope(() => sumOfLists(summands.map((one) => valuesOfVec(lab, vecOfBlocks(lab, one))))),
  )!;

describe('the work of folding', () => {
  const seed = bytesOf('seed', 32);
  const seeds = { jl: seed, lift: seed, combine: seed, amortise: seed, alpha: seed, rho: seed };
  const plan = (
    count: number,
    parts: number,
    known: readonly SignedItem[] = [],
    set: SetName = 'falcon512',
  ) => {
    const parameters = parametersFor(set, count)!;
    const stated = (item?: SignedItem) => ({
      publicKey: item?.publicKey ?? seed,
      message: seed,
      salt: bytesOf('salt', 40),
    });
    const items = Array.from({ length: count }, (_, i) => stated(known[i]));
    const ordinary = parameters.levels.slice(1).map(() => seeds);
    const last = { ...seeds, stateOfT: seed, stateOfH: seed };
    const all = { first: seeds, ordinary, tail: last };
    return planFolds(
      { set, profile: 'round3', parameters, seeds: all, count: items.length, items },
      parts,
    );
  };
  const planned = (count: number, parts: number, known?: readonly SignedItem[]) =>
    plan(count, parts, known).jobs;
  const kinds = (jobs: readonly FoldJob[]) => jobs.map(({ kind }) => kind);

  test('is not divided for one thread, nor where it is small', () => {
    for (const set of ['falcon512', 'falcon1024'] as const) {
      const buckets = TABLE.filter(([of]) => of === degreeOf(set)).map(([, bucket]) => bucket);
      // where most of a bucket is padding, and where none is
      for (const count of [1, ...buckets.slice(0, -1).map((bucket) => bucket + 1), ...buckets]) {
        const rows = parametersFor(set, count)!.levels.map(() => 'rows');
        expect(kinds(plan(count, 1, [], set).jobs)).toEqual(['items', 'keys', ...rows]);
      }
    }
    expect(kinds(planned(1, 64))).toEqual(kinds(planned(1, 1)));
  });

  test('is divided into about as many parts as are asked for', () => {
    const jobs = planned(1722, 12);
    expect(jobs.length).toBeGreaterThan(12);
    expect(jobs.length).toBeLessThan(30);
    expect(kinds(jobs).filter((kind) => kind === 'items').length).toBeGreaterThan(2);
  });

  test('comes to the same however it is divided', () => {
    const items = signedItems('falcon512', 40);
    const sum = (lists: readonly ArrayLike<number>[]) =>
      Array.from(lists[0]!, (_, j) => lists.reduce((all, list) => all + list[j]!, 0));
    const start = vi.spyOn(Seed.prototype, 'start');
    const results = [1, 8].map((parts) => {
      const { jobs, assemble } = plan(40, parts, items);
      const { items: first, rows } = assemble(jobs.map(folded))!;
      expect(first.length > 1).toBe(parts > 1);
      expect(rows.every((summands) => summands.length > 2)).toBe(parts > 1);
      return {
        phi: hashed(joinLists(first.map(({ phi }) => phi as Values))),
        sums: sum(first.map(({ sums }) => sums)),
        alphas: sum(first.map(({ alphas }) => alphas)),
        rows: rows.map((summands) => hashed(sumOf(summands as readonly Blocks[]))),
      };
    });
    const streams = start.mock.calls.map(([type]) => type);
    start.mockRestore();
    expect(results[1]).toEqual(results[0]);
    // no part asks for more than it needs: three for each of the two places of an item
    const psi = streams.filter((type) => type === STREAM.psi).length;
    expect(psi).toBeLessThanOrEqual((1 + 2) * 3 * items.length);
  });

  test('comes to the same where columns of W are apart', () => {
    const items = signedItems('falcon512', 40);
    const whole = planned(40, 1, items)[0] as Extract<FoldJob, { kind: 'items' }>;
    const { shape } = whole;
    // w_i has columns i and 48 + i
    expect([shape.bucket, shape.level.n > 88]).toEqual([48, true]);
    const start = vi.spyOn(Seed.prototype, 'start');
    const add = vi.spyOn(Folding.prototype, 'add');
    const parts = [0, 32, 64].map((from, i) => {
      const columns = { from, to: [32, 64, shape.level.n][i]! };
      const here = itemsWithin(shape, columns).map((item) => whole.items[item]!);
      return folded({ ...whole, columns, items: here }) as FoldedItems<Values>;
    });
    const psi = start.mock.calls.filter(([type]) => type === STREAM.psi).length;
    const isWithin = ([, column]: readonly number[], i: number): boolean =>
      column! >= 0 && column! < (add.mock.contexts[i] as Folding).sum.columns;
    expect(add.mock.calls.length).toBeGreaterThan(80);
    expect(add.mock.calls.every(isWithin)).toBe(true);
    add.mockRestore();
    start.mockRestore();
    expect(psi).toBe(3 * 2 * 40);
    const { phi } = folded(whole) as FoldedItems<Values>;
    expect(hashed(joinLists(parts.map((part) => part.phi)))).toBe(hashed(phi));
  });

  test('comes to the same for items in blocks of any size', () => {
    const known = signedItems('falcon512', 40);
    const whole = planned(40, 1, known)[0] as Extract<FoldJob, { kind: 'items' }>;
    const expected = folded(whole) as FoldedItems<Values>;
    // rows end, and runs of columns, within an item and within a block
    for (const sizes of [[1, 15, 1, 23], [33, 7], new Array<number>(40).fill(1)]) {
      const found = onInstance(bestModule(), (lab) =>
        lab.scope(() => {
          const columns = { from: 0, to: whole.shape.level.n };
          const folder = new ItemsFolder(lab, { ...whole, columns });
          const mark = lab.kernels.mark();
          let from = 0;
          for (const size of sizes) {
            const block = { from, to: (from += size) };
            const progress = [...folder.add(block, whole.items.slice(block.from, block.to))];
            expect(progress.length).toBeGreaterThan(0);
            expect(lab.kernels.mark()).toBe(mark);
            // others use the kernels meanwhile
            lab.scope(() => prepareOmega(lab, new Seed(lab, bytesOf('other', 32), 0)));
          }
          const folds = folder.finish();
          return { ...folds, phi: valuesOfVec(lab, folds.phi) };
        }),
      )!;
      expect(hashed(found.phi)).toBe(hashed(expected.phi));
      expect([found.sums, found.alphas]).toEqual([expected.sums, expected.alphas]);
    }
  });

  test('leaves the instance as it was, ready for the next', () => {
    const module = bestModule();
    const lab = takeInstance(module, 'rest');
    const mark = lab.kernels.mark();
    keepInstance(module, 'rest', lab);
    for (const job of planned(1, 1, signedItems('falcon512', 1))) folded(job);
    const next = takeInstance(module, 'rest');
    expect(next).toBe(lab);
    expect(next.kernels.mark()).toBe(mark);
    keepInstance(module, 'rest', next);
  });

  test('is refused when the module traps, and only then', () => {
    const [job] = planned(1, 1, signedItems('falcon512', 1));
    for (const [error, isTrap] of [
      [new WebAssembly.RuntimeError('unreachable'), true],
      [new TypeError('a mistake of ours'), false],
    ] as const) {
      const start = vi.spyOn(Seed.prototype, 'start').mockImplementation(() => {
        throw error;
      });
      try {
        if (isTrap) expect(folded(job!)).toBeUndefined();
        else expect(() => folded(job!)).toThrow(error);
      } finally {
        start.mockRestore();
      }
    }
  });

  test('of blocks gives its instance back, but not after a trap', () => {
    const module = bestModule();
    const mistake = new TypeError('a mistake of ours');
    for (const error of [undefined, new WebAssembly.RuntimeError('unreachable'), mistake]) {
      const held = new HeldInstance();
      const { lab } = held;
      const mark = lab.kernels.mark();
      const verdict = (): boolean =>
        held.guard(() => {
          lab.room(1000);
          if (error !== undefined) throw error;
          return true;
        });
      if (error === mistake) expect(verdict).toThrow(error);
      else expect(verdict()).toBe(error === undefined);
      held.close();
      const next = takeInstance(module, 'rest');
      expect(next === lab).toBe(error === undefined);
      expect(lab.kernels.mark()).toBe(mark);
      keepInstance(module, 'rest', next);
    }
  });

  test('is done once for every item', () => {
    const items = signedItems('falcon512', 12);
    const start = vi.spyOn(Seed.prototype, 'start');
    const [job] = planned(12, 1, items);
    const steps = [...foldOnIdle(job!)];
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.every((done) => done > 0 && done < 1)).toBe(true);
    const streams = [...start.mock.calls];
    start.mockRestore();
    const drawn = (wanted: number) =>
      streams.filter(([type]) => type === wanted).map(([, sub, item]) => `${sub} ${item}`);
    const rho = items.flatMap((_, i) => Array.from({ length: 10 }, (_, j) => `${j} ${i}`));
    expect(drawn(STREAM.rho)).toEqual(rho);
    for (const type of [STREAM.omega, STREAM.theta]) {
      expect(drawn(type)).toEqual(['0 0', '1 0', '2 0']);
    }
    const { shape } = job as Extract<FoldJob, { kind: 'items' }>;
    const rows = Array.from({ length: shape.level.r }, (_, a) => `0 ${a}`);
    expect(drawn(STREAM.amortise)).toEqual(rows);
    // the polynomial, and its share of the sum
    expect(drawn(STREAM.alpha).length).toBe(2 * items.length);
  });
});

describe('the tail', () => {
  test('a wrong seal, under which all else is right', async () => {
    const { seal } = Transcript.prototype;
    for (const wrong of ['t', 'h']) {
      const spy = vi.spyOn(Transcript.prototype, 'seal').mockImplementation(function (
        this: Transcript,
        label,
        data,
      ) {
        const made = seal.call(this, label, data);
        return label === wrong ? made.with(31, made[31]! ^ 1) : made;
      });
      const section = await fastSection('falcon512', 1);
      expect(judge(section)).toBe(section.bytes.length);
      spy.mockRestore();
      expect(judge(section), wrong).toBeUndefined();
    }
    const section = await fastSection('falcon512', 1);
    expect(judge(section)).toBe(section.bytes.length);
  });

  test('challenges of the last row without the inverses that it needs', async () => {
    const section = await fastSection('falcon512', 1);
    const lastOf = (c: Int16Array): Int16Array => c.subarray(-64);
    const changes: readonly ((c: Int16Array) => void)[] = [
      (c) => lastOf(c).fill(0),
      (c) => lastOf(c).set(c.subarray(0, 64)),
      (c) => lastOf(c).set(c.subarray(0, 64).map((x) => -x)),
    ];
    for (const change of changes) {
      tail.change = change;
      try {
        expect(judge(section)).toBeUndefined();
      } finally {
        tail.change = undefined;
      }
    }
    expect(judge(section)).toBe(section.bytes.length);
  });
});
