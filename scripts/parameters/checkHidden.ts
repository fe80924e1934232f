/**
 * The last five numbers of an ordinary level: hidden messages, w, k, X and tX, and cut inner
 * commitments, ct (docs/protocol.md, 3). What X and tX mean for the projection of x is in
 * checkProjections.ts, what k withstands in binding.ts.
 */
import type { OrdinaryLevel } from '../../src/aggregate/parameters/rows.ts';
import type { Fail } from './checkProjections.ts';
import { D, DEVIATIONS_OF_X, LEAST_QUARTERS, LOG2_Q } from './constants.ts';

/** Most bits of a digit. */
const MOST_BITS = 6;
/** The largest index of y_x: its values are integers of 32 bits. */
const MOST_CODE_OF_X = 183;

export function checkHidden(level: OrdinaryLevel, index: number, fail: Fail): void {
  const { w, k, xSq, codeX, ct } = level;
  const name = `level ${index}`;
  if (ct !== 0 && (ct < 4 || ct > 15)) fail(`${name}: ct`, '3.7');
  // W and Y are not projected, so nothing would bound their errors
  if (ct !== 0 && index === 0) fail(`${name}: inner commitments are cut`, '5.7');
  if (w === 0) {
    if (k !== 0 || xSq !== 0 || codeX !== 0)
      fail(`${name}: nothing is hidden, but has k, X, tX`, 'p. 3');
    return;
  }
  if (w < 2 || w > MOST_BITS) {
    fail(`${name}: digits of messages`, '3.7');
    return;
  }
  if (k < LEAST_QUARTERS) fail(`${name}: fewer than ${LEAST_QUARTERS} rows in quarters`, '3.7');
  if (xSq < 1 || xSq >= 2 ** 43) fail(`${name}: X`, 'p. 11.1');
  if (codeX > MOST_CODE_OF_X) fail(`${name}: tX`, 'p. 3');
  if (!hasRoom(level)) fail(`${name}: X has no room for honest digits`, '8');
}

/** 2^MOST_BITS times the mean square, and 4^MOST_BITS times the variance of squares, of a digit. */
function momentsOf(bits: number): [square: bigint, variance: bigint] {
  // all from -half to half, the two ends half as often as the others
  const half = 1n << BigInt(bits - 1);
  let squares = half ** 2n;
  let fourths = half ** 4n;
  for (let d = 1n; d < half; d++) {
    squares += 2n * d ** 2n;
    fourths += 2n * d ** 4n;
  }
  const scale = 1n << BigInt(MOST_BITS - bits);
  const square = scale * squares;
  return [square, (scale << BigInt(MOST_BITS)) * fourths - square ** 2n];
}

/** Whether X is DEVIATIONS_OF_X standard deviations above the mean of ||x||^2. */
function hasRoom({ w, cut, messages, xSq }: OrdinaryLevel): boolean {
  let mean = 0n;
  let variance = 0n;
  const add = (polynomials: number, bits: number): void => {
    const [square, ofSquares] = momentsOf(bits);
    mean += BigInt(D * polynomials) * square;
    variance += BigInt(D * polynomials) * ofSquares;
  };
  for (const { isLifts, polynomials, digits } of messages) {
    add(polynomials * (digits - 1), w);
    add(polynomials, (isLifts ? LOG2_Q : LOG2_Q - cut) - w * (digits - 1));
  }
  const above = (BigInt(xSq) << BigInt(MOST_BITS)) - mean;
  return above >= 0n && above ** 2n >= BigInt(DEVIATIONS_OF_X) ** 2n * variance;
}
