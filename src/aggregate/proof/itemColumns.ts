/** Which items of a section have places in which columns of level 0 (docs/protocol.md, 7.1). */
import type { ParameterSet } from '../../falcon/index.ts';
import type { OrdinaryLevel, Parameters } from '../parameters/rows.ts';
import { type Columns, filledBy } from './columns.ts';

/** A section in numbers: its row of the table at level 0, and how many items it has. */
export interface ItemsShape extends Pick<Parameters, 'bucket' | 'width'> {
  readonly set: ParameterSet;
  readonly level: OrdinaryLevel;
  readonly count: number;
}

/** How many columns of every row of level 0 are filled: S, W, Y. */
export const filledByItems = ({ level, bucket, width, count }: ItemsShape): number[] =>
  filledBy(level, [width * count, 2 * bucket, width * count]);

/** Runs of items that have a place in these columns of S, in order and without overlap. */
function itemRuns({ level, width, count }: ItemsShape, columns: Columns): [number, number][] {
  const { n, rows } = level;
  const runs: [number, number][] = [];
  for (let row = 0; row < rows[0]!; row++) {
    const start = row * n + columns.from;
    const end = Math.min(row * n + columns.to, width * count);
    if (start >= end) continue;
    const from = Math.floor(start / width);
    const to = Math.floor((end - 1) / width) + 1;
    const before = runs.at(-1);
    if (before !== undefined && before[1] >= from) before[1] = to;
    else runs.push([from, to]);
  }
  return runs;
}

/** The items that have a place in these columns, in order. */
export const itemsWithin = (shape: ItemsShape, columns: Columns): number[] =>
  itemRuns(shape, columns).flatMap(([from, to]) =>
    Array.from({ length: to - from }, (_, i) => from + i),
  );

/**
 * Whether the item's first place is in these columns. Each item is counted there, and so counted
 * once.
 */
export function owns({ level, width }: ItemsShape, columns: Columns, item: number): boolean {
  const column = (width * item) % level.n;
  return column >= columns.from && column < columns.to;
}
