/**
 * What the search knows about one level: how long its messages are and how long its output is,
 * from variances. Doubles are good enough here: whatever the search picks is checked afterwards
 * with integers (check.ts), and the table it writes is committed.
 */

import { bestRice, erfc } from './rice.ts';

export const D = 64;
/** log2 q, q = 2^44 - 539 */
export const LOG2_Q = 44;
export const Q = 2 ** 44 - 539;
/** squared norm of an amortisation challenge, and a bound of its squared operator norm */
export const TAU = 109;
export const T_SQ = 442;
const T = Math.sqrt(T_SQ);
/** squared 2-norm and 1-norm of alpha: 30 times 1, 13 times 2 */
export const ALPHA_SQ = 82;
export const ALPHA_L1 = 56;
export const JL_ROWS = 264;
/** gamma^2 = 144/30 */
export const GAMMA_SQ = 144 / 30;
/**
 * Bounds are this much above the expected squared norm. Measured attempts of honest levels spread by 1 to 2 % around it, those of a
 * tail (few challenges, one sum) by 5 %; level 0 of few items hangs on the items themselves, which no retry changes.
 */
const MARGIN_SQ = 1.06;
const TAIL_MARGIN_SQ = 1.12;
const firstMargin = (count: number): number => (count < 32 ? 1.6 : count <= 128 ? 1.2 : 1.08);

/** Which of the departures from the plain layout the search may use. */
export interface Features {
  /** drop low bits of u_1 and u_2 */
  readonly outerCut: boolean;
  /** drop low bits of t in the tail */
  readonly tailCut: boolean;
  /** replace t_0 and h_00 of the tail by a hash; take h_ww from E6 */
  readonly tailHash: boolean;
}

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

/** a run of polynomials: second moment and mean of a coefficient */
export interface Run {
  readonly length: number;
  readonly variance: number;
  readonly mean: number;
}
/** what is cut into rows together */
export type Part = readonly Run[];

export const lengthOf = (part: Part): number => part.reduce((s, r) => s + r.length, 0);
export const normSqOf = (part: Part): number =>
  part.reduce((s, r) => s + r.length * D * r.variance, 0);

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
  parts: Part[];
  /** largest squared norm that the next level may be held to, without changing the ranks here */
  room: number;
}

/** second moment of a uniform digit in [-2^(b-1), 2^(b-1)) */
const digitSq = (b: number): number => (4 ** b + 2) / 12;

/** second moment of a Gaussian that is rounded to an integer */
const rounded = new Map<number, number>();
export function roundedSq(variance: number): number {
  if (variance > 4) return variance + 1 / 12;
  if (variance < 1e-4) return 0;
  const key = Math.round(64 * Math.log2(variance));
  let value = rounded.get(key);
  if (value === undefined) rounded.set(key, (value = integerSq(2 ** (key / 64))));
  return value;
}

function integerSq(variance: number): number {
  const sigma = Math.sqrt(variance);
  let sum = 0;
  for (let k = 1; k < 20; k++) sum += (2 * k - 1) * erfc((k - 0.5) / (sigma * Math.SQRT2));
  return sum;
}

const cutVariance = (cut: number): number => (cut === 0 ? 0 : 4 ** cut / 12);

/** variance (mean over a row) of every row when the parts are cut into rows of n */
export function rowRuns(parts: readonly Part[], n: number): Run[][] {
  const rows: Run[][] = [];
  for (const part of parts) {
    let row: Run[] = [];
    let room = n;
    for (const run of part) {
      let left = run.length;
      while (left > 0) {
        const take = Math.min(left, room);
        row.push({ ...run, length: take });
        left -= take;
        room -= take;
        if (room === 0) {
          rows.push(row);
          row = [];
          room = n;
        }
      }
    }
    if (row.length > 0) rows.push(row);
  }
  return rows;
}

/** mean over the coefficients k of (64 - 2k)^2: how the means of digits add up in a product */
const MEAN_GAIN = 1365.4;

/** expected squared coefficient of the product of two rows, for independent coefficients */
function product(a: readonly Run[], b: readonly Run[], factor: number): number {
  let sum = 0;
  let means = 0;
  let i = 0;
  let j = 0;
  let atA = 0;
  let atB = 0;
  let endA = a[0]?.length ?? 0;
  let endB = b[0]?.length ?? 0;
  while (i < a.length && j < b.length) {
    const end = Math.min(endA, endB);
    const columns = end - Math.max(atA, atB);
    sum += columns * a[i]!.variance * b[j]!.variance;
    means += columns * a[i]!.mean * b[j]!.mean;
    if (endA === end) {
      atA = end;
      endA += a[++i]?.length ?? 0;
    }
    if (endB === end) {
      atB = end;
      endB += b[++j]?.length ?? 0;
    }
  }
  return factor * D * sum + means * means * MEAN_GAIN;
}

export interface FirstLevel {
  /** squared norm of S (JL covers this alone), and of the norm bound of one item times count */
  readonly jlSq: number;
  readonly peakSY: number;
  readonly peakWW: number;
  readonly count: number;
}

