/**
 * What the search knows about one level: how long its messages are and how long its output is,
 * from variances. Doubles are good enough here: whatever the search picks is checked afterwards
 * with integers (check.ts), and the table it writes is committed.
 */

import {
  ALPHA_L1,
  D,
  E_BITS,
  FIRST_LIFTS,
  FUNCTIONALS,
  GAMMA_SQ as GAMMA,
  JL_VALUES,
  LEAST_QUARTERS,
  LIFTS,
  LOG2_Q,
  SUM_BITS,
  SUMS,
  T_SQ,
  TAU,
  Z_BITS,
} from './constants.ts';
import { CODER_BYTES, expectedBits, indexOf, lastIndexWithin } from './gaussianCode.ts';
import {
  boundOfX,
  digitsOfT,
  messagesOf,
  normSqOfCut,
  runsOfE,
  runsOfX,
  topOfE,
} from './hidden.ts';
import { limitSq, quartersSq } from './limits.ts';
import {
  cutVariance,
  digitSq,
  lengthOf,
  normSqOf,
  type Part,
  type Run,
  roundedSq,
  topDigits,
} from './moments.ts';
import { eachVariance, type FirstLevel, pairVariances, type Shape, varianceOfZ } from './shape.ts';

const GAMMA_SQ = GAMMA.numerator / GAMMA.denominator;
const T = Math.sqrt(T_SQ);
/**
 * Bounds are at least this much above the expected squared norm (room.ts raises them where the
 * ranks allow it). Measured attempts of honest levels spread by 1 % around it, those of a tail (few
 * challenges, one sum) by 5 %; level 0 of few items hangs on the items themselves, which no retry
 * changes.
 */
const MARGIN_SQ = 1.035;
const TAIL_MARGIN_SQ = 1.07;
/**
 * With one or two items and one level before it, the tail hangs on the items too: valid signatures
 * with their energy in one coefficient, or of one size, put it in one column of z. The bound is
 * then higher, and the tables for z stand for four times the variance.
 */
const FEW = { count: 2, levels: 1, marginSq: 1.35, wider: 4 } as const;
const isFew = ({ count, levels }: Before): boolean => count <= FEW.count && levels <= FEW.levels;
const firstMargin = (count: number): number =>
  count < 32 ? 1.6 : count <= 128 ? 1.2 : count <= 512 ? 1.06 : 1.045;

/** Ranks beyond these are not tried. */
const MOST_KAPPA = 40;
const MOST_KAPPA1 = 30;
/**
 * Squared norms that a rank withstands; a little is left for the rounding of bounds to integers.
 */
const LIMIT_SQ = Array.from({ length: MOST_KAPPA + 1 }, (_, k) => Number(limitSq(k)) * (1 - 1e-7));

const secure = (rank: number, normSq: number): boolean => normSq < LIMIT_SQ[rank]!;

function minRank(normSq: number): number {
  for (let rank = 1; rank <= MOST_KAPPA; rank++) if (secure(rank, normSq)) return rank;
  return Number.POSITIVE_INFINITY;
}

/** bits of one coefficient of a Gaussian, coded well */
export const gaussBits = (variance: number): number =>
  Math.max(0.5 * Math.log2(2 * Math.PI * Math.E * Math.max(variance, 0.15)), 1);

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
  /** of hidden messages: zeros where they are sent */
  w: number;
  k: number;
  xSq: number;
  /** low bits dropped from the t of an ordinary level */
  ct: number;
  /** squared norm covered by JL, expected squared norm of the output, both with the margin */
  inSq: number;
  outSq: number;
  /** the part of inSq that the dropped bits of t make */
  errorSq: number;
  tail: boolean;
  bits: number;
  /**
   * of the tail: tables of the coder for e and for every pair but the last, variances of the
   * columns of z
   */
  codeE: number;
  codesG: readonly number[];
  columns: readonly Run[];
  /** by how much the variances are larger that the tables for z stand for */
  wider: number;
  parts: Part[];
  /** largest squared norm that the next level may be held to, without changing the ranks here */
  room: number;
}

