/**
 * The verifier's work in parts (docs/protocol.md, 7, 8 and 10): everything that depends only on
 * seeds and statements, by columns. Parts are independent; any thread can process them in any
 * order, with the same result. The remaining work depends on claims, and joins the results.
 */
import type { ParameterSet, Profile } from '../../../falcon/index.ts';
import type { OrdinaryLevel, Parameters, Shape } from '../../parameters/rows.ts';
import { BLOCK_COLUMNS, bestModule, type Labrador, type Vecs } from '../../wasm.ts';
import { type Columns, splitByCost, splitColumns } from '../columns.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import { type ItemsShape, itemsWithin } from '../itemColumns.ts';
import { scalarsBehind } from '../lifts.ts';
import { type Blocks, blocksOf, joinBlocks, type Values, valuesOfVec } from '../ring.ts';
import { outersOf } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { type FoldedItems, foldItems, type ItemsFold, type StatedItem } from './foldItems.ts';
import { quarterUses, upsilonsAt } from './hidden.ts';
import { foldKeysOnRows, type KeysOnRows, type PlacedUse } from './reduceCarry.ts';
import { foldRows, type RowsFold, type Summand } from './reduceLevel.ts';
import type { LevelSeeds, RestSeeds, SectionSeeds } from './replay.ts';

export type FoldJob =
  | ({ readonly kind: 'items' } & ItemsFold)
  | ({ readonly kind: 'rows' } & RowsFold)
  | ({ readonly kind: 'keys' } & KeysOnRows);

/**
 * Columns of phi_z; for items, with their sums; for keys, the shares of all levels. Undefined if
 * the statements are not acceptable.
 */
export type FoldResult = FoldedItems<Values> | Blocks | readonly Blocks[] | undefined;

/** Processes a part; yields its progress. */
export function* runFold(lab: Labrador, job: FoldJob): Generator<number, FoldResult> {
  const mark = lab.kernels.mark();
  try {
    if (job.kind === 'items') {
      const folded = yield* foldItems(lab, job);
      return folded && { ...folded, phi: valuesOfVec(lab, folded.phi) };
    }
    if (job.kind === 'rows') return blocksOf(lab, foldRows(lab, job));
    return foldKeysOnRows(lab, job).map((sum) => blocksOf(lab, sum));
  } finally {
    lab.kernels.reset(mark);
  }
}

/** The result of a part on the instance that concludes, which needs no copies of vectors. */
export type ResultHere = FoldResult | FoldedItems<Vecs> | RowsFold | readonly Vecs[];

/** Processes a part there, except rows: `reduceRows` does. Valid until the enclosing scope ends. */
export function foldHere(lab: Labrador, job: FoldJob): ResultHere {
  if (job.kind === 'rows') return job;
  if (job.kind === 'keys') return foldKeysOnRows(lab, job);
  const parts = foldItems(lab, job);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
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
  /**
   * the summands of phi_z that depend only on seeds, levels 1, 2, ..., tail: the projection's part
   * of the lifts, and shares of the folded keys
   */
  readonly rows: readonly (readonly Summand[])[];
}

/** Parts of about equal cost, and the function that joins their results. */
export interface FoldPlan {
  readonly jobs: readonly FoldJob[];
  /**
   * @param ofBlocks the fold of the items, if there are no jobs for them
   * @returns undefined if any result is undefined
   */
  assemble(results: readonly ResultHere[], ofBlocks?: FoldedItems): Folded | undefined;
}

/** The inputs of the folds of level 0: of a section, or of a part. */
export interface ItemsInput {
  readonly set: ParameterSet;
  readonly profile: Profile;
  readonly parameters: Parameters;
  readonly seeds: Pick<SectionSeeds, 'first'>;
  readonly count: number;
  /** all items; undefined if they are folded in blocks */
  readonly items: readonly StatedItem[] | undefined;
}

/** The inputs of a section's folds. */
export interface FoldInput extends ItemsInput {
  readonly seeds: SectionSeeds;
}

