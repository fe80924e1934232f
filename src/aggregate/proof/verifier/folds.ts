/**
 * The verifier's work in parts (docs/protocol.md, 7, 8, 10): all that needs seeds and statements alone, by columns. Parts know nothing
 * of each other and can be done anywhere in any order; the numbers that come out are the same. What is left needs claims, and adds up.
 */
import type { ParameterSet } from '../../../falcon/index.ts';
import type { OrdinaryLevel, Parameters, Shape } from '../../parameters/rows.ts';
import { bestModule, type Labrador } from '../../wasm.ts';
import { type Columns, splitColumns } from '../columns.ts';
import { foldKey, type KeyFold } from '../foldKeys.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import { type ItemsShape, itemsWithin } from '../itemColumns.ts';
import { MATRIX, SHORT } from '../labels.ts';
import { type Blocks, joinedBlocks } from '../ring.ts';
import { firstRows } from '../shapes.ts';
import { type FoldedItems, foldItems, type ItemsFold, type StatedItem } from './foldItems.ts';
import type { ParsedSection } from './parse.ts';
import type { FoldedKeys } from './reduceConstraints.ts';
import { foldRows, type RowsFold } from './reduceLevel.ts';
import type { SectionSeeds } from './replay.ts';

export type FoldJob =
  | ({ readonly kind: 'items' } & ItemsFold)
  | ({ readonly kind: 'rows' } & RowsFold)
  | ({ readonly kind: 'key' } & KeyFold);

/** Columns of phi_z or of a folded key, and of items what goes with them; undefined if the statements are not acceptable. */
export type FoldResult = FoldedItems | Blocks | undefined;

/** Does a part; yields how much of it is done. */
export function* runFold(lab: Labrador, job: FoldJob): Generator<number, FoldResult> {
  const mark = lab.kernels.mark();
  try {
    if (job.kind === 'items') return yield* foldItems(lab, job);
    return job.kind === 'rows' ? foldRows(lab, job) : foldKey(lab, job);
  } finally {
    lab.kernels.reset(mark);
  }
}

/** The same on an instance that stands ready. */
export function* foldOnIdle(job: FoldJob): Generator<number, FoldResult> {
  const module = bestModule();
  const lab = takeInstance(module, 'rest');
  try {
    const result = yield* runFold(lab, job);
    keepInstance(module, 'rest', lab);
    return result;
  } catch (error) {
    // no bytes make the verifier throw; the instance is not used again
    if (error instanceof WebAssembly.RuntimeError) return undefined;
    throw error;
  }
}

export interface Folded {
  readonly items: readonly FoldedItems[];
  /** levels 0, 1, ... */
  readonly keys: readonly FoldedKeys[];
  /** phi_z of the projection's part of the lifts: levels 1, 2, ..., tail */
  readonly rows: readonly Blocks[];
}

/** Parts of about equal cost, and how their results fit together again. */
export interface FoldPlan {
  readonly jobs: readonly FoldJob[];
  /** @returns undefined if one of the results is */
  assemble(results: readonly FoldResult[]): Folded | undefined;
}

/** Microseconds on some machine: only their ratios matter. */
const COST = { place: 16, item: 90, key: 1.1, row: 9 } as const;
/** A part of this cost is small enough anywhere. */
const SMALL_COST = 5000;

