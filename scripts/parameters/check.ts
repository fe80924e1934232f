/**
 * Everything that the proof needs of a row of the table, recomputed with integers from the row
 * alone. Each failure is one line of text.
 */
import {
  type OrdinaryLevel,
  type Parameters,
  readRow,
  type Shape,
  type TableRow,
  type TailLevel,
} from '../../src/aggregate/parameters/rows.ts';
import {
  bitsOf,
  exponential,
  logarithm,
  ONE,
  squareRoot,
  squareRootOf,
  squareRootUp,
} from './fixedPoint.ts';

export const Q = (1n << 44n) - 539n;
const P = 12289n;
const BETA_SQ = { 512: 34_034_726n, 1024: 70_265_242n } as const;
/** the six primes of the number-theoretic transform, each 1 mod 128 */
const PRIMES = [13697n, 13441n, 13313n, 12289n, 12161n, 11777n];
/** squared operator norm of a challenge: 441, plus the rounding of the test */
const T_SQ = 442n;
const C_L1 = 69n;
/** of a short challenge: 64 coefficients of at most 4 */
const SHORT_L1 = 256n;
const ALPHA_SQ = 82n;
const ALPHA_L1 = 56n;
/** gamma^2 = 144/30 = 24/5 */
const GAMMA_NUMERATOR = 24n;
const GAMMA_DENOMINATOR = 5n;
const JL_ROWS = 264n;
/** the norm of x that is accepted, by inSq: signs give 264 on average */
const ACCEPTED = 288n;
const JL_CONSTANT = 30n;
/** largest quotient of a Rice code is 31: |x| <= 2^(k+4) */
const RICE_ROOM = 4;

/**
 * Squared norms below this are out of reach for rank kappa: exp(4 sqrt(64 kappa ln q ln delta)).
 */
const limits: bigint[] = [0n];
const LN_Q_LN_DELTA = (logarithm(Q, 1n) * logarithm(100_374n, 100_000n)) / ONE;
export function limitSq(kappa: number): bigint {
  for (let k = limits.length; k <= kappa; k++) {
    const root = squareRootOf(64n * BigInt(k) * LN_Q_LN_DELTA);
    const limit = exponential(4n * root);
    limits.push(limit < Q * Q ? limit : Q * Q);
  }
  return limits[kappa]!;
}

const ceilDivide = (x: bigint, y: bigint): bigint => (x + y - 1n) / y;
/** gamma^2 x, rounded up */
const withSlack = (x: bigint): bigint => ceilDivide(GAMMA_NUMERATOR * x, GAMMA_DENOMINATOR);

/** squared norms that the inner commitment (both branches) and the outer one must withstand */
export function bindingNorms(
  parameters: Parameters,
  index: number,
): { inner: readonly [bigint, bigint]; outer: bigint } {
  const level = parameters.levels[index] ?? parameters.tail;
  const { r, inSq } = level;
  let reachSq: bigint;
  if (index === 0) {
    const rows = BigInt(level.rows[0]! + level.rows[2]!);
    reachSq = rows * (1n + ALPHA_L1 * ALPHA_L1) * withSlack(BigInt(inSq));
  } else {
    reachSq = BigInt(r) * withSlack(BigInt(inSq));
  }
  // what the next message is known to be: its projection is held to the next level's bound
  let outSq = BigInt(level.outSq);
  let gadget = 1n;
  if (!level.tail) {
    const next = parameters.levels[index + 1] ?? parameters.tail;
    outSq = withSlack(BigInt(next.inSq));
    for (let j = 1; j < level.f; j++) gadget += 1n << BigInt(2 * level.b * j);
  }
  const first = 64n * T_SQ * gadget * outSq;
  const root = 2n * squareRootUp(gadget * outSq) + 2n * squareRootUp(T_SQ * reachSq);
  return { inner: [first, root * root], outer: 4n * outSq };
}

type Fail = (text: string) => void;