/** @param parts approximate number of parts; with 1, no fold is divided */
export function planFolds(input: FoldInput, parts: number): FoldPlan {
  const plan = planMerged([input], input.parameters, input.seeds, parts);
  const items = plan.parts[0]!;
  const { jobs, assemble } = plan.rest;
  return {
    jobs: [...items, ...jobs],
    assemble(results, ofBlocks) {
      if (results.some((result) => result === undefined)) return undefined;
      return {
        items: ofBlocks ? [ofBlocks] : (results.slice(0, items.length) as FoldedItems[]),
        rows: assemble(results.slice(items.length)),
      };
    },
  };
}

/** The cost that makes about so many parts of all folds. */
export const costOfPart = (costs: readonly number[], parts: number): number =>
  Math.max(SMALL_COST, costs.reduce((sum, cost) => sum + cost, 0) / parts);

/** Parts of about equal cost of a merged proof: of every part, then of the levels after them. */
export interface MergedPlan {
  readonly parts: readonly (readonly FoldJob[])[];
  readonly rest: RestPlan;
}

/** @param parts approximate number of parts; with 1, no fold is divided */
export function planMerged(
  inputs: readonly ItemsInput[],
  parameters: Parameters,
  seeds: RestSeeds,
  parts: number,
): MergedPlan {
  const uses = usesOfLevels(parameters, seeds);
  const costs = [...inputs.map(costOfItems), costOfRest(parameters, uses)];
  const wanted = parts === 1 ? Number.POSITIVE_INFINITY : costOfPart(costs, parts);
  return {
    parts: inputs.map((input) => planItems(input, wanted)),
    rest: planRest(parameters, seeds, uses, wanted),
  };
}

/** The folds after level 0, and the function that joins their results. */
export interface RestPlan {
  readonly jobs: readonly FoldJob[];
  assemble(results: readonly ResultHere[]): Folded['rows'];
}

function planRest(
  { levels, tail }: Parameters,
  seeds: RestSeeds,
  uses: readonly PlacedUse[],
  wanted: number,
): RestPlan {
  const after = [...levels.slice(1), tail].map((shape, before) => {
    const { f, b } = levels[before]!;
    return { shape: plainShape(shape), seeds: seedsOf(seeds, before + 1), f, b };
  });
  const keys = keyJobs(uses, after, wanted);
  const jobs: FoldJob[] = [...keys];
  const rows = after.map((level, before) => {
    const from = jobs.length;
    jobs.push(...rowJobs(level, before + 1, levels[before]!, wanted));
    return [from, jobs.length] as const;
  });
  return {
    jobs,
    assemble(results) {
      const ofKeys = results.slice(0, keys.length) as (readonly (Blocks | Vecs)[])[];
      return rows.map((range, i) => [
        joined(results.slice(...range) as (Blocks | RowsFold)[]),
        ...ofKeys.map((shares) => shares[i]!),
      ]);
    },
  };
}

/** The columns of all parts. Only a fold that is not divided is yet to be done. */
const joined = (parts: readonly (Blocks | RowsFold)[]): Summand =>
  parts.length === 1 ? parts[0]! : joinBlocks(parts as readonly Blocks[]);

const seedsOf = ({ ordinary, tail }: RestSeeds, number: number): LevelSeeds =>
  ordinary[number - 1] ?? tail;

/** Microseconds on one machine; only the ratios matter. */
const COST = { place: 16, item: 90, key: 0.7, use: 0.4, row: 6 } as const;
/** Minimum target cost of a part. */
const SMALL_COST = 5000;

export const costOfItems = ({ parameters: { width }, count }: ItemsInput): number =>
  count * (width * COST.place + COST.item);

const costOfRest = ({ levels, tail }: Parameters, uses: readonly PlacedUse[]): number =>
  costOfBlocks(uses).reduce((sum, cost) => sum + cost, 0) +
  COST.row * [...levels.slice(1), tail].reduce((sum, { r, n }) => sum + r * n, 0);

