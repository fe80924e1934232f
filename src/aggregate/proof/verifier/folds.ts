/**
 * The verifier's work in parts (docs/protocol.md, 7, 8 and 10): everything that depends only on
 * seeds and statements, by columns. Parts are independent; any thread can process them in any
 * order, with the same result. The remaining work depends on claims, and joins the results.
 */
import type { ParameterSet, Profile } from '../../../falcon/index.ts';
import type { OrdinaryLevel, Parameters, Shape } from '../../parameters/rows.ts';
import { BLOCK_COLUMNS, bestModule, type Labrador } from '../../wasm.ts';
import { type Columns, splitByCost, splitColumns } from '../columns.ts';
import { foldKeys, type KeysFold } from '../foldKeys.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import { type ItemsShape, itemsWithin } from '../itemColumns.ts';
import { type Blocks, joinBlocks } from '../ring.ts';
import { outersOf } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { type FoldedItems, foldItems, type ItemsFold, type StatedItem } from './foldItems.ts';
import { type FoldedUse, quarterUses, rowCoefficients } from './hidden.ts';
import type { FoldedKeys } from './reduceConstraints.ts';
import { foldRows, type RowsFold } from './reduceLevel.ts';
import type { LevelSeeds, SectionSeeds } from './replay.ts';

export type FoldJob =
  | ({ readonly kind: 'items' } & ItemsFold)
  | ({ readonly kind: 'rows' } & RowsFold)
  | ({ readonly kind: 'keys' } & KeysFold<FoldedUse>);

/**
 * Columns of phi_z or of all folded keys; for items, with their sums. Undefined if the statements
 * are not acceptable.
 */
export type FoldResult = FoldedItems | Blocks | readonly Blocks[] | undefined;

/** Processes a part; yields its progress. */
export function* runFold(lab: Labrador, job: FoldJob): Generator<number, FoldResult> {
  const mark = lab.kernels.mark();
  try {
    if (job.kind === 'items') return yield* foldItems(lab, job);
    return job.kind === 'rows' ? foldRows(lab, job) : foldKeys(lab, job, rowCoefficients);
  } finally {
    lab.kernels.reset(mark);
  }
}

