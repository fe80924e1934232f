/**
 * Everything that the proof needs of a row of the table, recomputed with integers from the row
 * alone. Each failure is one line of text with the section of docs/soundness.md (or
 * docs/protocol.md, "p.") that needs the inequality.
 */

import type { Parameters, TableRow, TailLevel } from '../../src/aggregate/parameters/rows.ts';
import { commitmentsOf, quartersOf, quartersWithstand, withSlack, withstands } from './binding.ts';
import {
  ACCEPTED,
  ALPHA_L1,
  ALPHA_MAGNITUDES,
  ALPHA_SQ,
  BETA_SQ,
  C_L1,
  D,
  E_BITS,
  FIRST_LIFTS,
  FOLD_MAGNITUDES,
  GAMMA_SQ,
  LIFTS,
  OUTSIDE,
  P,
  Q,
  SHORT_L1,
  T_SQ,
  TAU,
  Z_BITS,
} from './constants.ts';
import { errorBits, MOST_ERROR, totalError, worstRound } from './errors.ts';
import { largestOf, squareRoot, squareRootUp } from './fixedPoint.ts';
import { LOG2_REACH, MAX_INDEX, shiftOf } from './gaussianCode.ts';
import { projectionError } from './projectionTail.ts';
import { readShorter, type ShorterLevel, type ShorterParameters } from './shorter.ts';

/** the six primes of the number-theoretic transform, each 1 mod 128 */
const PRIMES = [13697n, 13441n, 13313n, 12289n, 12161n, 11777n];
const HALF_PRODUCT = PRIMES.reduce((a, b) => a * b) / 2n;
const HALF = (Q - 1n) / 2n;
/** the largest integer below which all are exact doubles */
const EXACT = 1n << 53n;

/** What the error of every round, and of a projection, is below at least, in bits (3.7). */
const ROUND_BITS = 131.99;
const PROJECTION_BITS = 134.1;
/** Most rows of a level: (2r+4)/|C| is below 2^-ROUND_BITS. */
const MOST_ROWS = 76;

type Fail = (text: string, section: string) => void;
type Level = ShorterLevel | TailLevel;

const levelsOf = ({ levels, tail }: ShorterParameters): readonly Level[] => [...levels, tail];
/** |x| of a value that has a code is at most this. */
const reachOf = (code: number): bigint => 1n << BigInt(shiftOf(code) + LOG2_REACH);
const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

function checkBinding(parameters: ShorterParameters, fail: Fail): void {
  for (const commitment of commitmentsOf(parameters)) {
    const { level, name } = commitment;
    if (!withstands(commitment)) fail(`level ${level}: ${name}`, '2');
  }
  for (const { level, quarters, normSq } of quartersOf(parameters)) {
    if (!quartersWithstand(quarters, normSq)) fail(`level ${level}: quarters`, '0058, 2');
  }
}

/** Shorter commitments (docs/decisions/0058, 5). */
function checkShorter(level: ShorterLevel, index: number, fail: Fail): void {
  const { w, quarters, hiddenSq, codeX, cutT, hidden } = level;
  if (w === 0 ? quarters + hiddenSq + codeX > 0 : w < 2 || w > 6) {
    fail(`level ${index}: digits of messages`, '0058, 1');
  }
  if (cutT !== 0 && (cutT < 4 || cutT > 15 || index === 0)) fail(`level ${index}: ct`, '0058, 5');
  if (w === 0) return;
  if (codeX > MAX_INDEX) fail('an unknown code', 'p. 11');
  checkBlock({ coefficients: D * hidden, inSq: hiddenSq, code: codeX }, `level ${index}: x`, fail);
}

function checkDigits(level: ShorterLevel, index: number, fail: Fail): void {
  const { f, b, fu, bu, fg, bg, cut, m, outSq } = level;
  if (f < 1 || f > 3 || b < 2 || b > 13) fail(`level ${index}: digits of z`, 'p. 6.3');
  // the top digit keeps the remainder of 44 bits
  if (fu * bu < 44 || bu > 14 || (fu - 1) * bu >= 44) {
    fail(`level ${index}: digits of t`, 'p. 6.2');
  }
  // powers of the base stay below q
  if (fg < 1 || bg < 2 || bg > 13 || (fg - 1) * bg >= 44) {
    fail(`level ${index}: digits of g`, 'p. 6.2');
  }
  if (cut !== 0 && (cut < 4 || cut > 15)) fail(`level ${index}: cut`, '5.7');
  if (m < 1 || outSq >= 2 ** 43) fail(`level ${index}: output`, 'p. 11.1');
}