function checkBinding(parameters: Parameters, fail: Fail): void {
  const all = [...parameters.levels, parameters.tail];
  for (const [index, level] of all.entries()) {
    const { inner, outer } = bindingNorms(parameters, index);
    for (const [branch, normSq] of inner.entries()) {
      if (normSq >= limitSq(level.kappa)) fail(`level ${index}: inner branch ${branch + 1}`);
    }
    if (!level.tail && outer >= limitSq(level.kappa1)) fail(`level ${index}: outer`);
  }
}

function checkShapes({ set, bucket, levels, tail }: Parameters, fail: Fail): void {
  if (levels.length < 1) fail('no level before the tail');
  for (const [index, level] of levels.entries()) {
    const { f, b, fu, bu, fg, bg, cut, m, inSq, outSq } = level;
    const expected = index === 0 ? BigInt(bucket) * BETA_SQ[set] : BigInt(levels[index - 1]!.outSq);
    // what a level puts out is what the next one projects: no slack lost, none borrowed
    if (BigInt(inSq) !== expected) fail(`level ${index}: inSq is not the bound before`);
    if (f < 1 || f > 3 || b < 2 || b > 13) fail(`level ${index}: digits of z`);
    // the top digit keeps the remainder of 44 bits
    if (fu * bu < 44 || bu > 14 || (fu - 1) * bu >= 44) fail(`level ${index}: digits of t`);
    // powers of the base stay below q
    if (fg < 1 || bg < 2 || bg > 13 || (fg - 1) * bg >= 44) fail(`level ${index}: digits of g`);
    if (cut !== 0 && (cut < 4 || cut > 15)) fail(`level ${index}: cut`);
    if (m < 1 || outSq >= 2 ** 43) fail(`level ${index}: output`);
    checkRange(level, index, set, bucket, fail);
  }
  if (tail.r < 2) fail('tail: fewer than two rows');
  // a_(last,last) = 0 and the sealed t_last need it: rows of v stand last, and v is never empty
  if (tail.lengths.length !== levels.at(-1)!.f + 1 || !(tail.rows.at(-1)! >= 1)) {
    fail('tail: the last row is not a row of v');
  }
  if (tail.cut < 4 || tail.cut > 15) fail('tail: cut');
  if (tail.riceG.length !== tail.pairs - 1) fail('tail: Rice parameters of g');
  if (tail.inSq < levels.at(-1)!.outSq) fail('tail: inSq is below the bound before');
  checkRange(tail, levels.length, set, bucket, fail);
}

const HALF_PRODUCT = PRIMES.reduce((a, b) => a * b) / 2n;

/** largest sums before a reduction modulo q stay below half the product of the primes */
function checkRange(
  level: OrdinaryLevel | TailLevel,
  index: number,
  set: 512 | 1024,
  bucket: number,
  fail: Fail,
): void {
  const n = BigInt(level.n);
  const half = (Q - 1n) / 2n;
  // |alpha sigma(s)| <= |alpha| |s| at level 0, 16 bits with sign elsewhere
  const largest = index === 0 ? squareRoot(ALPHA_SQ * BETA_SQ[set]) + 1n : 1n << 15n;
  // A s, and h with phi reduced: two products
  if (2n * 64n * n * half * largest >= HALF_PRODUCT) fail(`level ${index}: range of A s`);
  if (index === 0) {
    // b^(k): |F| |s|_1, |s|_1 by Cauchy and Schwarz
    const count = BigInt(bucket);
    const l1 = squareRootUp(64n * BigInt(level.lengths[0]!) * count * BETA_SQ[set]);
    const w = 64n * BigInt(level.lengths[1]!) * (1n << 13n);
    if (half * (l1 + w) >= HALF_PRODUCT) fail('level 0: range of lifts');
    // links: beta_k sigma(eta alpha) of an item, and eta U of 32 items, |U|_1 <= |tau|_1 |alpha|_1
    // |S_i|_1
    if (3n * SHORT_L1 * half * ALPHA_L1 >= HALF_PRODUCT) fail('level 0: range of a link');
    const item = squareRootUp((64n * BigInt(level.lengths[0]!) * BETA_SQ[set]) / count);
    if (32n * half * SHORT_L1 * ALPHA_L1 * item >= HALF_PRODUCT) fail('level 0: range of links');
  }
}