const wholeBytes = (bits: number): number => 8 * Math.ceil(bits / 8);
/** b of all lifts: level 0 sends all coefficients but 0, the others all but 0 and 32. */
const FIRST_LIFT_BITS = wholeBytes(FIRST_LIFTS * (D - 1) * LOG2_Q);
const LIFT_BITS = wholeBytes(LIFTS * (D - 2) * LOG2_Q);
/** the retry byte and the counter */
const BYTE_BITS = 16;

/** Coefficient 32 of the lifts of level 0, where they are hidden (docs/protocol.md, 6.4). */
const HIDDEN_FIRST_BITS = wholeBytes(FIRST_LIFTS * LOG2_Q);
/** Rows in quarters beyond these are not tried. */
const MOST_QUARTERS = 12;
const QUARTERS_SQ = Array.from({ length: MOST_QUARTERS + 1 }, (_, k) => Number(quartersSq(k)));

/** The fewest rows in quarters that a bound of x allows. */
function quartersFor(xSq: number): number {
  for (let k = LEAST_QUARTERS; k <= MOST_QUARTERS; k++) {
    if (4 * GAMMA_SQ * xSq < QUARTERS_SQ[k]! * (1 - 1e-7)) return k;
  }
  return Number.POSITIVE_INFINITY;
}

/** What a list of coded values has beside them. */
const FIELD_BITS = 8 * CODER_BYTES;

/** y, U and V. The values of a projection are half of sums with random signs. */
export const projectionBits = (inSq: number): number =>
  JL_VALUES * expectedBits(inSq / 4) + FIELD_BITS + SUMS * SUM_BITS;

function roomOf(kappa: number, kappa1: number, e: number, reach: number): number {
  const inner = Math.sqrt(LIMIT_SQ[kappa]!);
  return Math.min(
    inner ** 2 / (64 * T_SQ * e * GAMMA_SQ),
    ((inner - 2 * T * reach) / 2) ** 2 / (e * GAMMA_SQ),
    LIMIT_SQ[kappa1]! / 4 / GAMMA_SQ,
  );
}

/** The top digits of g, divided by sqrt(scale), as one run; what stands out is in its excess. */
function topsOfG(shape: Shape, scale: number, peaks: number): Run {
  let sum = peaks / scale;
  let sumSq = 0;
  eachVariance(shape, (variance, pairs) => {
    const top = roundedSq(variance / scale);
    sum += pairs * top;
    sumSq += pairs * top * top;
  });
  const length = (shape.r * (shape.r + 1)) / 2;
  const variance = sum / length;
  const excess = Math.max(0, sumSq / length - variance * variance);
  return { length, variance, mean: 0, excess };
}

/** The free choices of an ordinary level, but for the length of its rows; the ranks follow. */
export interface Pick {
  readonly f: number;
  readonly b: number;
  readonly bu: number;
  readonly fg: number;
  readonly bg: number;
  readonly cut: number;
  /** bits of a digit of the messages, and low bits dropped from t; 0: as they are */
  readonly w: number;
  readonly ct: number;
}

/** Whether all digits are of a length that the format and 16 bits allow. */
function fits(shape: Shape, pick: Pick, top: readonly Run[]): boolean {
  const { f, b, bu, fg, bg } = pick;
  if (b < 2 || b > 13 || bg < 2 || bg > 13 || bu < 2 || bu > 14 || fg < 1 || f < 1) return false;
  if ((fg - 1) * bg >= LOG2_Q) return false;
  const most = Math.max(...top.map((run) => run.variance));
  if (most * 36 > 2 ** 29.8 || most < 0.02) return false;
  if (topOfE({ ...pick, r: shape.r }) * 36 > 2 ** 29.8) return false;
  // 16 bits for the top digit of g: eight times the root mean square, which is the whole coherent
  // part
  return 8 * Math.sqrt(shape.maxVarG) <= 2 ** (14 + bg * (fg - 1));
}