/** @param parts about how many there should be; with 1, nothing is cut */
export function planFolds(
  set: ParameterSet,
  { levels, tail, bucket, width }: Parameters,
  section: ParsedSection,
  seeds: SectionSeeds,
  items: readonly StatedItem[],
  parts: number,
): FoldPlan {
  const count = items.length;
  const places = levels[0]!.rows[0]! * COST.place;
  const keysOf = levels.map((level, number) => outerKeys(level, number));
  const projected: { shape: Shape; number: number }[] = [...levels, tail]
    .map((shape, number) => ({ shape, number }))
    .slice(1);
  const total =
    count * (width * COST.place + COST.item) +
    COST.key * levels.reduce((sum, { n, kappa }) => sum + n * kappa, 0) +
    COST.row * projected.reduce((sum, { shape }) => sum + shape.r * shape.n, 0);
  const wanted = parts === 1 ? Number.POSITIVE_INFINITY : Math.max(SMALL_COST, total / parts);
  const cut = (n: number, costOfColumn: number): Columns[] =>
    splitColumns(n, Math.ceil((n * costOfColumn) / wanted));

  const jobs: FoldJob[] = [];
  /** Notes which results are to be joined. */
  const add = (list: readonly FoldJob[]): [from: number, to: number] => {
    jobs.push(...list);
    return [jobs.length - list.length, jobs.length];
  };
  const shape: ItemsShape = { set, level: levels[0]!, bucket, width, count };
  const { counter } = section.levels[0]!;
  const itemRange = add(
    cut(shape.level.n, places).map((columns) => ({
      kind: 'items',
      shape,
      columns,
      seeds: seeds.first,
      counter,
      items: itemsWithin(shape, columns).map((item) => items[item]!),
    })),
  );
  const seedsOf = (number: number) => seeds.ordinary[number - 1] ?? seeds.tail;
  const keyRanges = levels.map(({ n, kappa }, number) => {
    const seed = seedsOf(number + 1).combine;
    const fold = (key: OuterKey): FoldJob[] =>
      cut(key.columns, COST.key * key.rows).map((columns) => ({
        kind: 'key',
        ...{ number, seed, columns, matrix: key.matrix },
        ...{ short: key.short, first: key.first, rows: key.rows },
      }));
    const inner = { matrix: MATRIX.A, columns: n, short: SHORT.amortised, first: 0, rows: kappa };
    return { inner: add(fold(inner)), outer: keysOf[number]!.map((key) => add(fold(key))) };
  });
  const rowRanges = projected.map(({ shape, number }) => {
    const { counter } = section.levels[number] ?? section.tail;
    return add(
      cut(shape.n, COST.row * shape.r).map((columns) => ({
        kind: 'rows',
        ...{ number, columns, counter, seeds: seedsOf(number) },
        shape: {
          n: shape.n,
          lengths: shape.lengths,
          rows: shape.rows,
          r: shape.r,
          pairs: shape.pairs,
        },
      })),
    );
  });

  return {
    jobs,
    assemble(results) {
      if (results.some((result) => result === undefined)) return undefined;
      const blocks = ([from, to]: [number, number]): Blocks =>
        joinedBlocks(results.slice(from, to) as Blocks[]);
      return {
        items: results.slice(...itemRange) as FoldedItems[],
        keys: keyRanges.map(({ inner, outer }) => ({
          inner: blocks(inner),
          outer: outer.map(blocks),
        })),
        rows: rowRanges.map(blocks),
      };
    },
  };
}

interface OuterKey {
  readonly matrix: number;
  readonly columns: number;
  /** the challenges of its rows */
  readonly short: number;
  readonly first: number;
  readonly rows: number;
}

/** B (at level 0 B_A and B_B), C and D of a level. */
function outerKeys(level: OrdinaryLevel, number: number): OuterKey[] {
  const { fu, fg, kappa, kappa1: rows, r, pairs } = level;
  const splits = number === 0 ? [firstRows(level)[2]!, r - firstRows(level)[2]!] : [r];
  const short = SHORT.outer;
  return [
    ...splits.map((rowsOfT, i) => ({
      matrix: MATRIX.B + i,
      columns: rowsOfT * fu * kappa,
      ...{ short, first: i * rows, rows },
    })),
    { matrix: MATRIX.C, columns: fg * pairs, short, first: (splits.length - 1) * rows, rows },
    { matrix: MATRIX.D, columns: fu * pairs, short: SHORT.garbage, first: 0, rows },
  ];
}
