/**
 * Rows of shorter commitments, docs/decisions/0058: a level may commit to the digits of its
 * messages (w, k, X, tX) and cut its inner commitments (ct). These five numbers stand behind those
 * of an ordinary level. Today's table has none of them: its levels are read as with w = ct = 0.
 */

import {
  type OrdinaryLevel,
  type Parameters,
  readRow,
  type TableRow,
} from '../../src/aggregate/parameters/rows.ts';
import { D, FIRST_LIFTS, LIFTS, LOG2_Q } from './constants.ts';
import { digitSq, type Run } from './moments.ts';

export interface ShorterLevel extends OrdinaryLevel {
  /** bits of a digit of a hidden message; 0: messages are sent */
  readonly w: number;
  /** rows in quarters that stand for a message */
  readonly quarters: number;
  /** largest squared norm of x, and the index of the code of y_x */
  readonly hiddenSq: number;
  readonly codeX: number;
  /** low bits dropped from t */
  readonly cutT: number;
  /** polynomials of x */
  readonly hidden: number;
}

export interface ShorterParameters extends Parameters {
  readonly levels: readonly ShorterLevel[];
}

/** Numbers of an ordinary level of today's table. */
const PLAIN = 13;

export const isShorter = ([, , levels]: TableRow): boolean =>
  levels.slice(0, -1).some((level) => level.length > PLAIN);

export const digitCount = (bits: number, w: number): number => Math.ceil(bits / w);
/** Digits of t: h has fu of them, and t as many as are left of it. */
export const digitsOfT = (bu: number, cutT: number): number => digitCount(LOG2_Q - cutT, bu);

/** Polynomials of every message that a level hides, with the bits of a coefficient. */
export function messagesOf(isFirst: boolean, kappa1: number, cut: number) {
  const outer = { length: kappa1, bits: LOG2_Q - cut };
  const lifts = { length: isFirst ? FIRST_LIFTS : LIFTS, bits: LOG2_Q };
  return isFirst ? [outer, outer, lifts, outer] : [outer, lifts, outer];
}

/** The digits of all hidden messages, as runs: in each the top digits are the last ones. */
export function hiddenRuns(messages: ReturnType<typeof messagesOf>, w: number): Run[] {
  return messages.flatMap(({ length, bits }) => {
    const low = digitCount(bits, w) - 1;
    const top = digitSq(bits - low * w);
    return [
      { length: length * low, variance: digitSq(w), mean: -0.5 },
      { length, variance: top, mean: 0 },
    ];
  });
}

/** Mean of the fourth powers of a balanced digit, the ends of its range half each. */
function digitFourth(b: number): number {
  const half = 2 ** (b - 1);
  let sum = half ** 4;
  for (let d = 1 - half; d < half; d++) sum += d ** 4;
  return sum / (2 * half);
}

/** A bound of ||x||^2 this many standard deviations above the mean fails for no honest prover. */
const DEVIATIONS = 8;

/** The bound X of the squared norm of x. */
export function hiddenBound(messages: ReturnType<typeof messagesOf>, w: number): number {
  let mean = 0;
  let variance = 0;
  const add = (length: number, b: number): void => {
    mean += D * length * digitSq(b);
    variance += D * length * (digitFourth(b) - digitSq(b) ** 2);
  };
  for (const { length, bits } of messages) {
    const low = digitCount(bits, w) - 1;
    add(length * low, w);
    add(length, bits - low * w);
  }
  return Math.ceil(mean + DEVIATIONS * Math.sqrt(variance));
}

/** A row with its shapes; `readRow` of a row of today's table, with zeros. */
export function readShorter(row: TableRow): ShorterParameters {
  const plain = readRow(row);
  let { lengths } = plain.levels[0]!;
  const cutInto = (n: number) => {
    const rows = lengths.map((length) => Math.ceil(length / n));
    const r = rows.reduce((a, b) => a + b, 0);
    return { n, lengths, rows, r, pairs: (r * (r + 1)) / 2 };
  };
  const levels = plain.levels.map((level, index): ShorterLevel => {
    const [w = 0, quarters = 0, hiddenSq = 0, codeX = 0, cutT = 0] = row[2][index]!.slice(
      PLAIN,
    ) as number[];
    const { n, f, fu, bu, fg, kappa, kappa1, cut } = level;
    const shape = cutInto(n);
    const messages = w === 0 ? [] : messagesOf(index === 0, kappa1, cut);
    const hidden = messages.reduce((sum, one) => sum + one.length * digitCount(one.bits, w), 0);
    const t = (cutT === 0 ? fu : digitsOfT(bu, cutT)) * shape.r * kappa;
    const errors = (cut === 0 ? 0 : (index === 0 ? 3 : 2) * kappa1) + (cutT === 0 ? 0 : f * kappa);
    const m = hidden + t + (fg + fu) * shape.pairs + errors;
    lengths = [...new Array<number>(f).fill(n), m];
    return { ...level, ...shape, m, w, quarters, hiddenSq, codeX, cutT, hidden };
  });
  return { ...plain, levels, tail: { ...plain.tail, ...cutInto(plain.tail.n) } };
}
