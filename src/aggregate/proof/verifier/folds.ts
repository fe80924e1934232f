/**
 * The verifier's work in parts (docs/protocol.md, 7, 8 and 10): all that needs nothing but seeds
 * and statements, by columns. Parts know nothing of each other; any thread can do them in any
 * order, with the same result. The rest of the work needs claims, and adds up.
 */
import type { ParameterSet } from '../../../falcon/index.ts';
import type { OrdinaryLevel, Parameters, Shape } from '../../parameters/rows.ts';
import { bestModule, type Labrador } from '../../wasm.ts';
import { type Columns, splitColumns } from '../columns.ts';
import { foldKey, type KeyFold } from '../foldKeys.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import { type ItemsShape, itemsWithin } from '../itemColumns.ts';
import { type Blocks, joinBlocks } from '../ring.ts';
import { columnsOfB } from '../shapes.ts';
import { MATRIX, SHORT } from '../transcript.ts';
import { type FoldedItems, foldItems, type ItemsFold, type StatedItem } from './foldItems.ts';
import type { ParsedSection } from './parse.ts';
import type { FoldedKeys } from './reduceConstraints.ts';
import { foldRows, type RowsFold } from './reduceLevel.ts';
import type { LevelSeeds, SectionSeeds } from './replay.ts';

export type FoldJob =
  | ({ readonly kind: 'items' } & ItemsFold)
  | ({ readonly kind: 'rows' } & RowsFold)
  | ({ readonly kind: 'key' } & KeyFold);

/**
 * Columns of phi_z or of a folded key; for items, with the sums that belong to them. Undefined if
 * the statements are not acceptable.
 */
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

/** Does a part on an instance that is ready. */
export function* foldOnIdle(job: FoldJob): Generator<number, FoldResult> {
  const module = bestModule();
  const lab = takeInstance(module, 'rest');
  try {
    const result = yield* runFold(lab, job);
    keepInstance(module, 'rest', lab);
    return result;
  } catch (error) {
    // No bytes make the verifier throw. The instance is not used again.
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

/** Parts of about equal cost, and how to join their results. */
export interface FoldPlan {
  readonly jobs: readonly FoldJob[];
  /** @returns undefined if one of the results is */
  assemble(results: readonly FoldResult[]): Folded | undefined;
}

/** All that a section's folds depend on. */
export interface FoldInput {
  readonly set: ParameterSet;
  readonly parameters: Parameters;
  readonly section: ParsedSection;
  readonly seeds: SectionSeeds;
  readonly items: readonly StatedItem[];
}

/** Divides the columns 0 to n - 1, each of which costs so much. */
type Cut = (n: number, costOfColumn: number) => Columns[];

/** @param parts about how many there should be; with 1, no fold is divided */
export function planFolds(input: FoldInput, parts: number): FoldPlan {
  const { parameters, section, seeds } = input;
  const { levels, tail } = parameters;
  const cut = cutFor(input, parts);
  const seedsOf = (number: number): LevelSeeds => seeds.ordinary[number - 1] ?? seeds.tail;
  const jobs: FoldJob[] = [];
  /** Adds jobs whose results will be joined. */
  const add = (list: readonly FoldJob[]): [from: number, to: number] => {
    jobs.push(...list);
    return [jobs.length - list.length, jobs.length];
  };

  const items = add(itemJobs(input, cut));
  const keys = levels.map((level, number) => {
    const { combine } = seedsOf(number + 1);
    const [inner, ...outer] = keysOf(level, number).map((key) => {
      return add(keyJobs(key, number, combine, cut));
    });
    return { inner: inner!, outer };
  });
  const rows = [...levels.slice(1), tail].map((shape, before) => {
    const number = before + 1;
    const { counter } = section.levels[number] ?? section.tail;
    return add(rowJobs(shape, number, counter, seedsOf(number), cut));
  });
  return {
    jobs,
    assemble(results) {
      if (results.some((result) => result === undefined)) return undefined;
      const blocks = ([from, to]: [number, number]): Blocks =>
        joinBlocks(results.slice(from, to) as Blocks[]);
      return {
        items: results.slice(...items) as FoldedItems[],
        keys: keys.map(({ inner, outer }) => ({ inner: blocks(inner), outer: outer.map(blocks) })),
        rows: rows.map(blocks),
      };
    },
  };
}

/** Microseconds on one machine; only the ratios matter. */
const COST = { place: 16, item: 90, key: 1.1, row: 9 } as const;
/** A part of this cost is small enough anywhere. */
const SMALL_COST = 5000;

function cutFor({ parameters, items }: FoldInput, parts: number): Cut {
  if (parts === 1) return (n) => splitColumns(n, 1);
  const { levels, tail, width } = parameters;
  const total =
    items.length * (width * COST.place + COST.item) +
    COST.key * levels.reduce((sum, { n, kappa }) => sum + n * kappa, 0) +
    COST.row * [...levels.slice(1), tail].reduce((sum, { r, n }) => sum + r * n, 0);
  const wanted = Math.max(SMALL_COST, total / parts);
  return (n, costOfColumn) => splitColumns(n, Math.ceil((n * costOfColumn) / wanted));
}

/** Level 0. */
function itemJobs({ set, parameters, section, seeds, items }: FoldInput, cut: Cut): FoldJob[] {
  const { levels, bucket, width } = parameters;
  const level = levels[0]!;
  const shape: ItemsShape = { set, level, bucket, width, count: items.length };
  const { counter } = section.levels[0]!;
  return cut(level.n, level.rows[0]! * COST.place).map((columns) => ({
    kind: 'items',
    shape,
    columns,
    seeds: seeds.first,
    counter,
    items: itemsWithin(shape, columns).map((item) => items[item]!),
  }));
}

interface Key {
  readonly matrix: number;
  readonly columns: number;
  /** kind of the challenges of its rows, index of the first, and how many */
  readonly short: number;
  readonly first: number;
  readonly rows: number;
}

/** A, B (at level 0 B_A and B_B), C and D of a level. */
function keysOf(level: OrdinaryLevel, number: number): Key[] {
  const { n, fu, fg, kappa, kappa1: rows, pairs } = level;
  const columnsB = columnsOfB(level, number);
  const outer = (matrix: number, columns: number, commitment: number): Key => {
    return { matrix, columns, short: SHORT.outer, first: commitment * rows, rows };
  };
  return [
    { matrix: MATRIX.A, columns: n, short: SHORT.amortised, first: 0, rows: kappa },
    ...columnsB.map((columns, i) => outer(MATRIX.B + i, columns, i)),
    outer(MATRIX.C, fg * pairs, columnsB.length - 1),
    { matrix: MATRIX.D, columns: fu * pairs, short: SHORT.garbage, first: 0, rows },
  ];
}

function keyJobs(
  { columns: count, ...key }: Key,
  number: number,
  seed: Uint8Array,
  cut: Cut,
): FoldJob[] {
  return cut(count, COST.key * key.rows).map((columns) => {
    return { kind: 'key', number, seed, columns, ...key };
  });
}

/** A level after the first, or the tail. */
function rowJobs(
  { n, lengths, rows, r, pairs }: Shape,
  number: number,
  counter: number,
  seeds: LevelSeeds,
  cut: Cut,
): FoldJob[] {
  const shape = { n, lengths, rows, r, pairs };
  return cut(n, COST.row * r).map((columns) => {
    return { kind: 'rows', number, columns, counter, seeds, shape };
  });
}
