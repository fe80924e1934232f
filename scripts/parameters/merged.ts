/**
 * Rows of one proof over many parts (docs/merged.md, whose sections are named by "m."): what they
 * are, everything that the argument needs of them, and what it counts.
 */
import {
  lengthsBehind,
  type MergedRow,
  type OrdinaryLevel,
  type Parameters,
  readMergedRow,
  readRow,
  type TableRow,
} from '../../src/aggregate/parameters/rows.ts';
import { type Commitment, commitmentsOf } from './binding.ts';
import {
  checkBinding,
  checkChain,
  checkCodes,
  checkDigits,
  checkExact,
  checkForm,
  checkRounds,
  checkTail,
} from './check.ts';
import { checkHidden } from './checkHidden.ts';
import { checkProjections, type Fail } from './checkProjections.ts';
import { checkRanges, onPlacesOfPart } from './checkRanges.ts';
import { ACCEPTED, PAIRS } from './constants.ts';
import { errorBits, type Round, rounds } from './errors.ts';

const tableRowOf = ([[set, bucket, zero], , levels]: MergedRow): TableRow => {
  return [set, bucket, [zero, ...levels]];
};

/** The row as the levels of a section. */
export interface Merged {
  /** bounds of level 1 over everything: what commitments of level 1 and above must withstand */
  readonly whole: Parameters;
  /** bounds of one part, whose block is all of level 1: its commitments, and projections */
  readonly block: Parameters;
}

/** Reads a merged row and derives its shapes (m. 1.1). */
export function readMerged(row: MergedRow): Merged {
  const [[, , , [inP, , xP, tXP]], most] = row;
  const read = readMergedRow(row, most);
  const [zero, one, ...rest] = read.levels as [OrdinaryLevel, OrdinaryLevel];
  const all = { ...one, inSq: most * inP };
  const own = { ...one, lengths: lengthsBehind(zero) };
  return {
    whole: { ...read, levels: [zero, all, ...rest] },
    block: { ...read, levels: [{ ...zero, xSq: xP, codeX: tXP }, own, ...rest] },
  };
}

/** Pairs of rank and norm: those of level 0 depend on the part row alone (m. 2). */
export function mergedCommitments({ whole, block }: Merged): Commitment[] {
  const ofPart = commitmentsOf(block).filter(({ level }) => level === 0);
  return [...ofPart, ...commitmentsOf(whole).filter(({ level }) => level > 0)];
}

/** The errors of all rounds of that many parts, and of the common ones (m. 4). */
export function mergedError({ whole }: Merged, parts: number): bigint {
  // several coefficients share what they multiply at level 1 (m. 2, Lemma 11)
  const times = ({ level, term }: Round): number => {
    if (level === 0) return parts;
    return level > 1 ? 1 : term === 'lift' ? 4 : term === 'combine' ? 2 : 1;
  };
  return rounds(whole).reduce((sum, round) => sum + BigInt(times(round)) * round.error, 0n);
}

/** K, and all runs for each query of a prover (m. 3.2), of rows that are in use together. */
export function mergedRuns(rows: readonly MergedRow[]): { extractor: number; all: number } {
  let extractor = 0;
  let sums = 0;
  for (const row of rows) {
    const { levels, tail } = readMerged(row).whole;
    let product = 1;
    let sum = 0;
    for (const { r } of [...levels.slice(1), tail].reverse()) sum += product *= r + 1;
    extractor = Math.max(extractor, product * (levels[0]!.r + 1));
    sums = Math.max(sums, sum);
  }
  const most = Math.max(...rows.map((row) => row[1]));
  return { extractor, all: 7 * most * extractor + 4 * sums };
}

/** The probability that a projection passes whose bound is so many times the squared norm. */
function passes(room: number): number {
  // squares of 2 PAIRS normal variables: fewer than PAIRS events of a Poisson process
  const mean = (ACCEPTED / 2) * room;
  let term = Math.exp(-mean);
  let beyond = 0;
  for (let k = 0; k < PAIRS; k++, term *= mean / k) beyond += term;
  return 1 - beyond;
}

/** How often a counter passes for all blocks, if every part is as long as it may be (m. 1.3). */
export function counterPasses(row: MergedRow): number {
  const { whole, block } = readMerged(row);
  const [zero, one] = [whole.levels[0]!, block.levels[1]!];
  const ofX = zero.w === 0 ? 1 : passes(block.levels[0]!.xSq / zero.xSq);
  return (passes(one.inSq / zero.outSq) * ofX) ** row[1];
}

const LEAST_PASSES = 0.35;
/** Every index: the squares of values are exact doubles. */
const MOST_CODE = 143;
/** claimedBits is at least this. */
const LEAST_BITS = 126;

/** @returns what is wrong with a merged row; nothing when it may be used */
export function checkMerged(row: MergedRow): string[] {
  const wrong: string[] = [];
  const fail: Fail = (text, section) => {
    wrong.push(`${row[1]} parts: ${text} (${section})`);
  };
  checkForm(tableRowOf(row), fail);
  const isCount = (x: number): boolean => Number.isSafeInteger(x) && x >= 0;
  if (row[0][3].length !== 4 || !row[0][3].every(isCount)) fail('bounds of a part', 'm. 1.1');
  if (!(isCount(row[1]) && row[1] >= 1)) fail('number of parts', 'm. 1.1');
  if (wrong.length === 0) checkLevels(row, fail);
  return wrong;
}

function checkLevels(row: MergedRow, fail: Fail): void {
  const [[, , , [inP, , xP, tXP]], most] = row;
  const merged = readMerged(row);
  const { whole, block } = merged;
  const [zero, one, ...rest] = whole.levels as [OrdinaryLevel, OrdinaryLevel];
  for (const [index, level] of whole.levels.entries()) {
    checkDigits(level, index, fail);
    checkHidden(level, index, fail);
  }
  if (inP < zero.outSq || inP >= 2 ** 43) fail('inP', 'm. 1.1');
  if (xP < zero.xSq || xP >= 2 ** 43 || (zero.w === 0 && xP + tXP > 0)) fail('XP', 'm. 1.1');
  const { inSq, codeY, ct } = readRow(tableRowOf(row)).levels[1]!;
  if (inSq + codeY + ct > 0) fail('level 1: inSq, tY or ct', 'm. 1.1');
  const codes = [tXP, whole.tail.codeY, ...whole.levels.map(({ codeY }) => codeY)];
  if (codes.some((code) => code > MOST_CODE)) fail('an index', 'm. 1.1');
  if (counterPasses(row) < LEAST_PASSES) fail('no room for all blocks', 'm. 1.3');
  checkProjections(block, fail);
  // level 1 as after one part
  const after = { ...one, inSq: zero.outSq };
  checkChain({ ...whole, levels: [zero, after, ...rest] }, fail);
  checkTail(whole, fail);
  checkCodes(whole, fail);
  checkRanges(whole, fail, onPlacesOfPart);
  checkExact(whole, fail);
  checkBinding(mergedCommitments(merged), fail);
  checkRounds(whole, fail);
  if (errorBits(mergedError(merged, most)) < LEAST_BITS) fail('the sum of errors', 'm. 4');
}