/**
 * The sum of c_a phi_a over the rows of a level, before its reduction: what the level before
 * leaves, lifts, padding.
 */
function checkFolds({ levels, tail }: Parameters, fail: Fail): void {
  const half = (Q - 1n) / 2n;
  for (const [index, level] of [...levels, tail].entries()) {
    // lifts, and the links of S and Y; the challenge of padding or of a cut
    let phi = SHORT_L1 * half * (index === 0 ? 4n : 3n) + SHORT_L1;
    const before = levels[index - 1];
    if (before !== undefined) {
      const top = (digits: number, bits: number): bigint => 1n << BigInt((digits - 1) * bits);
      // A, or B, C, D, folded and not reduced; phi_z
      const keys = SHORT_L1 * half * BigInt(Math.max(before.kappa, 2 * before.kappa1)) + half;
      const onZ = 2n * top(before.f, before.b) * keys;
      // products of two or three challenges, times the digit; a_ab reduced
      const onT = C_L1 * SHORT_L1 * top(before.fu, before.bu);
      const onG = 2n * C_L1 * C_L1 * SHORT_L1 * top(before.fg, before.bg) + SHORT_L1 * half;
      phi += onZ + keys + onT * C_L1 + onG;
    }
    if (phi * C_L1 * BigInt(level.r) >= HALF_PRODUCT) fail(`level ${index}: range of phi`);
  }
}

function checkIntegers(parameters: Parameters, fail: Fail): void {
  const { set, bucket, levels, tail } = parameters;
  const count = BigInt(bucket);
  const betaSq = BETA_SQ[set];
  const half = (Q - 1n) / 2n;
  if (withSlack(count * betaSq) >= Q) fail('the exact norm can wrap');
  // N' beta 6144 sqrt(2 n) < q/2, squared
  const functional = count * count * betaSq * 6144n * 6144n * 2n * BigInt(set);
  if (functional >= half * half) fail('the functionals can wrap');
  if (count * BigInt(set) * 6144n * 6144n >= 1n << 53n) fail('C_j is no exact double');
  for (const [index, level] of [...levels, tail].entries()) {
    checkProjection(level, index, fail);
    if (level.inSq >= 2 ** 43) fail(`level ${index}: inSq`);
  }
  if (tail.riceZ > 11 || tail.riceE > 16) fail('tail: Rice');
  // every g that has a code is centred: 2^(k+4) <= (q-1)/2
  if (tail.riceG.some((k) => 1n << BigInt(k + RICE_ROOM) > half))
    fail('tail: Rice parameters of g');
  const zReach = 1n << BigInt(2 * (tail.riceZ + RICE_ROOM));
  const eReach = 1n << BigInt(2 * (tail.riceE + RICE_ROOM));
  const coefficients = 64n * (BigInt(tail.n) * zReach + BigInt(tail.kappa) * eReach);
  if (coefficients >= 1n << 53n) fail('tail: the sum of squares is no exact double');
}

/**
 * soundness.md, 5.6: coefficients that are not caught alone add up below q/2; and what the code of
 * y holds
 */
function checkProjection(level: OrdinaryLevel | TailLevel, index: number, fail: Fail): void {
  const inSq = BigInt(level.inSq);
  const lengths = level.lengths.reduce((a, b) => a + b, 0) + level.r * level.kappa;
  const coefficients = 64n * BigInt(lengths);
  // a coefficient beyond sqrt(288/30 inSq) leaves at most one value of its bit to each small x_j
  const largest = squareRootUp(ceilDivide(ACCEPTED * inSq, JL_CONSTANT));
  if (2n * coefficients * largest + (1n << 32n) >= Q) fail(`level ${index}: projections can wrap`);
  // |y_264| of honest rows, by Cauchy and Schwarz
  if (coefficients * inSq >= 1n << 62n) fail(`level ${index}: the sum does not fit 32 bits`);
  const reach = 1n << BigInt(level.riceY + RICE_ROOM);
  if (reach * reach < 20n * inSq) fail(`level ${index}: y does not fit its code`);
  if (JL_ROWS * (2n * reach + 1n) ** 2n >= 1n << 53n) fail(`level ${index}: sum of x^2`);
}

