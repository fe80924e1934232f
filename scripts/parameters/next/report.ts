/** What `--check` prints of a table that holds: sizes, strengths and errors. */
import { BUCKETS, bucketOf } from '../buckets.ts';
import { largestOf } from '../fixedPoint.ts';
import { commitmentsOf, weakest } from './binding.ts';
import { errorBits, errorTerms, totalError, worstRound } from './errors.ts';
import { blockSize, limitSq } from './limits.ts';
import { measured } from './refine.ts';
import { type Parameters, readRow, type TableRow } from './rows.ts';

/** bytes of an item in a bundle without its salt: mean of the coded s2 */
const BUNDLE = { 512: 603, 1024: 1206 } as const;
const SHOWN = [1, 2, 10, 16, 50, 100, 128, 200, 500, 512, 1000, 1024, 1722];
/** Bits of a lattice reduction by its block size. */
const CLASSICAL = 0.292;
const QUANTUM = 0.257;

const log2Norm = (normSq: bigint): string => (Math.log2(Number(normSq)) / 2).toFixed(2);
const cells = (values: readonly (number | string)[], width = 9): string =>
  values.map((value) => String(value).padStart(width)).join('');
const strengths = (size: number): string =>
  `${(CLASSICAL * size).toFixed(1)} classical, ${(QUANTUM * size).toFixed(1)} quantum`;

const rowAt = (table: readonly TableRow[], set: number, count: number): TableRow =>
  table.find((row) => row[0] === set && row[1] === bucketOf(count))!;

/** The weakest commitment, and the largest errors, of all rows. */
export function summary(table: readonly TableRow[]): string[] {
  const all = table.map((row) => readRow(row));
  const sizes = all.map((parameters) => ({ parameters, ...weakest(parameters) }));
  const { parameters, commitment, size } = sizes.reduce((a, b) => (b.size < a.size ? b : a));
  const errorOf = (set: number) =>
    largestOf(all.filter((one) => one.set === set).map((one) => totalError(one)));
  const mixed = errorOf(512) + errorOf(1024);
  return [
    `weakest commitment: ${strengths(size)} bits (block size ${size.toFixed(2)}; ` +
      `${parameters.set}:${parameters.bucket}, level ${commitment.level}, ${commitment.name})`,
    `largest error: 2^-${errorBits(largestOf(all.map(totalError)))} of a row, ` +
      `2^-${errorBits(mixed)} of a mixed batch, ` +
      `2^-${errorBits(largestOf(all.map(worstRound)))} of a round`,
  ];
}

function sizesOf(table: readonly TableRow[], set: 512 | 1024): string[] {
  const bytesAt = (count: number): number => measured(rowAt(table, set, count)).bytes;
  const lines = SHOWN.map((count) => {
    const parameters = readRow(rowAt(table, set, count));
    const bytes = bytesAt(count);
    const bundle = (BUNDLE[set] + 40) * count;
    const levels = parameters.levels.length + 1;
    const bits = (CLASSICAL * weakest(parameters).size).toFixed(1);
    return cells([count, bucketOf(count), bytes, bytes + 40 * count, bundle, levels, bits]);
  });
  let count = 1;
  while (bytesAt(count) >= BUNDLE[set] * count) count++;
  return [
    `\nFalcon-${set}`,
    cells(['items', 'bucket', 'bytes', 'salts', 'bundle', 'levels', 'bits']),
    ...lines,
    `smallest count at which the proof is smaller than the bundle: ${count}`,
  ];
}

/** Every level of a row: its ranks, what they must withstand and what they do. */
function normsOf(parameters: Parameters): string[] {
  const inner = ['level', 'r', 'n', 'kappa', 'first', 'second', 'limit'];
  const lines = [cells([...inner, 'kappa1', 'outer', 'limit', 'bits'])];
  const all = commitmentsOf(parameters);
  for (const [index, level] of [...parameters.levels, parameters.tail].entries()) {
    const own = all.filter((one) => one.level === index);
    const [first, second, outer] = own.map(({ normSq }) => log2Norm(normSq));
    const limit = (kappa: number): string => log2Norm(limitSq(kappa));
    const bits = own.map(({ normSq, kappa }) => CLASSICAL * blockSize(normSq, kappa));
    const outers = level.tail ? ['', '', ''] : [level.kappa1, outer!, limit(level.kappa1)];
    const inners = [level.kappa, first!, second!, limit(level.kappa)];
    const name = level.tail ? 'tail' : index;
    const least = Math.min(...bits).toFixed(1);
    lines.push(cells([name, level.r, level.n, ...inners, ...outers, least]));
  }
  return lines;
}

function errorsOf(parameters: Parameters): string[] {
  const lines = [...errorTerms(parameters)].map(([term, { sum, most }]) => {
    const bits = cells([`2^-${errorBits(sum)}`, `2^-${errorBits(most)}`], 12);
    return `  ${term.padEnd(13)} proved ${bits}`;
  });
  return [
    '  error                    in all  of a round',
    ...lines,
    `  ${'sum'.padEnd(13)} proved ${cells([`2^-${errorBits(totalError(parameters))}`], 12)}`,
  ];
}

/** Sizes of a few counts; of the largest row the norms, errors and shapes; errors of all rows. */
export function report(table: readonly TableRow[]): string[] {
  const lines: string[] = [];
  for (const set of [512, 1024] as const) {
    const largest = readRow(rowAt(table, set, BUCKETS.at(-1)!));
    lines.push(...sizesOf(table, set), '', ...normsOf(largest), '', ...errorsOf(largest), '');
    for (const level of [...largest.levels, largest.tail]) lines.push(JSON.stringify(level));
  }
  lines.push('\nerror of every row, in bits, and its weakest commitment:');
  for (const row of table) {
    const parameters = readRow(row);
    const bits = (CLASSICAL * weakest(parameters).size).toFixed(1);
    lines.push(cells([row[0], row[1], errorBits(totalError(parameters)), bits]));
  }
  return lines;
}