/** What a level puts out is what the next one projects: no slack lost, none borrowed. */
function checkChain(parameters: ShorterParameters, fail: Fail): void {
  const { set, bucket, levels, tail } = parameters;
  if (levels.length < 1) fail('no level before the tail', '3');
  for (const [index, { inSq, cutT }] of levels.entries()) {
    const expected = index === 0 ? bucket * BETA_SQ[set] : levels[index - 1]!.outSq;
    // the errors of cut inner commitments are in the projection too
    if (cutT === 0 ? inSq !== expected : !(inSq >= expected)) {
      fail(`level ${index}: inSq is not the bound before`, '3');
    }
  }
  if (!(tail.inSq >= levels.at(-1)!.outSq)) fail('tail: inSq is below the bound before', '5.7');
  for (const [index, { inSq }] of levelsOf(parameters).entries()) {
    if (inSq >= 2 ** 43) fail(`level ${index}: inSq`, 'p. 11.1');
  }
}

function checkTail({ levels, tail }: Parameters, fail: Fail): void {
  if (tail.r < 2) fail('tail: fewer than two rows', 'p. 9');
  // a_(last,last) = 0 and the sealed t_last need it: rows of v stand last, and v is never empty
  if (tail.lengths.length !== levels.at(-1)!.f + 1 || !(tail.rows.at(-1)! >= 1)) {
    fail('tail: the last row is not a row of v', '5.8');
  }
  if (tail.cut < 4 || tail.cut > 15) fail('tail: cut', '5.7');
}

/** What the coder holds, and that sums of squares are exact (p. 11). */
function checkCodes({ levels, tail }: Parameters, fail: Fail): void {
  const { codesZ, codesG, codeE, n, kappa } = tail;
  const codes = [...levels.map(({ codeY }) => codeY), tail.codeY, codeE, ...codesG];
  codes.push(...codesZ.map(({ code }) => code));
  if (codes.some((code) => code > MAX_INDEX)) fail('an unknown code', 'p. 11');
  if (codesG.length !== tail.pairs - 1) fail('tail: tables of g', 'p. 11');
  const columns = codesZ.map((run) => run.columns);
  if (total(columns) !== n || columns.some((count) => count < 1)) {
    fail('tail: columns of z', 'p. 11');
  }
  // z is used as 16-bit integers, e as integers of 21 bits
  if (codesZ.some(({ code }) => reachOf(code) > 1n << BigInt(Z_BITS)))
    fail('tail: range of z', 'p. 11.1');
  if (reachOf(codeE) > 1n << BigInt(E_BITS)) fail('tail: range of e', 'p. 11.1');
  // every g that has a code is centred
  if (codesG.some((code) => reachOf(code) > HALF)) fail('tail: range of g', 'p. 11');
  const zSq = codesZ.reduce((sum, run) => sum + BigInt(run.columns) * reachOf(run.code) ** 2n, 0n);
  if (BigInt(D) * (zSq + BigInt(kappa) * reachOf(codeE) ** 2n) >= EXACT) {
    fail('tail: the sum of squares is no exact double', 'p. 11.1');
  }
}

/** The projection: what its lemma asks of a row, and what the code of y holds (5.6). */
function checkProjection(level: Level, index: number, fail: Fail): void {
  const hasErrors = level.tail || level.cutT > 0;
  const lengths =
    index === 0
      ? level.lengths[0]!
      : total(level.lengths) + (hasErrors ? level.r * level.kappa : 0);
  const { inSq, codeY } = level;
  checkBlock({ coefficients: D * lengths, inSq, code: codeY }, `level ${index}`, fail);
}

interface Block {
  readonly coefficients: number;
  readonly inSq: number;
  readonly code: number;
}

function checkBlock(block: Block, name: string, fail: Fail): void {
  const inSq = BigInt(block.inSq);
  const accepted = BigInt(ACCEPTED) * inSq;
  const coefficients = BigInt(block.coefficients);
  // l: fewer than OUTSIDE values of 2 PAIRS are beyond it; L: none is
  const outside = BigInt(OUTSIDE);
  const inside = squareRootUp((accepted + outside - 1n) / outside);
  const largest = squareRootUp(accepted);
  const reach = reachOf(block.code);
  const sums = 1n << 32n;
  // no coefficient beyond l: sums of coefficients stay below q/2 with room for U and V, and
  // congruences are equalities
  if (2n * coefficients * inside + sums >= Q) fail(`${name}: projections can wrap`, '5.6 (b)');
  // a coefficient beyond l: what lies within l, or L, of 0 mod q is no larger as an integer
  if (2n * (largest + inside) >= Q) fail(`${name}: a large coefficient`, '5.6 (a)');
  // |U|, |V| of honest rows, by Cauchy and Schwarz over half of the coefficients
  if ((coefficients / 2n) * inSq >= 1n << 62n) {
    fail(`${name}: the sums do not fit 32 bits`, 'p. 11.1');
  }
  if (reach * reach < 20n * inSq) fail(`${name}: y does not fit its code`, '8');
  // a sum of squares that stays within the bound is exact, and one that leaves it never returns
  if (accepted + (2n * reach + 1n) ** 2n >= EXACT) fail(`${name}: sum of x^2`, 'p. 11.1');
}