/**
 * Squared norms of what an ordinary level puts out, but for t and the errors of cuts; and the runs
 * of v.
 */
function digitsOf(shape: Shape, pick: Pick, first?: FirstLevel) {
  const { n, r, nus, columns } = shape;
  const { f, b, bu, fg, bg, ct } = pick;
  const pairs = (r * (r + 1)) / 2;
  const fu = Math.ceil(LOG2_Q / bu);
  const ft = digitsOfT(bu, ct);
  const top = topDigits(columns, b * (f - 1));
  const low = digitSq(bu);
  const topH = digitSq(LOG2_Q - (fu - 1) * bu);
  const topT = digitSq(LOG2_Q - ct - (ft - 1) * bu);
  const gScale = 4 ** ((fg - 1) * bg);
  const gPeaks = first ? nus[0]! * first.peakSY ** 2 : 0;
  const topG = topsOfG(shape, gScale, gPeaks);
  const zSq = D * n * (f - 1) * digitSq(b) + normSqOf(top);
  const hSq = D * pairs * ((fu - 1) * low + topH);
  const gSq = D * pairs * ((fg - 1) * digitSq(bg) + topG.variance);
  const uniform = (count: number, digits: number, variance: number): Run[] => [
    ...(digits > 1 ? [{ length: count * (digits - 1), variance: low, mean: -0.5 }] : []),
    { length: count, variance, mean: 0 },
  ];
  const ofG: Run[] = [
    ...(fg > 1 ? [{ length: pairs * (fg - 1), variance: digitSq(bg), mean: -0.5 }] : []),
    topG,
  ];
  const ofZ: Part[] = Array.from({ length: f }, (_, j) =>
    j < f - 1 ? [{ length: n, variance: digitSq(b), mean: -0.5 }] : top,
  );
  const ofE = { r, f, b, ct };
  const v = (kappa: number, x: readonly Run[], errors: Run): Part => {
    return [
      ...x,
      ...uniform(r * kappa, ft, topT),
      ...ofG,
      ...uniform(pairs, fu, topH),
      ...runsOfE(ofE, kappa),
      ...(errors.length > 0 ? [errors] : []),
    ];
  };
  const perT = D * r * ((ft - 1) * low + topT) + normSqOf(runsOfE(ofE, 1));
  return { fu, top, sq: zSq + hSq + gSq, perT, ofZ, v };
}

/** The bits that an ordinary level sends besides its messages. */
const besidesBits = (inSq: number, isFirst: boolean): number =>
  projectionBits(inSq) + (isFirst ? 32 * FUNCTIONALS : 0) + BYTE_BITS;

/** The bits of the messages when they are sent. */
const sentBits = (outerPolynomials: number, cut: number, isFirst: boolean): number =>
  outerPolynomials * D * (LOG2_Q - cut) + (isFirst ? FIRST_LIFT_BITS : LIFT_BITS);

/** Messages that are sent, or hidden: their bits, and what they add to the output. */
function messages(kappa1: number, cut: number, w: number, isFirst: boolean) {
  if (w === 0) {
    const bits = sentBits((isFirst ? 3 : 2) * kappa1, cut, isFirst);
    return { bits, k: 0, xSq: 0, runs: [], sq: 0 };
  }
  const all = messagesOf(isFirst, kappa1, cut);
  const runs = runsOfX(all, w);
  const xSq = boundOfX(all, w);
  const k = quartersFor(xSq);
  const quarters = all.length * (D / 4) * k * LOG2_Q;
  // y_x, U_x and V_x are sent one level later
  const bits = quarters + projectionBits(xSq) + (isFirst ? HIDDEN_FIRST_BITS : 0);
  return { bits, k, xSq, runs, sq: normSqOf(runs) };
}

/**
 * One ordinary level, or undefined when the choices do not fit.
 *
 * @param most largest squared norm that the ranks of the level before allow for the input
 */
