/** What `--check` prints of a table that holds: sizes, strengths and errors. */

import { type Parameters, readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { commitmentsOf, quartersOf, weakest } from './binding.ts';
import { BUCKETS, bucketOf } from './buckets.ts';
import { checkRow } from './check.ts';
import {
  D,
  FIRST_LIFTS,
  FUNCTIONALS,
  JL_VALUES,
  LIFTS,
  LOG2_Q,
  SUM_BITS,
  SUMS,
} from './constants.ts';
import { errorBits, errorTerms, TERMS, type Term, totalError, worstRound } from './errors.ts';
import { largestOf } from './fixedPoint.ts';
import { expectedBits } from './gaussianCode.ts';
import { blockSize, limitSq } from './limits.ts';
import { measured } from './refine.ts';
import { messagesOf, readShorter, type ShorterParameters } from './shorter.ts';

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
  `${(CLASSICAL * size).toFixed(2)} classical, ${(QUANTUM * size).toFixed(2)} quantum`;

const rowAt = (table: readonly TableRow[], set: number, count: number): TableRow =>
  table.find((row) => row[0] === set && row[1] === bucketOf(count))!;

/** The row of a set with the largest error. */
function worstOf(all: readonly Parameters[], set: 512 | 1024): Parameters {
  const own = all.filter((one) => one.set === set);
  return own.reduce((a, b) => (totalError(b) > totalError(a) ? b : a));
}

/** The weakest commitment, and the largest errors, of all rows. */
export function summary(table: readonly TableRow[]): string[] {
  const all = table.map((row) => readRow(row));
  const sizes = all.map((parameters) => ({ parameters, ...weakest(parameters) }));
  const { parameters, commitment, size } = sizes.reduce((a, b) => (b.size < a.size ? b : a));
  const count = all.reduce((sum, one) => sum + commitmentsOf(one).length, 0);
  const [first, second] = [worstOf(all, 512), worstOf(all, 1024)];
  const mixed = totalError(first) + totalError(second);
  const most = (row: Parameters) => `2^-${errorBits(totalError(row))} of ${row.set}:${row.bucket}`;
  return [
    `weakest of ${count} commitments: ${strengths(size)} bits (block size ${size.toFixed(2)}; ` +
      `${parameters.set}:${parameters.bucket}, level ${commitment.level}, ${commitment.name})`,
    `largest error: ${most(first)}, ${most(second)}, 2^-${errorBits(mixed)} of both in a mixed ` +
      `batch, 2^-${errorBits(largestOf(all.map(worstRound)))} of a round`,
  ];
}

/** log2 of the runs that the extractor makes: 2^(2 + 3 levels) times all 2r + 2 (3.5). */
function log2Leaves({ levels, tail }: Parameters): number {
  const all = [...levels, tail];
  return all.reduce((sum, { r }) => sum + Math.log2(2 * r + 2), 2 + 3 * all.length);
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

/** What shows the error of each kind of round (docs/soundness.md, 4). */
const PROOFS: Readonly<Record<Term, string>> = {
  alpha: 'proved',
  rho: 'proved',
  bits: 'proved, with intervals',
  lift: 'proved',
  combine: 'proved',
  c: 'proved, |C| certified',
};

/** Errors by the kind of round: their sum and the largest, with a list of all rows after it. */
function errorsOf(parameters: Parameters): string[] {
  const lines = [...errorTerms(parameters)].map(([term, { sum, most }]) => {
    const bits = cells([`2^-${errorBits(sum)}`, `2^-${errorBits(most)}`], 12);
    return `  ${term.padEnd(9)}${PROOFS[term].padEnd(24)}${bits}`;
  });
  const sum = cells([`2^-${errorBits(totalError(parameters))}`], 12);
  const levels = parameters.levels.length + 1;
  return [
    `  ${'error'.padEnd(33)}      in all  of a round`,
    ...lines,
    `  ${'sum'.padEnd(33)}${sum}`,
    `  ${levels} levels; the extractor makes 2^${log2Leaves(parameters).toFixed(2)} runs`,
  ];
}

/** Every error of every row, in bits, and the weakest commitment. */
function everyRow(table: readonly TableRow[]): string[] {
  const proofs = TERMS.map((term) => `${term} ${PROOFS[term]}`).join('; ');
  const lines = table.map((row) => {
    const parameters = readRow(row);
    const terms = errorTerms(parameters);
    const errors = TERMS.map((term) => errorBits(terms.get(term)!.sum).toFixed(2));
    const all = errorBits(totalError(parameters)).toFixed(2);
    const runs = log2Leaves(parameters).toFixed(2);
    const bits = (CLASSICAL * weakest(parameters).size).toFixed(2);
    return cells([row[0], row[1], ...errors, all, runs, bits]);
  });
  return [
    '\nEvery row: -log2 of each error, summed over its levels; log2 of the runs of the extractor;',
    'bits of the weakest commitment.',
    `${proofs}.`,
    cells(['set', 'bucket', ...TERMS, 'sum', 'runs', 'bits']),
    ...lines,
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
  return [...lines, ...everyRow(table)];
}

const inBytes = (bits: number): number => Math.ceil(bits / 8);
const blockBytes = (inSq: number): number =>
  (JL_VALUES * expectedBits(inSq / 4) + SUMS * SUM_BITS) / 8;

/** Bytes of a section by what they are: those of g, z and e are what is left of the model's. */
function partsOf({ levels, tail }: ShorterParameters, bytes: number) {
  let messages = 0;
  let hiddenY = 0;
  for (const [index, { w, quarters, hiddenSq, kappa1, cut }] of levels.entries()) {
    const isFirst = index === 0;
    const all = messagesOf(isFirst, kappa1, cut);
    if (w === 0) {
      const outer = (isFirst ? 3 : 2) * kappa1 * D * (LOG2_Q - cut);
      const lifts = isFirst ? FIRST_LIFTS * (D - 1) : LIFTS * (D - 2);
      messages += outer / 8 + inBytes(lifts * LOG2_Q);
    } else {
      messages += (all.length * (D / 4) * quarters * LOG2_Q) / 8;
      messages += isFirst ? inBytes(FIRST_LIFTS * LOG2_Q) : 0;
      hiddenY += blockBytes(hiddenSq);
    }
  }
  const last = inBytes(LIFTS * (D - 2) * LOG2_Q);
  const y = [...levels, tail].reduce((sum, { inSq }) => sum + blockBytes(inSq), 0);
  const t = ((tail.r - 1) * tail.kappa * D * (LOG2_Q - tail.cut)) / 8;
  const h = ((tail.pairs - 2) * D * LOG2_Q) / 8;
  const bytesAndSeals = 2 * (levels.length + 1) + 64 + 4 * FUNCTIONALS;
  const known = messages + last + y + hiddenY + t + h + bytesAndSeals;
  return { messages, y, y_x: hiddenY, 'b of the tail': last, t, h, 'g, z, e': bytes - known };
}

/** Rows with shorter commitments beside those of the table (docs/decisions/0058). */
export function shorterReport(rows: readonly TableRow[], table: readonly TableRow[]): string[] {
  return rows.flatMap((row) => {
    const [set, bucket] = row;
    const before = rowAt(table, set, bucket);
    const all = [before, row].map((one) => {
      const parameters = readShorter(one);
      const { bytes, cost } = measured(one);
      return { parameters, bytes, cost, parts: Object.entries(partsOf(parameters, bytes)) };
    });
    const [old, found] = all as [(typeof all)[0], (typeof all)[0]];
    const quarters = quartersOf(found.parameters).map(({ level, quarters, normSq }) => {
      const bits = CLASSICAL * blockSize(normSq, quarters, D / 4);
      return `level ${level} ${quarters} rows ${bits.toFixed(1)}`;
    });
    const errors = [...errorTerms(found.parameters)].map(([term, { sum }]) => {
      return `${term} 2^-${errorBits(sum)}`;
    });
    const bits = (CLASSICAL * weakest(found.parameters).size).toFixed(2);
    return [
      `\n${set}:${bucket}: ${old.bytes} -> ${found.bytes} bytes ` +
        `(with its time ${old.cost.toFixed(0)} -> ${found.cost.toFixed(0)})`,
      ...checkRow(row).map((line) => `WRONG  ${line}`),
      ...found.parts.map(([name, now], i) => {
        return `  ${name.padEnd(14)}${cells([old.parts[i]![1].toFixed(0), now.toFixed(0)])}`;
      }),
      `  weakest commitment ${bits} bits; quarters: ${quarters.join(', ')}`,
      `  ${errors.join(', ')}; sum 2^-${errorBits(totalError(found.parameters))}; ` +
        `2^${log2Leaves(found.parameters).toFixed(2)} runs`,
      ...row[2].map((level) => `  ${JSON.stringify(level)}`),
    ];
  });
}