/** Largest sums before a reduction modulo q stay below half the product of the primes. */
function checkRange({ set, bucket, levels, tail }: Parameters, fail: Fail): void {
  for (const [index, { n }] of [...levels, tail].entries()) {
    // |alpha sigma(s)| <= |alpha| |s| at level 0, 16 bits with sign elsewhere
    const largest =
      index === 0 ? squareRoot(BigInt(ALPHA_SQ) * BigInt(BETA_SQ[set])) + 1n : 1n << 15n;
    // A s, and h with phi reduced: two products
    if (2n * BigInt(D * n) * HALF * largest >= HALF_PRODUCT) {
      fail(`level ${index}: range of A s`, 'kernels');
    }
  }
  const [ofS, ofW] = levels[0]!.lengths as [number, number, number];
  const betaSq = BigInt(BETA_SQ[set]);
  const count = BigInt(bucket);
  // b^(k): |F| |s|_1, |s|_1 by Cauchy and Schwarz
  const l1 = squareRootUp(BigInt(D * ofS) * count * betaSq);
  const w = BigInt(D * ofW) * (1n << 13n);
  if (HALF * (l1 + w) >= HALF_PRODUCT) fail('level 0: range of lifts', 'kernels');
  // links: beta_k sigma(eta alpha) of an item, and eta U of 32 items, |U|_1 <= |tau|_1 |alpha|_1
  // |S_i|_1
  const short = BigInt(SHORT_L1);
  const alpha = BigInt(ALPHA_L1);
  if (BigInt(FIRST_LIFTS) * short * HALF * alpha >= HALF_PRODUCT) {
    fail('level 0: range of a link', 'kernels');
  }
  const item = squareRootUp((BigInt(D * ofS) * betaSq) / count);
  if (32n * HALF * short * alpha * item >= HALF_PRODUCT) fail('level 0: range of links', 'kernels');
}

/**
 * The sum of c_a phi_a over the rows of a level, before its reduction: what the level before
 * leaves, lifts, padding.
 */
function checkFolds(parameters: ShorterParameters, fail: Fail): void {
  const short = BigInt(SHORT_L1);
  const c = BigInt(C_L1);
  const top = (digits: number, bits: number): bigint => 1n << BigInt((digits - 1) * bits);
  for (const [index, level] of levelsOf(parameters).entries()) {
    // both halves of every lift, and at level 0 the links of S and Y; the challenge of padding or
    // of a cut
    let phi = short * HALF * BigInt(index === 0 ? 2 * FIRST_LIFTS + 1 : 2 * LIFTS) + short;
    const before = parameters.levels[index - 1];
    if (before !== undefined) {
      // A, or B, C, D, folded and not reduced; phi_z
      const keys = short * HALF * BigInt(Math.max(before.kappa, 2 * before.kappa1)) + HALF;
      const onZ = 2n * top(before.f, before.b) * keys;
      // products of two or three challenges, times the digit; a_ab reduced
      const onT = c * short * top(before.fu, before.bu);
      const onG = 2n * c * c * short * top(before.fg, before.bg) + short * HALF;
      // at x one of E1, E2 and E6, reduced
      phi += onZ + keys + onT * c + onG + (before.w > 0 ? short * HALF : 0n);
    }
    if (phi * c * BigInt(level.r) >= HALF_PRODUCT) fail(`level ${index}: range of phi`, 'kernels');
  }
}

/** Equalities mod q that have to be equalities of integers. */
function checkExact({ set, bucket }: Parameters, fail: Fail): void {
  const count = BigInt(bucket);
  const betaSq = BigInt(BETA_SQ[set]);
  // alpha sigma(S) stays below ||alpha||_1 sqrt(q) then (5.4)
  if (withSlack(count * betaSq) >= Q) fail('the exact norm can wrap', '5.1');
  // N' beta 6144 sqrt(2 n) < q/2, squared
  const functional = count * count * betaSq * 6144n * 6144n * 2n * BigInt(set);
  if (functional >= HALF * HALF) fail('the functionals can wrap', '5.3');
  if (count * BigInt(set) * 6144n * 6144n >= EXACT) fail('C_j is no exact double', 'p. 7.3');
}

