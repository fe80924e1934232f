/**
 * What the search knows about one level: how long its messages are and how long its output is,
 * from variances. Doubles are good enough here: whatever the search picks is checked afterwards
 * with integers (check.ts), and the table it writes is committed.
 */

import {
  D,
  digitSq,
  foldedRuns,
  lengthOf,
  normSqOf,
  type Part,
  product,
  type Run,
  roundedSq,
  rowRuns,
  square,
  TAU,
  topDigits,
} from './moments.ts';
import { bestRice, bestRiceOf, projectionCode } from './rice.ts';

/** log2 q, q = 2^44 - 539 */
export const LOG2_Q = 44;
export const Q = 2 ** 44 - 539;
/** bound of the squared operator norm of an amortisation challenge */
export const T_SQ = 442;
const T = Math.sqrt(T_SQ);
/** squared 2-norm and 1-norm of alpha: 30 times 1, 13 times 2 */
export const ALPHA_SQ = 82;
export const ALPHA_L1 = 56;
export const JL_ROWS = 264;
/** bits of the sum of all coefficients */
const SUM_BITS = 32;
/** gamma^2 = 144/30 */
export const GAMMA_SQ = 144 / 30;
/**
 * Bounds are at least this much above the expected squared norm (room.ts raises them where the
 * ranks allow it). Measured attempts of honest levels spread by 1 % around it, those of a tail (few
 * challenges, one sum) by 5 %; level 0 of few items hangs on the items themselves, which no retry
 * changes.
 */
const MARGIN_SQ = 1.035;
const TAIL_MARGIN_SQ = 1.07;
const firstMargin = (count: number): number =>
  count < 32 ? 1.6 : count <= 128 ? 1.2 : count <= 512 ? 1.06 : 1.045;

/** log2 of the largest norm for which rank kappa reaches the target */
const LIMIT = Array.from({ length: 60 }, (_, kappa) => {
  return 2 * Math.sqrt(Math.log2(Q) * Math.log2(1.00374) * D * kappa) - 1e-5;
});

const LIMIT_SQ = LIMIT.map((limit) => 4 ** Math.min(limit, LOG2_Q - 1));

export function secure(rank: number, normSq: number): boolean {
  return normSq < LIMIT_SQ[rank]!;
}

export function minRank(normSq: number): number {
  for (let rank = 1; rank < LIMIT.length; rank++) if (secure(rank, normSq)) return rank;
  return Number.POSITIVE_INFINITY;
}

/** bits of one coefficient of a Gaussian, coded well */
export const gaussBits = (variance: number): number =>
  Math.max(0.5 * Math.log2(2 * Math.PI * Math.E * Math.max(variance, 0.15)), 1) + 0.06;

export interface Level {
  n: number;
  rows: number[];
  r: number;
  f: number;
  b: number;
  fu: number;
  bu: number;
  fg: number;
  bg: number;
  kappa: number;
  kappa1: number;
  m: number;
  /** low bits dropped from u_1 and u_2, in the tail from t */
  cut: number;
  /** squared norm covered by JL, expected squared norm of the output, both with the margin */
  inSq: number;
  outSq: number;
  /** the part of inSq that the dropped bits of the tail make */
  errorSq: number;
  tail: boolean;
  messageBits: number;
  lastBits: number;
  /** variances for the codecs */
  varZ: number;
  varG: number[];
  varE: number;
  riceZ: number;
  parts: Part[];
  /** largest squared norm that the next level may be held to, without changing the ranks here */
  room: number;
}

const cutVariance = (cut: number): number => (cut === 0 ? 0 : 4 ** cut / 12);

export interface FirstLevel {
  /** squared norm of S (JL covers this alone), and of the norm bound of one item times count */
  readonly jlSq: number;
  readonly peakSY: number;
  readonly count: number;
}

export interface Shape {
  readonly n: number;
  readonly nus: number[];
  readonly r: number;
  readonly varZ: number;
  /** variances of the columns of z: rows that are not full make the first columns larger */
  readonly columns: readonly Run[];
  readonly totalSq: number;
  readonly varG: number[];
  readonly maxVarG: number;
}