export interface Shape {
  readonly n: number;
  readonly rows: Run[][];
  readonly nus: number[];
  readonly r: number;
  readonly varZ: number;
  /** variances of the columns of z: rows that are not full make the first columns larger */
  readonly columns: readonly Run[];
  readonly totalSq: number;
  readonly varG: number[];
  readonly sumVarG: number;
  readonly maxVarG: number;
}

/** Variances of z = sum of c_a s_a, column by column, in runs of equal ones. */
function columnRuns(rows: readonly Run[][], n: number): Run[] {
  const change = new Map<number, number>([[n, 0]]);
  for (const row of rows) {
    let at = 0;
    for (const { length, variance } of row) {
      change.set(at, (change.get(at) ?? 0) + TAU * variance);
      at += length;
      change.set(at, (change.get(at) ?? 0) - TAU * variance);
    }
  }
  const runs: Run[] = [];
  let from = 0;
  let variance = 0;
  for (const [at, step] of [...change].sort((a, b) => a[0] - b[0])) {
    if (at > from) runs.push({ length: at - from, variance, mean: 0 });
    variance += step;
    from = at;
  }
  return runs;
}

/** How the parts fall into rows of n, and the variances that follow. */
export function shapeOf(parts: readonly Part[], n: number, first?: FirstLevel): Shape {
  const rows = rowRuns(parts, n);
  const r = rows.length;
  const totalSq = parts.reduce((s, p) => s + normSqOf(p), 0);
  const varG: number[] = [];
  let sumVarG = 0;
  let maxVarG = 0;
  for (let a = 0; a < r; a++) {
    for (let b = a; b < r; b++) {
      const v = product(rows[a]!, rows[b]!, a === b ? 2 : 1);
      varG.push(v);
      sumVarG += v;
      maxVarG = Math.max(maxVarG, v);
    }
  }
  const nus = parts.map((p) => Math.ceil(lengthOf(p) / n));
  if (first !== undefined) {
    sumVarG += nus[0]! * first.peakSY ** 2;
    maxVarG = Math.max(maxVarG, first.peakSY ** 2);
  }
  return {
    n,
    rows,
    nus,
    r,
    varZ: (TAU * totalSq) / (D * n),
    columns: columnRuns(rows, n),
    totalSq,
    varG,
    sumVarG,
    maxVarG,
  };
}

const jlBits = (inSq: number): number => JL_ROWS * bestRice(inSq / 2).bits;

function roomOf(kappa: number, kappa1: number, e: number, reach: number): number {
  const inner = 2 ** LIMIT[kappa]!;
  return Math.min(
    inner ** 2 / (64 * T_SQ * e * GAMMA_SQ),
    ((inner - 2 * T * reach) / 2) ** 2 / (e * GAMMA_SQ),
    (2 ** LIMIT[kappa1]! / 2) ** 2 / GAMMA_SQ,
  );
}

