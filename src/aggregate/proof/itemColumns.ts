/** Maps items of a section to columns of level 0 (docs/protocol.md, 7.1). */
import type { ParameterSet, Profile } from '../../falcon/index.ts';
import type { OrdinaryLevel, Parameters } from '../parameters/rows.ts';
import { type Columns, filledBy } from './columns.ts';

/** The dimensions of a section: its row of the table at level 0, and its number of items. */
export interface ItemsShape extends Pick<Parameters, 'bucket' | 'width'> {
  readonly set: ParameterSet;
  readonly profile: Profile;
  readonly level: OrdinaryLevel;
  readonly count: number;
}

/** The number of filled columns of every row of level 0: S, W, Y. */
export const filledByItems = ({ level, bucket, width, count }: ItemsShape): number[] =>
  filledBy(level, [width * count, 2 * bucket, width * count]);

/** Items `from` to `to - 1` of a section. */
export interface Block {
  readonly from: number;
  readonly to: number;
}

/** The items with a place in these columns of S, in order; of a block, if one is given. */
export function itemsWithin(
  { level, width, count }: ItemsShape,
  columns: Columns,
  { from, to }: Block = { from: 0, to: count },
): number[] {
  const { n, rows } = level;
  const items: number[] = [];
  for (const row of Array(rows[0]!).keys()) {
    const end = Math.min(row * n + columns.to, width * to);
    const first = Math.floor((row * n + columns.from) / width);
    // The previous row may end within the same item.
    const next = (items.at(-1) ?? from - 1) + 1;
    for (let item = Math.max(first, next); width * item < end; item++) items.push(item);
  }
  return items;
}

/**
 * Returns whether the item's first place is in these columns. Each item is counted only there, and
 * hence exactly once.
 */
export function owns({ level, width }: ItemsShape, columns: Columns, item: number): boolean {
  const column = (width * item) % level.n;
  return column >= columns.from && column < columns.to;
}