/** How the parts fall into rows of n, and the variances that follow. */
export function shapeOf(parts: readonly Part[], n: number, first?: FirstLevel): Shape {
  const rows = rowRuns(parts, n);
  const r = rows.length;
  const kinds = [...new Set(rows)];
  const kindOf = rows.map((row) => kinds.indexOf(row));
  const times = kinds.map((kind) => rows.filter((row) => row === kind).length);
  const squares = kinds.map(square);
  const products = kinds.map((x, i) => kinds.map((y, j) => (i <= j ? product(x, y) : 0)));
  const totalSq = parts.reduce((s, p) => s + normSqOf(p), 0);
  const varG: number[] = [];
  let maxVarG = 0;
  for (let a = 0; a < r; a++) {
    const i = kindOf[a]!;
    for (let b = a; b < r; b++) {
      const v = a === b ? squares[i]! : products[i]![kindOf[b]!]!;
      varG.push(v);
      if (v > maxVarG) maxVarG = v;
    }
  }
  const nus = parts.map((p) => Math.ceil(lengthOf(p) / n));
  let columns = foldedRuns(kinds, times, n);
  if (first !== undefined) {
    const together = nus[0]! * first.peakSY ** 2;
    maxVarG = Math.max(maxVarG, first.peakSY ** 2);
    // c_S S and c_Y alpha sigma(S) meet in the squares of columns: 2 c_S c_Y times the peak
    const met = (4 * TAU * TAU * together) / (2 * D * n);
    columns = columns.map((run) => ({ ...run, excess: (run.excess ?? 0) + met }));
  }
  return {
    n,
    nus,
    r,
    varZ: (TAU * totalSq) / (D * n),
    columns,
    totalSq,
    varG,
    maxVarG,
  };
}

/** rows that the parts make, cut into rows of n */
export const rowCount = (parts: readonly Part[], n: number): number =>
  parts.reduce((sum, part) => sum + Math.ceil(lengthOf(part) / n), 0);

const jlBits = (inSq: number): number => JL_ROWS * projectionCode(inSq).bits + SUM_BITS;

function roomOf(kappa: number, kappa1: number, e: number, reach: number): number {
  const inner = 2 ** LIMIT[kappa]!;
  return Math.min(
    inner ** 2 / (64 * T_SQ * e * GAMMA_SQ),
    ((inner - 2 * T * reach) / 2) ** 2 / (e * GAMMA_SQ),
    (2 ** LIMIT[kappa1]! / 2) ** 2 / GAMMA_SQ,
  );
}

/** The top digits of g as one run; what stands out is in its excess. */
function runOfTops(tops: readonly number[], mean: number): Run {
  const length = tops.length;
  const meanSq = tops.reduce((sum, top) => sum + top * top, 0) / length;
  return { length, variance: mean, mean: 0, excess: Math.max(0, meanSq - mean * mean) };
}

/** The free choices of an ordinary level, but for the length of its rows; the ranks follow. */
export interface Pick {
  readonly f: number;
  readonly b: number;
  readonly bu: number;
  readonly fg: number;
  readonly bg: number;
  readonly cut: number;
}

/** What follows from the choices before the ranks are known. */
interface Digits {
  /** digits of t and h; mean squares of the lower ones and of the top one */
  readonly fu: number;
  readonly low: number;
  readonly topT: number;
  /** the top digits of z and of g */
  readonly top: Part;
  readonly topG: Run;
  /** expected squared norm of the digits of z, h and g */
  readonly normSq: number;
  /** how much the digits of z weigh together: sum of 4^(bj) */
  readonly weight: number;
}

const inRange = ({ b, bu, fg, bg }: Pick): boolean =>
  b >= 2 && b <= 13 && bg >= 2 && bg <= 13 && bu >= 2 && bu <= 14 && fg >= 1;