/** One ordinary level, or undefined when the choices do not fit. */
export function ordinaryLevel(
  shape: Shape,
  pick: { f: number; b: number; bu: number; fgLess: number; cutShare: number },
  bound: number,
  first?: FirstLevel,
): Level | undefined {
  const { n, r, varZ, nus } = shape;
  const { f, b, bu } = pick;
  if (b < 2 || b > 13) return undefined;
  const top = shape.columns.map((run) => ({
    ...run,
    variance: f > 1 ? roundedSq(run.variance / 4 ** (b * (f - 1))) : run.variance,
  }));
  const topSq = normSqOf(top);
  const most = Math.max(...top.map((run) => run.variance));
  if (most * 36 > 2 ** 29.8 || most < 0.02) return undefined;
  const margin = first ? firstMargin(first.count) : MARGIN_SQ;
  const bg = b;
  const fgWant = Math.max(1, Math.ceil((Math.log2(12) + Math.log2(shape.maxVarG)) / (2 * bg)));
  let fg = fgWant - pick.fgLess;
  if (fg < 1) return undefined;
  const peak = Math.max(8 * Math.sqrt(shape.maxVarG), first?.peakWW ?? 0);
  while (peak / 2 ** (bg * (fg - 1)) > 2 ** 14) fg++;
  const fu = Math.ceil(LOG2_Q / bu);
  if (bu > 14) return undefined;
  const pairs = (r * (r + 1)) / 2;
  const topT = digitSq(LOG2_Q - (fu - 1) * bu);
  const low = digitSq(bu);
  const zLow = digitSq(b);
  const gScale = 4 ** ((fg - 1) * bg);
  const gPeaks = first ? nus[0]! * first.peakSY ** 2 + first.peakWW ** 2 / D : 0;
  const gTop = shape.varG.reduce((s, v) => s + roundedSq(v / gScale), gPeaks / gScale);
  const zSq = D * n * (f - 1) * zLow + topSq;
  const hSq = D * pairs * ((fu - 1) * low + topT);
  const gSq = D * (pairs * (fg - 1) * digitSq(bg) + gTop);
  const e = 4 ** (b * (f - 1)) * (f > 1 ? 1 + 4 ** -b + (f > 2 ? 16 ** -b : 0) : 1);
  const inSq = first ? first.jlSq : bound;
  const outers = first ? 3 : 2;
  const least = minRank(64 * T_SQ * e * GAMMA_SQ * margin * (zSq + hSq + gSq));
  for (let kappa = least; kappa < 40; kappa++) {
    const tSq = D * r * kappa * ((fu - 1) * low + topT);
    const base = zSq + hSq + gSq + tSq;
    // the cut of u: as many bits as keep its error below the wanted share of the norm
    let cutU = 0;
    let kappa1 = 6;
    if (pick.cutShare > 0) {
      cutU = Math.floor(0.5 * Math.log2((12 * pick.cutShare * base) / (D * outers * kappa1)));
      if (cutU > 15) cutU = 15;
      if (cutU < 4) cutU = 0;
    }
    let outSq = 0;
    for (let again = 0; again < 3; again++) {
      const uSq = D * outers * kappa1 * cutVariance(cutU);
      outSq = margin * (base + uSq);
      kappa1 = minRank(4 * GAMMA_SQ * outSq);
      if (kappa1 > 30) return undefined;
    }
    const innerA = 64 * T * T * e * GAMMA_SQ * outSq;
    const reach = first
      ? Math.sqrt((nus[0]! + nus[2]!) * (1 + ALPHA_L1 ** 2) * GAMMA_SQ * first.jlSq)
      : Math.sqrt(r * GAMMA_SQ * inSq);
    const innerB = (2 * Math.sqrt(e * GAMMA_SQ * outSq) + 2 * T * reach) ** 2;
    if (!secure(kappa, Math.max(innerA, innerB))) continue;
    const messageBits =
      outers * kappa1 * D * (LOG2_Q - cutU) +
      jlBits(inSq) +
      3 * 63 * LOG2_Q +
      16 +
      (first ? 320 : 0);
    const cutRun: Run[] =
      cutU > 0 ? [{ length: outers * kappa1, variance: cutVariance(cutU), mean: 0 }] : [];
    const digits = (count: number, nd: number, lowVar: number, top: number): Run[] =>
      nd === 1
        ? [{ length: count, variance: top, mean: 0 }]
        : [
            { length: count * (nd - 1), variance: lowVar, mean: -0.5 },
            { length: count, variance: top, mean: 0 },
          ];
    const v: Part = [
      ...digits(r * kappa, fu, low, topT),
      ...digits(pairs, fg, digitSq(bg), gTop / pairs),
      ...digits(pairs, fu, low, topT),
      ...cutRun,
    ];
    const m = lengthOf(v);
    const zParts: Part[] = Array.from({ length: f }, (_, j) =>
      j < f - 1 ? [{ length: n, variance: zLow, mean: -0.5 }] : top,
    );
    return {
      n,
      rows: nus,
      r,
      f,
      b,
      fu,
      bu,
      fg,
      bg,
      kappa,
      kappa1,
      m,
      cut: cutU,
      inSq,
      outSq,
      errorSq: 0,
      tail: false,
      messageBits,
      lastBits: 0,
      varZ,
      varG: shape.varG,
      varE: 0,
      parts: [...zParts, v],
      room: roomOf(kappa, kappa1, e, reach),
    };
  }
  return undefined;
}

/** The last level: t, g and h in clear, z without digits. */
export function tailLevel(
  shape: Shape,
  cutT: number,
  hash: boolean,
  bound: number,
  room: number,
): Level | undefined {
  const { n, r, varZ } = shape;
  if (r < 2 || varZ > 2 ** 22.5) return undefined;
  const pairs = (r * (r + 1)) / 2;
  // the last row is not cut when its t is only hashed
  const cutRows = hash ? r - 1 : r;
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
    const sentT = hash ? r - 1 : r;
    const sentH = hash ? pairs - 2 : pairs;
    const gSent = hash ? shape.varG.slice(0, -1) : shape.varG;
    const gBits = gSent.reduce((s, v) => s + D * bestRice(v).bits, 0);
    const messageBits =
      sentT * kappa * D * (LOG2_Q - cutT) +
      gBits +
      sentH * D * LOG2_Q +
      (hash ? 512 : 0) +
      jlBits(inSq) +
      3 * 63 * LOG2_Q +
      16;
    const eBits = hash && cutT > 0 ? kappa * D * bestRice(varE).bits : 0;
    return {
      n,
      rows: shape.nus,
      r,
      f: 1,
      b: 0,
      fu: 1,
      bu: 0,
      fg: 1,
      bg: 0,
      kappa,
      kappa1: 0,
      m: 0,
      cut: cutT,
      inSq,
      outSq,
      errorSq,
      tail: true,
      messageBits,
      lastBits: n * D * bestRice(varZ).bits + eBits,
      varZ,
      varG: shape.varG,
      varE,
      parts: [],
      room: 0,
    };
  }
  return undefined;
}
