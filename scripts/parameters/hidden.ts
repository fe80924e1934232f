/**
 * What hidden messages and cut inner commitments (docs/protocol.md, 6.2 and 6.4) add to an output,
 * as the search knows it: the moments of x, the digits of the messages, and of the errors e.
 */
import { D, DEVIATIONS_OF_X, FIRST_LIFTS, LIFTS, LOG2_Q, TAU } from './constants.ts';
import { cutVariance, digitSq, type Run, roundedSq } from './moments.ts';

export const digitCount = (bits: number, w: number): number => Math.ceil(bits / w);
/** Digits of t: h has as many as 44 bits need, and t as many as are left of them. */
export const digitsOfT = (bu: number, ct: number): number => digitCount(LOG2_Q - ct, bu);

/** Polynomials of a message, and the bits of a coefficient. */
export interface Message {
  readonly length: number;
  readonly bits: number;
}

/** The messages that a level hides, in order. */
export function messagesOf(isFirst: boolean, kappa1: number, cut: number): Message[] {
  const outer = { length: kappa1, bits: LOG2_Q - cut };
  const lifts = { length: isFirst ? FIRST_LIFTS : LIFTS, bits: LOG2_Q };
  return isFirst ? [outer, outer, lifts, outer] : [outer, lifts, outer];
}

/** x as runs: the top digits of every message are its last ones. */
export function runsOfX(messages: readonly Message[], w: number): Run[] {
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

/** Mean and standard deviation of ||x||^2, over uniform messages. */
export function momentsOfX(messages: readonly Message[], w: number) {
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
  return { mean, deviation: Math.sqrt(variance) };
}

/** The bound X of the squared norm of x. */
export function boundOfX(messages: readonly Message[], w: number): number {
  const { mean, deviation } = momentsOfX(messages, w);
  return Math.ceil(mean + DEVIATIONS_OF_X * deviation);
}

/** Expected squared norm of what is cut off t, for r rows. */
export const normSqOfCut = (r: number, kappa: number, ct: number): number =>
  D * r * kappa * cutVariance(ct);

/** Digits of e, the sum of c_a e_a over r rows: those that z has. */
export interface DigitsOfE {
  readonly r: number;
  readonly f: number;
  readonly b: number;
  readonly ct: number;
}

/** The variance of the top digits of e. */
export const topOfE = ({ r, f, b, ct }: DigitsOfE): number =>
  roundedSq((TAU * r * cutVariance(ct)) / 4 ** (b * (f - 1)));

/** The digits of e as runs; none if nothing is cut. */
export function runsOfE(digits: DigitsOfE, kappa: number): Run[] {
  const { r, f, b, ct } = digits;
  if (ct === 0) return [];
  const variance = topOfE(digits);
  return [
    ...(f > 1 ? [{ length: kappa * (f - 1), variance: digitSq(b), mean: -0.5 }] : []),
    // not Gaussian: every column has the same challenges (moments.ts)
    { length: kappa, variance, mean: 0, excess: variance ** 2 / r },
  ];
}