/** Undefined when a top digit does not fit, or the choices are out of range. */
function digitsOf(shape: Shape, pick: Pick, first?: FirstLevel): Digits | undefined {
  const { n, r } = shape;
  const { f, b, bu, fg, bg } = pick;
  if (!inRange(pick) || (fg - 1) * bg >= LOG2_Q) return undefined;
  const top = topDigits(shape.columns, b * (f - 1));
  const topSq = normSqOf(top);
  const most = Math.max(...top.map((run) => run.variance));
  if (most * 36 > 2 ** 29.8 || most < 0.02) return undefined;
  // 16 bits for the top digit of g: eight times the root mean square, which is the whole coherent
  // part
  if (8 * Math.sqrt(shape.maxVarG) > 2 ** (14 + bg * (fg - 1))) return undefined;
  const fu = Math.ceil(LOG2_Q / bu);
  const pairs = (r * (r + 1)) / 2;
  const topT = digitSq(LOG2_Q - (fu - 1) * bu);
  const low = digitSq(bu);
  const gScale = 4 ** ((fg - 1) * bg);
  const gPeaks = first ? shape.nus[0]! * first.peakSY ** 2 : 0;
  const gTops = shape.varG.map((v) => roundedSq(v / gScale));
  const gTop = gTops.reduce((s, v) => s + v, gPeaks / gScale);
  const zSq = D * n * (f - 1) * digitSq(b) + topSq;
  const hSq = D * pairs * ((fu - 1) * low + topT);
  const gSq = D * (pairs * (fg - 1) * digitSq(bg) + gTop);
  return {
    fu,
    low,
    topT,
    top,
    topG: runOfTops(gTops, gTop / pairs),
    normSq: zSq + hSq + gSq,
    weight: 4 ** (b * (f - 1)) * (f > 1 ? 1 + 4 ** -b + (f > 2 ? 16 ** -b : 0) : 1),
  };
}

interface Ranks {
  readonly kappa: number;
  readonly kappa1: number;
  readonly outSq: number;
  /** largest norm of the input times a challenge, see the second branch in check.ts */
  readonly reach: number;
}

/** The least ranks that are secure for the expected output with its margin. */
function ranksOf(
  { r, nus }: Shape,
  { cut }: Pick,
  { fu, low, topT, normSq, weight }: Digits,
  inSq: number,
  first?: FirstLevel,
): Ranks | undefined {
  const margin = first ? firstMargin(first.count) : MARGIN_SQ;
  const outers = outersOf(first);
  const reach = first
    ? Math.sqrt((nus[0]! + nus[2]!) * (1 + ALPHA_L1 ** 2) * GAMMA_SQ * first.jlSq)
    : Math.sqrt(r * GAMMA_SQ * inSq);
  const least = minRank(64 * T_SQ * weight * GAMMA_SQ * margin * normSq);
  for (let kappa = least; kappa < 40; kappa++) {
    const tSq = D * r * kappa * ((fu - 1) * low + topT);
    let kappa1 = 6;
    let outSq = 0;
    for (let again = 0; again < 3; again++) {
      const uSq = D * outers * kappa1 * cutVariance(cut);
      outSq = margin * (normSq + tSq + uSq);
      kappa1 = minRank(4 * GAMMA_SQ * outSq);
      if (kappa1 > 30) return undefined;
    }
    const innerA = 64 * T * T * weight * GAMMA_SQ * outSq;
    const innerB = (2 * Math.sqrt(weight * GAMMA_SQ * outSq) + 2 * T * reach) ** 2;
    if (secure(kappa, Math.max(innerA, innerB))) return { kappa, kappa1, outSq, reach };
  }
  return undefined;
}

/** Outer commitments of a level. */
const outersOf = (first?: FirstLevel): number => (first ? 3 : 2);

/** `digits` digits of `count` values as runs. */
const digitRuns = (count: number, digits: number, low: number, top: number): Run[] =>
  digits === 1
    ? [{ length: count, variance: top, mean: 0 }]
    : [
        { length: count * (digits - 1), variance: low, mean: -0.5 },
        { length: count, variance: top, mean: 0 },
      ];

/** The parts of the output: digits of z, then v. */
function outputOf(
  { n, r }: Shape,
  { f, b, fg, bg, cut }: Pick,
  { fu, low, topT, top, topG }: Digits,
  { kappa, kappa1 }: Ranks,
  outers: number,
): Part[] {
  const pairs = (r * (r + 1)) / 2;
  const zParts: Part[] = Array.from({ length: f }, (_, j) =>
    j < f - 1 ? [{ length: n, variance: digitSq(b), mean: -0.5 }] : top,
  );
  const v: Part = [
    ...digitRuns(r * kappa, fu, low, topT),
    ...(fg > 1 ? [{ length: pairs * (fg - 1), variance: digitSq(bg), mean: -0.5 }] : []),
    topG,
    ...digitRuns(pairs, fu, low, topT),
    ...(cut > 0 ? [{ length: outers * kappa1, variance: cutVariance(cut), mean: 0 }] : []),
  ];
  return [...zParts, v];
}