const factorial = (n: bigint): bigint => (n < 2n ? 1n : n * factorial(n - 1n));
/** how many polynomials have these numbers of +-1 and +-2 */
function setSize(ones: bigint, twos: bigint): bigint {
  const zeros = 64n - ones - twos;
  const places = factorial(64n) / (factorial(zeros) * factorial(ones) * factorial(twos));
  return places << (ones + twos);
}

/** terms of the interactive error of a row, as numerators over 2^256 */
export function errorTerms({ levels, tail }: Parameters): Record<string, bigint> {
  const one = 1n << 256n;
  const count = BigInt(levels.length + 1);
  const rows = [...levels, tail].reduce((sum: number, level: Shape) => sum + level.r, 0);
  let tailOfBinomial = 0n;
  for (let k = 0n; k < JL_CONSTANT; k++) {
    tailOfBinomial += factorial(JL_ROWS) / (factorial(k) * factorial(JL_ROWS - k));
  }
  // more than half of all challenges pass the test of the operator norm (54.6 %, measured)
  const challenges = setSize(29n, 20n) / 2n;
  return {
    projection: (count * tailOfBinomial * one) / (1n << JL_ROWS) + 1n,
    lifts: (count * one) / Q ** 3n + 1n,
    functionals: one / P ** 10n + 1n,
    alpha: one / setSize(30n, 13n) + 1n,
    // one for every level, and one for the parts of Y
    combination: ((count + 1n) * one) / (1n << 192n),
    amortisation: (9n * BigInt(rows) * one) / challenges + 1n,
  };
}

export function errorBits(parameters: Parameters): number {
  const sum = Object.values(errorTerms(parameters)).reduce((a, b) => a + b);
  return bitsOf(sum, 1n << 256n);
}

/** Least margin over all levels, in hundredths of a bit of the norm: what is left to the limit. */
export function bindingMargins(parameters: Parameters): number {
  const all = [...parameters.levels, parameters.tail];
  let least = Number.POSITIVE_INFINITY;
  for (const [index, level] of all.entries()) {
    const { inner, outer } = bindingNorms(parameters, index);
    for (const normSq of inner) {
      least = Math.min(least, bitsOf(normSq, limitSq(level.kappa)) / 2);
    }
    if (!level.tail) least = Math.min(least, bitsOf(outer, limitSq(level.kappa1)) / 2);
  }
  return least;
}

/** @returns what is wrong with a row; nothing when it may be used */
export function checkRow(row: TableRow): string[] {
  const wrong: string[] = [];
  const fail: Fail = (text) => wrong.push(`${row[0]}, bucket ${row[1]}: ${text}`);
  const numbers = row[2].flat(2);
  if (!numbers.every((x) => Number.isSafeInteger(x) && x >= 0)) {
    fail('not all integers');
    return wrong;
  }
  const parameters = readRow(row);
  checkShapes(parameters, fail);
  checkFolds(parameters, fail);
  checkIntegers(parameters, fail);
  checkBinding(parameters, fail);
  if (errorBits(parameters) < 128) fail('the error exceeds 2^-128');
  return wrong;
}

/** What holds for all rows: the modulus and the primes. */
export function checkConstants(): string[] {
  const wrong: string[] = [];
  if (!isPrime(Q) || Q % 8n !== 5n) wrong.push('q');
  for (const prime of PRIMES) if (!isPrime(prime) || prime % 128n !== 1n) wrong.push(`${prime}`);
  // differences of challenges are at most 4, of short ones at most 7: units below sqrt(q/2)
  if (2n * 7n * 7n >= Q) wrong.push('differences of challenges');
  return wrong;
}

function isPrime(x: bigint): boolean {
  for (let d = 2n; d * d <= x; d++) if (x % d === 0n) return false;
  return true;
}