/** Processes a part on an idle instance. */
export function* foldOnIdle(job: FoldJob): Generator<number, FoldResult> {
  const module = bestModule();
  const lab = takeInstance(module, 'rest');
  try {
    const result = yield* runFold(lab, job);
    keepInstance(module, 'rest', lab);
    return result;
  } catch (error) {
    // The verifier must not throw for any bytes. The instance is not reused.
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

/** Parts of about equal cost, and the function that joins their results. */
export interface FoldPlan {
  readonly jobs: readonly FoldJob[];
  /**
   * @param ofBlocks the fold of the items, if there are no jobs for them
   * @returns undefined if any result is undefined
   */
  assemble(results: readonly FoldResult[], ofBlocks?: FoldedItems): Folded | undefined;
}

/** The inputs of a section's folds. */
export interface FoldInput {
  readonly set: ParameterSet;
  readonly profile: Profile;
  readonly parameters: Parameters;
  readonly seeds: SectionSeeds;
  readonly count: number;
  /** all items; undefined if they are folded in blocks */
  readonly items: readonly StatedItem[] | undefined;
}

/** Divides the columns 0 to n - 1, given the cost of a column. */
type Cut = (n: number, costOfColumn: number) => Columns[];

/** @param parts approximate number of parts; with 1, no fold is divided */
export function planFolds(input: FoldInput, parts: number): FoldPlan {
  const { parameters, seeds } = input;
  const { levels, tail } = parameters;
  const uses = levels.map((level, number) => usesOf(level, number, seedsOf(seeds, number + 1)));
  const wanted = Math.max(SMALL_COST, costOf(input, uses.flat()) / parts);
  const cut: Cut = (n, each) => splitColumns(n, Math.ceil((n * each) / wanted));
  const jobs: FoldJob[] = [];
  /** Adds jobs whose results will be joined. */
  const add = (list: readonly FoldJob[]): [from: number, to: number] => {
    jobs.push(...list);
    return [jobs.length - list.length, jobs.length];
  };

  const items = add(itemJobs(input, cut));
  const keys = add(keyJobs(uses.flat(), wanted));
  const rows = [...levels.slice(1), tail].map((shape, before) => {
    const { lengthX } = levels[before]!;
    return add(rowJobs(shape, before + 1, lengthX, seedsOf(seeds, before + 1), cut));
  });
  return {
    jobs,
    assemble(results, ofBlocks) {
      if (results.some((result) => result === undefined)) return undefined;
      return {
        items: ofBlocks ? [ofBlocks] : (results.slice(...items) as FoldedItems[]),
        keys: foldedKeys(levels, uses, results.slice(...keys) as Blocks[][]),
        rows: rows.map((range) => joinBlocks(results.slice(...range) as Blocks[])),
      };
    },
  };
}

const seedsOf = ({ ordinary, tail }: SectionSeeds, number: number): LevelSeeds =>
  ordinary[number - 1] ?? tail;

/** Microseconds on one machine; only the ratios matter. */
const COST = { place: 16, item: 90, key: 0.7, use: 0.4, row: 6 } as const;
/** Minimum target cost of a part. */
const SMALL_COST = 5000;

function costOf({ parameters, count }: FoldInput, uses: readonly FoldedUse[]): number {
  const { levels, tail, width } = parameters;
  return (
    count * (width * COST.place + COST.item) +
    costOfBlocks(uses).reduce((sum, cost) => sum + cost, 0) +
    COST.row * [...levels.slice(1), tail].reduce((sum, { r, n }) => sum + r * n, 0)
  );
}

export function shapeOfItems({ set, profile, parameters, count }: FoldInput): ItemsShape {
  const { levels, bucket, width } = parameters;
  return { set, profile, level: levels[0]!, bucket, width, count };
}

/** Level 0. */
function itemJobs(input: FoldInput, cut: Cut): FoldJob[] {
  const { seeds, items } = input;
  if (items === undefined) return [];
  const shape = shapeOfItems(input);
  const { n, rows } = shape.level;
  return cut(n, rows[0]! * COST.place).map((columns) => ({
    kind: 'items',
    shape,
    columns,
    seeds: seeds.first,
    items: itemsWithin(shape, columns).map((item) => items[item]!),
  }));
}

/**
 * The uses of the keys of a level, as the next level folds them: the inner commitments, the outer
 * ones, then the hidden messages.
 */
function usesOf(level: OrdinaryLevel, number: number, seeds: LevelSeeds): FoldedUse[] {
  const { n, kappa, kappa1 } = level;
  const outers = outersOf(level, number);
  const challenges = (i: number) =>
    i < outers.length - 1
      ? { short: SHORT.outer, first: i * kappa1 }
      : { short: SHORT.garbage, first: 0 };
  const of = { number: number + 1, seed: seeds.combine };
  return [
    { ...of, columns: n, short: SHORT.amortised, first: 0, rows: kappa },
    ...outers.map(({ count }, i) => ({ ...of, columns: count, ...challenges(i), rows: kappa1 })),
    ...quarterUses(level, number, seeds),
  ];
}

/** The cost of every block of columns of the matrix. */
function costOfBlocks(uses: readonly FoldedUse[]): number[] {
  const end = Math.max(...uses.map(({ columns }) => columns));
  return Array.from({ length: Math.ceil(end / BLOCK_COLUMNS) }, (_, block) => {
    const rows = uses.filter((use) => use.columns > BLOCK_COLUMNS * block).map((use) => use.rows);
    const folded = rows.reduce((sum, count) => sum + count, 0);
    return BLOCK_COLUMNS * (COST.key * Math.max(...rows) + COST.use * folded);
  });
}

/** The matrix of keys, for all uses of it. */
const keyJobs = (uses: readonly FoldedUse[], wanted: number): FoldJob[] =>
  splitByCost(costOfBlocks(uses), wanted).map((columns) => ({ kind: 'keys', columns, uses }));

/** The keys of every level, from the columns of all uses. */
function foldedKeys(
  levels: readonly OrdinaryLevel[],
  uses: readonly (readonly FoldedUse[])[],
  parts: readonly (readonly Blocks[])[],
): FoldedKeys[] {
  let at = 0;
  return uses.map((ofLevel, number) => {
    const [inner, ...others] = ofLevel.map(() => {
      const own = at++;
      return joinBlocks(parts.map((blocks) => blocks[own]!));
    });
    const outers = others.length - levels[number]!.messages.length;
    return { inner: inner!, outer: others.slice(0, outers), quarters: others.slice(outers) };
  });
}

/** A level after the first, or the tail. */
function rowJobs(
  { n, lengths, rows, r, pairs }: Shape,
  number: number,
  lengthX: number,
  seeds: LevelSeeds,
  cut: Cut,
): FoldJob[] {
  const shape = { n, lengths, rows, r, pairs };
  return cut(n, COST.row * r).map((columns) => {
    return { kind: 'rows', number, columns, seeds, shape, lengthX };
  });
}