/** Divides the columns 0 to n - 1, given the cost of a column. */
const cut = (n: number, each: number, wanted: number): Columns[] =>
  splitColumns(n, Math.ceil((n * each) / wanted));

export function shapeOfItems({ set, profile, parameters, count }: ItemsInput): ItemsShape {
  const { levels, bucket, width } = parameters;
  return { set, profile, level: levels[0]!, bucket, width, count };
}

/** Level 0. @param wanted approximate cost of a job; one job if omitted */
export function planItems(input: ItemsInput, wanted = Number.POSITIVE_INFINITY): FoldJob[] {
  const { seeds, items } = input;
  if (items === undefined) return [];
  const shape = shapeOfItems(input);
  const { n, rows } = shape.level;
  return cut(n, rows[0]! * COST.place, wanted).map((columns) => ({
    kind: 'items',
    shape,
    columns,
    seeds: seeds.first,
    items: itemsWithin(shape, columns).map((item) => items[item]!),
  }));
}

const usesOfLevels = ({ levels }: Parameters, seeds: RestSeeds): PlacedUse[] =>
  levels.flatMap((level, number) =>
    usesOf(level, number, levels[number + 1] ?? {}, seedsOf(seeds, number + 1)),
  );

/**
 * The uses of the keys of a level, as the next level folds them: the inner commitments, the outer
 * ones, then the hidden messages.
 */
function usesOf(
  level: OrdinaryLevel,
  number: number,
  next: Pick<Shape, 'parts'>,
  seeds: LevelSeeds,
): PlacedUse[] {
  const { n, kappa, kappa1, messages } = level;
  const outers = outersOf(level, number);
  const challenges = (i: number) =>
    i < outers.length - 1
      ? { short: SHORT.outer, first: i * kappa1 }
      : { short: SHORT.garbage, first: 0 };
  const of = { number: number + 1, seed: seeds.combine };
  return [
    { ...of, columns: n, short: SHORT.amortised, first: 0, rows: kappa, from: undefined },
    ...outers.map(({ from, count }, i) => {
      return { ...of, columns: count, ...challenges(i), rows: kappa1, from };
    }),
    ...upsilonsAt(next, scalarsBehind(level, number).end).flatMap((upsilonAt, part) =>
      quarterUses(level, number, seeds, upsilonAt).map((use, i) => {
        return { ...use, from: messages[i]!.from, part };
      }),
    ),
  ];
}

/** The cost of every block of columns of the matrix. */
function costOfBlocks(uses: readonly PlacedUse[]): number[] {
  const end = Math.max(...uses.map(({ columns }) => columns));
  return Array.from({ length: Math.ceil(end / BLOCK_COLUMNS) }, (_, block) => {
    const rows = uses.filter((use) => use.columns > BLOCK_COLUMNS * block).map((use) => use.rows);
    const folded = rows.reduce((sum, count) => sum + count, 0);
    return BLOCK_COLUMNS * (COST.key * Math.max(...rows) + COST.use * folded);
  });
}

/** The matrix of keys, for all uses of it. */
const keyJobs = (
  uses: readonly PlacedUse[],
  after: KeysOnRows['after'],
  wanted: number,
): FoldJob[] =>
  splitByCost(costOfBlocks(uses), wanted).map((columns) => {
    return { kind: 'keys', columns, uses, after };
  });

/** A shape without the other numbers of its level, which no thread needs. */
const plainShape = ({ n, lengths, rows, r, pairs, parts }: Shape): Shape => {
  return { n, lengths, rows, r, pairs, parts };
};

/** A level after the first, or the tail. */
function rowJobs(
  { shape, seeds }: KeysOnRows['after'][number],
  number: number,
  before: OrdinaryLevel,
  wanted: number,
): FoldJob[] {
  const { lengthX } = before;
  const { end: scalars } = scalarsBehind(before, number - 1);
  return cut(shape.n, COST.row * shape.r, wanted).map((columns) => {
    return { kind: 'rows', number, columns, seeds, shape, lengthX, scalars };
  });
}