export function ordinaryLevel(
  shape: Shape,
  pick: Pick,
  bound: number,
  first?: FirstLevel,
  most = Number.POSITIVE_INFINITY,
): Level | undefined {
  const { n, r, nus } = shape;
  const { f, b, bu, fg, bg, cut, w, ct } = pick;
  if (bu < 2 || b < 2) return undefined;
  if (w !== 0 && (w < 2 || w > 6)) return undefined;
  if (ct !== 0 && (first || ct < 4 || ct > 15)) return undefined;
  const digits = digitsOf(shape, pick, first);
  if (!fits(shape, pick, digits.top)) return undefined;
  const margin = first ? firstMargin(first.count) : MARGIN_SQ;
  const gadget = Array.from({ length: f }, (_, j) => 4 ** (b * j)).reduce((x, y) => x + y);
  const outers = first ? 3 : 2;
  const least = minRank(64 * T_SQ * gadget * GAMMA_SQ * margin * digits.sq);
  for (let kappa = least; kappa < MOST_KAPPA; kappa++) {
    const errorSq = MARGIN_SQ * normSqOfCut(r, kappa, ct);
    const inSq = first ? first.jlSq : bound + errorSq;
    if (inSq > most) return undefined;
    const reach = first
      ? Math.sqrt((nus[0]! + nus[2]!) * (1 + ALPHA_L1 ** 2) * GAMMA_SQ * first.jlSq)
      : Math.sqrt(r * GAMMA_SQ * inSq);
    const base = digits.sq + kappa * digits.perT;
    const { kappa1, outSq, sent } = outerOf(base, outers, cut, margin, w);
    if (kappa1 > MOST_KAPPA1) return undefined;
    const innerA = 64 * T_SQ * gadget * GAMMA_SQ * outSq;
    const innerB = (2 * Math.sqrt(gadget * GAMMA_SQ * outSq) + 2 * T * reach) ** 2;
    if (!secure(kappa, Math.max(innerA, innerB))) continue;
    const outer = outers * kappa1;
    const v = digits.v(kappa, sent.runs, {
      length: cut > 0 ? outer : 0,
      variance: cutVariance(cut),
      mean: 0,
    });
    const bits = sent.bits + besidesBits(inSq, first !== undefined);
    if (!Number.isFinite(bits)) return undefined;
    const { k, xSq } = sent;
    const room = roomOf(kappa, kappa1, gadget, reach);
    return {
      ...{ ...NO_TAIL, n, rows: nus, r, f, b, fu: digits.fu, bu, fg, bg, kappa, kappa1, cut },
      ...{ inSq, outSq, bits, m: lengthOf(v), parts: [...digits.ofZ, v], room },
      ...{ errorSq, w, k, xSq, ct },
    };
  }
  return undefined;
}

const NO_TAIL = { tail: false, codeE: 0, codesG: [], columns: [], wider: 1 };
const NOTHING_HIDDEN = { w: 0, k: 0, xSq: 0, ct: 0 };

/** The rank of the outer commitments, and the output with the errors of their cuts and with x. */
function outerOf(baseSq: number, outers: number, cut: number, margin: number, w: number) {
  let kappa1 = 6;
  let outSq = 0;
  let sent = messages(kappa1, cut, w, outers === 3);
  for (let again = 0; again < 3; again++) {
    outSq = margin * (baseSq + D * outers * kappa1 * cutVariance(cut) + sent.sq);
    kappa1 = minRank(4 * GAMMA_SQ * outSq);
    if (kappa1 > MOST_KAPPA1) break;
    sent = messages(kappa1, cut, w, outers === 3);
  }
  return { kappa1, outSq, sent };
}

/**
 * Steps by which the table of g is wider where squares of z meet, by the number of levels before
 * the tail. A signature whose energy stands in a few coefficients makes z of level 0 a few
 * multiples of challenges, and its square many times what a Gaussian's would be; every fold spreads
 * that.
 */
