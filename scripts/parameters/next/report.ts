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

const log2Norm = (normSq: bigint): number => Math.log2(Number(normSq)) / 2;
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
      `2^-${errorBits(mixed)} of a mixed batch, 2^-${errorBits(largestOf(all.map(worstRound)))} of a round`,
  ];
}

function sizesOf(table: readonly TableRow[], set: 512 | 1024): string[] {
  const bytesAt = (count: number): number => measured(rowAt(table, set, count)).bytes;
  const lines = SHOWN.map((count) => {
    const parameters = readRow(rowAt(table, set, count));
    const bytes = bytesAt(count);
    const bundle = (BUNDLE[set] + 40) * count;
    const levels = parameters.levels.length + 1;
    const figures = [count, bucketOf(count), bytes, bytes + 40 * count, bundle, levels];
    return `${cells(figures)}   ${(CLASSICAL * weakest(parameters).size).toFixed(1)}`;
  });
  let count = 1;
  while (bytesAt(count) >= BUNDLE[set] * count) count++;
  return [
    `\nFalcon-${set}: items, bucket, estimated bytes of a section, with salts, bundle; levels; bits`,
    ...lines,
    `smallest count at which the proof is smaller than the bundle: ${count}`,
  ];
}

function normsOf(parameters: Parameters): string[] {
  const lines = ['    level  r  n  kappa   norm, strength of every commitment'];
  for (const [index, level] of [...parameters.levels, parameters.tail].entries()) {
    const norms = commitmentsOf(parameters)
      .filter((one) => one.level === index)
      .map(({ name, kappa, normSq }) => {
        const bits = (CLASSICAL * blockSize(normSq, kappa)).toFixed(1);
        const limit = log2Norm(limitSq(kappa)).toFixed(2);
        return `${name} (${kappa}) ${log2Norm(normSq).toFixed(2)} of ${limit}: ${bits}`;
      });
    lines.push(`    ${index} r ${level.r} n ${level.n}: ${norms.join('; ')}`);
  }
  return lines;
}

/** Sizes of a few counts, and of the largest row norms and errors. */
export function report(table: readonly TableRow[]): string[] {
  const lines: string[] = [];
  for (const set of [512, 1024] as const) {
    lines.push(...sizesOf(table, set));
    const largest = readRow(rowAt(table, set, BUCKETS.at(-1)!));
    for (const [term, { sum, most: one }] of errorTerms(largest)) {
      lines.push(
        `  error, ${term.padEnd(12)} proved   2^-${errorBits(sum)} in all, 2^-${errorBits(one)} of a round`,
      );
    }
    lines.push(`  error, sum          proved   2^-${errorBits(totalError(largest))}`);
    lines.push(...normsOf(largest));
    for (const level of [...largest.levels, largest.tail]) lines.push(`  ${JSON.stringify(level)}`);
  }
  lines.push('\nerror of every row, in bits:');
  for (const set of [512, 1024]) {
    const bits = table
      .filter((row) => row[0] === set)
      .map((row) => `${row[1]}: ${errorBits(totalError(readRow(row)))}`);
    lines.push(`  Falcon-${set}  ${bits.join(', ')}`);
  }
  return lines;
}
