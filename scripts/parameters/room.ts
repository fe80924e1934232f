/**
 * Ranks are whole numbers, so that most of them withstand larger norms than a chain needs. What is
 * left over is given to the bounds of outputs: it costs no bytes, and honest levels fail less
 * often.
 */
import { type LevelRow, readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { bindingNorms, checkRow, limitSq } from './check.ts';

/** Bounds grow to at most this much of what the search gave them: level 0, others, the tail. */
const MOST = { first: 1.06, other: 1.04, tail: 1.25 } as const;
const BOUNDS = { ordinary: { inSq: 10, outSq: 11 }, tail: { inSq: 3, outSq: 4 } } as const;

/**
 * The row with the bound of one output times a factor, and the projection after it held to that.
 */
function raised([set, bucket, levels]: TableRow, index: number, factor: number): TableRow {
  const rows = levels.map((level) => [...level]);
  const last = levels.length - 1;
  const at = index === last ? BOUNDS.tail.outSq : BOUNDS.ordinary.outSq;
  const before = rows[index]![at] as number;
  const more = Math.ceil(before * factor) - before;
  rows[index]![at] = before + more;
  if (index < last) {
    const next = index + 1 === last ? BOUNDS.tail.inSq : BOUNDS.ordinary.inSq;
    rows[index + 1]![next] = (rows[index + 1]![next] as number) + more;
  }
  return [set, bucket, rows as LevelRow[]];
}

/** Whether the ranks withstand the norms, by a thousandth at least. */
function fits(row: TableRow): boolean {
  const parameters = readRow(row);
  return [...parameters.levels, parameters.tail].every((level, index) => {
    const { inner, outer } = bindingNorms(parameters, index);
    const below = (normSq: bigint, rank: number) => 1001n * normSq < 1000n * limitSq(rank);
    return inner.every((x) => below(x, level.kappa)) && (level.tail || below(outer, level.kappa1));
  });
}

/**
 * @returns the row with bounds as large as its ranks allow: level 0 first, since its retry is the
 * dearest, then the tail
 */
export function withRoom(row: TableRow): TableRow {
  const last = row[2].length - 1;
  const order = [0, last, ...Array.from({ length: Math.max(0, last - 1) }, (_, i) => last - 1 - i)];
  let best = row;
  for (const index of order) {
    const most = index === 0 ? MOST.first : index === last ? MOST.tail : MOST.other;
    let low = 1;
    let high: number = most;
    if (fits(raised(best, index, high))) low = high;
    for (let i = 0; i < 6 && low < high; i++) {
      const middle = (low + high) / 2;
      if (fits(raised(best, index, middle))) low = middle;
      else high = middle;
    }
    if (low > 1) best = raised(best, index, low);
  }
  return checkRow(best).length === 0 ? best : row;
}