/** One ordinary level, or undefined when the choices do not fit. */
export function ordinaryLevel(
  shape: Shape,
  pick: Pick,
  bound: number,
  first?: FirstLevel,
): Level | undefined {
  const digits = digitsOf(shape, pick, first);
  const inSq = first ? first.jlSq : bound;
  const ranks = digits && ranksOf(shape, pick, digits, inSq, first);
  if (digits === undefined || ranks === undefined) return undefined;
  const { kappa, kappa1, outSq, reach } = ranks;
  const outers = outersOf(first);
  const parts = outputOf(shape, pick, digits, ranks, outers);
  const { n, nus, r, varZ, varG } = shape;
  const { f, b, bu, fg, bg, cut } = pick;
  return {
    n,
    rows: nus,
    r,
    f,
    b,
    fu: digits.fu,
    bu,
    fg,
    bg,
    kappa,
    kappa1,
    m: lengthOf(parts.at(-1)!),
    cut,
    inSq,
    outSq,
    errorSq: 0,
    tail: false,
    messageBits:
      outers * kappa1 * D * (LOG2_Q - cut) +
      jlBits(inSq) +
      3 * 63 * LOG2_Q +
      16 +
      (first ? 320 : 0),
    lastBits: 0,
    varZ,
    varG,
    varE: 0,
    riceZ: 0,
    parts,
    room: roomOf(kappa, kappa1, digits.weight, reach),
  };
}

/** What the tail does not have. */
const WITHOUT_DIGITS = { f: 1, b: 0, fu: 1, bu: 0, fg: 1, bg: 0, kappa1: 0, m: 0 } as const;

/** The last level: t, g and h in clear, z without digits. */
export function tailLevel(
  shape: Shape,
  cutT: number,
  bound: number,
  room: number,
): Level | undefined {
  const { n, r, varZ, columns } = shape;
  if (r < 2 || cutT < 4 || cutT > 15 || varZ > 2 ** 22.5) return undefined;
  const pairs = (r * (r + 1)) / 2;
  // the last row is not cut: its t is only sealed
  const cutRows = r - 1;
  const varE = cutRows * TAU * cutVariance(cutT);
  const least = minRank(64 * T_SQ * TAIL_MARGIN_SQ * D * n * varZ);
  for (let kappa = least; kappa < 40; kappa++) {
    const errorSq = MARGIN_SQ * D * cutRows * kappa * cutVariance(cutT);
    const inSq = bound + errorSq;
    if (inSq > room) return undefined;
    const outSq = TAIL_MARGIN_SQ * D * (n * varZ + kappa * varE);
    const innerA = 64 * T * T * outSq;
    const innerB = (2 * Math.sqrt(outSq) + 2 * T * Math.sqrt(r * GAMMA_SQ * inSq)) ** 2;
    if (!secure(kappa, Math.max(innerA, innerB))) continue;
    const gBits = shape.varG.slice(0, -1).reduce((sum, v) => sum + D * bestRice(v).bits, 0);
    const z = bestRiceOf(columns);
    return {
      ...WITHOUT_DIGITS,
      n,
      rows: shape.nus,
      r,
      kappa,
      cut: cutT,
      inSq,
      outSq,
      errorSq,
      tail: true,
      messageBits:
        cutRows * kappa * D * (LOG2_Q - cutT) +
        gBits +
        (pairs - 2) * D * LOG2_Q +
        512 +
        jlBits(inSq) +
        3 * 63 * LOG2_Q +
        16,
      lastBits: D * z.bits + kappa * D * bestRice(varE).bits,
      varZ,
      varG: shape.varG,
      varE,
      riceZ: z.k,
      parts: [],
      room: 0,
    };
  }
  return undefined;
}