/** The sum of all errors, and the largest of a round, which bounds the rows of a level. */
function checkErrors(parameters: ShorterParameters, fail: Fail): void {
  if (totalError(parameters) > MOST_ERROR) fail('the error exceeds 2^-128', '4');
  if (errorBits(worstRound(parameters)) < ROUND_BITS) fail('the error of a round', '3.7');
  for (const [index, { r }] of levelsOf(parameters).entries()) {
    if (r > MOST_ROWS) fail(`level ${index}: more than ${MOST_ROWS} rows`, '3.7');
  }
}

/** @returns what is wrong with a row; nothing when it may be used */
export function checkRow(row: TableRow): string[] {
  const wrong: string[] = [];
  const fail: Fail = (text, section) => {
    wrong.push(`${row[0]}, bucket ${row[1]}: ${text} (${section})`);
  };
  const numbers = row[2].flat(3);
  if (!numbers.every((x) => Number.isSafeInteger(x) && x >= 0)) {
    fail('not all integers', 'p. 3');
    return wrong;
  }
  const parameters = readShorter(row);
  for (const [index, level] of parameters.levels.entries()) {
    checkDigits(level, index, fail);
    checkShorter(level, index, fail);
  }
  for (const [index, level] of levelsOf(parameters).entries()) checkProjection(level, index, fail);
  checkChain(parameters, fail);
  checkTail(parameters, fail);
  checkCodes(parameters, fail);
  checkRange(parameters, fail);
  checkFolds(parameters, fail);
  checkExact(parameters, fail);
  checkBinding(parameters, fail);
  checkErrors(parameters, fail);
  return wrong;
}

/**
 * Two sections of one batch: their errors add up. @returns what is wrong with the worst pair of
 * rows
 */
export function checkMixed(table: readonly TableRow[]): string[] {
  const [first, second] = [512, 1024].map((set) => {
    const rows = table.filter((row) => row[0] === set);
    return largestOf(rows.map((row) => totalError(readShorter(row))));
  });
  const sum = first! + second!;
  return sum <= MOST_ERROR ? [] : [`a mixed batch: the error is 2^-${errorBits(sum)} (4)`];
}

/** What holds for all rows: the modulus, the challenges and the primes. */
export function checkConstants(): string[] {
  const wrong: string[] = [];
  // -1 is no square: Z_q[i] is a field; the order of q mod 128 is 32, hence two factors of X^64 + 1
  // (5.10)
  if (!isPrime(Q) || Q % 8n !== 3n) wrong.push('q');
  for (const prime of PRIMES) if (!isPrime(prime) || prime % 128n !== 1n) wrong.push(`${prime}`);
  // a polynomial of squared norm below q is a unit: twice a challenge's norm, 64 coefficients of at
  // most 7
  const differences = [4 * TAU, 4 * ALPHA_SQ, D * 49];
  if (differences.some((normSq) => BigInt(normSq) >= Q)) wrong.push('differences of challenges');
  const moment = (magnitudes: readonly number[], power: number): number =>
    total(magnitudes.map((count, i) => count * (i + 1) ** power));
  const norms = [
    [moment(FOLD_MAGNITUDES, 2), TAU],
    [moment(FOLD_MAGNITUDES, 1), C_L1],
    [moment(ALPHA_MAGNITUDES, 2), ALPHA_SQ],
    [moment(ALPHA_MAGNITUDES, 1), ALPHA_L1],
    [D * 4, SHORT_L1],
  ];
  if (norms.some(([found, named]) => found !== named)) wrong.push('norms of challenges');
  if (errorBits(projectionError()) < PROJECTION_BITS) wrong.push('the lemma of the projection');
  if (!testIsExact()) wrong.push('T^2: rounding of the test of the operator norm');
  if (P !== 12289n || GAMMA_SQ.denominator <= 0) wrong.push('p');
  return wrong;
}

/**
 * The test takes cosines times 2^30 to the nearest integer and drops ten bits of each sum:
 * |c(zeta)| 2^20 is at most sqrt(376 2^40) plus sqrt(2) (1 + ||c||_1/2/2^10), and its square below
 * T_SQ 2^40.
 */
function testIsExact(): boolean {
  const bound = squareRootUp(BigInt(T_SQ - 1) << 40n);
  // sqrt(2) (1 + 58/2048) < 2
  const most = bound + 2n;
  return C_L1 < 512 && most * most <= BigInt(T_SQ) << 40n;
}

/** Trial division; doubles are exact below 2^53. */
function isPrime(x: bigint): boolean {
  const value = Number(x);
  if (value % 2 === 0 || value % 3 === 0) return false;
  for (let d = 5; d * d <= value; d += 6) {
    if (value % d === 0 || value % (d + 2) === 0) return false;
  }
  return true;
}