const ROOM_FOR_G = [0, 24, 8];

/** The tables of g, for every pair but the last, and their bits. */
function garbageCodes(shape: Shape, levels: number) {
  const { r, nus } = shape;
  const rowsOfZ = nus.slice(0, -1).reduce((a, b) => a + b, 0);
  const room = ROOM_FOR_G[levels] ?? 0;
  const variances = pairVariances(shape);
  const codesG: number[] = [];
  let bits = 0;
  for (let a = 0; a < r; a++) {
    for (let b = a; b < r && codesG.length < variances.length - 1; b++) {
      const variance = variances[codesG.length]!;
      const code = indexOf(variance) + (b < rowsOfZ ? room : 0);
      bits += D * expectedBits(variance, code);
      codesG.push(code);
    }
  }
  return { codesG, bits };
}

/** The index of columns of z: none that holds what is not 16 bits long. */
export const indexOfZ = (variance: number): number => indexOf(variance, lastIndexWithin(Z_BITS));
/** Columns with larger variances would have values without a code: 11 deviations are 2^15. */
const MOST_VARIANCE_OF_Z = 2 ** 23;

const bitsOfZ = (columns: readonly Run[], wider: number): number =>
  columns.reduce((sum, { length, variance }) => {
    return sum + D * length * expectedBits(variance, indexOfZ(wider * variance));
  }, 0);

/** What a tail comes after: items of the chain, and levels. */
export interface Before {
  readonly count: number;
  readonly levels: number;
}

/** The last level: t, g and h in clear, z without digits. */
export function tailLevel(
  shape: Shape,
  cut: number,
  bound: number,
  room: number,
  before: Before,
): Level | undefined {
  const { n, r, columns, nus } = shape;
  const varZ = varianceOfZ(shape);
  if (r < 2 || cut < 4 || cut > 15) return undefined;
  if (columns.some(({ variance }) => variance > MOST_VARIANCE_OF_Z)) return undefined;
  const pairs = (r * (r + 1)) / 2;
  // the last row is not cut: its t is only sealed
  const cutRows = r - 1;
  const varE = cutRows * TAU * cutVariance(cut);
  const codeE = indexOf(varE);
  if (codeE > lastIndexWithin(E_BITS)) return undefined;
  const margin = isFew(before) ? FEW.marginSq : TAIL_MARGIN_SQ;
  const wider = isFew(before) ? FEW.wider : 1;
  const least = minRank(64 * T_SQ * margin * D * n * varZ);
  for (let kappa = least; kappa < MOST_KAPPA; kappa++) {
    const errorSq = MARGIN_SQ * normSqOfCut(cutRows, kappa, cut);
    const inSq = bound + errorSq;
    if (inSq > room) return undefined;
    const outSq = margin * D * (n * varZ + kappa * varE);
    const innerA = 64 * T_SQ * outSq;
    const innerB = (2 * Math.sqrt(outSq) + 2 * T * Math.sqrt(r * GAMMA_SQ * inSq)) ** 2;
    if (!secure(kappa, Math.max(innerA, innerB))) continue;
    const g = garbageCodes(shape, before.levels);
    const bits =
      cutRows * kappa * D * (LOG2_Q - cut) +
      g.bits +
      2 * FIELD_BITS +
      (pairs - 2) * D * LOG2_Q +
      512 +
      projectionBits(inSq) +
      LIFT_BITS +
      BYTE_BITS +
      bitsOfZ(columns, wider) +
      kappa * D * expectedBits(varE, codeE);
    return {
      ...{ n, rows: nus, r, f: 1, b: 0, fu: 1, bu: 0, fg: 1, bg: 0, kappa, kappa1: 0, m: 0 },
      ...{ ...NOTHING_HIDDEN, cut, inSq, outSq, errorSq, tail: true, bits, parts: [], room: 0 },
      codeE,
      codesG: g.codesG,
      columns,
      wider,
    };
  }
  return undefined;
}
