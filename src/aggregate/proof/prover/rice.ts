/** Rice codes (docs/protocol.md, 11). */
import { BitWriter } from '../bits.ts';
import { MAX_QUOTIENT } from '../constants.ts';

const zigzag = (x: number): number => (x >= 0 ? 2 * x : -2 * x - 1);

/** Whether an integer has a code with parameter k. */
export function fitsRice(x: number, k: number): boolean {
  return Math.floor(zigzag(x) / 2 ** k) <= MAX_QUOTIENT;
}

/**
 * One field of integers below 2^47 in magnitude.
 *
 * @param parameterOf the parameter k of the value at an index
 * @returns undefined if a value has no code
 */
export function encodeRice(
  values: ArrayLike<number>,
  parameterOf: (index: number) => number,
): Uint8Array | undefined {
  const writer = new BitWriter(2 * values.length);
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!;
    const k = parameterOf(i);
    if (!fitsRice(x, k)) return undefined;
    const number = zigzag(x);
    const quotient = Math.floor(number / 2 ** k);
    writer.write(2 ** quotient - 1, quotient + 1); // ones, then a zero
    writer.write(number % 2 ** k, k);
  }
  return writer.finish();
}
