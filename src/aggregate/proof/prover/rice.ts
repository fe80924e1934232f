/** Rice codes (docs/protocol.md, 11). */
import { BitWriter } from '../bits.ts';
import { MAX_QUOTIENT } from '../constants.ts';

/** Quotients in unary, without the zero behind them: 2^quotient - 1. */
const UNARY = Array.from({ length: MAX_QUOTIENT + 1 }, (_, quotient) => 2 ** quotient - 1);

const zigzag = (x: number): number => (x >= 0 ? 2 * x : -2 * x - 1);

/** Whether an integer has a code with parameter k. */
export function fitsRice(x: number, k: number): boolean {
  return Math.floor(zigzag(x) / 2 ** k) <= MAX_QUOTIENT;
}

/**
 * One field of integers below 2^47 in magnitude.
 *
 * @param ks the parameters, each for an equal part of the values
 * @returns undefined if a value has no code
 */
export function encodeRice(
  values: ArrayLike<number>,
  ks: readonly number[],
): Uint8Array | undefined {
  const writer = new BitWriter(2 * values.length);
  const run = values.length / ks.length;
  for (const [part, k] of ks.entries()) {
    const divisor = 2 ** k;
    for (let i = run * part; i < run * (part + 1); i++) {
      const number = zigzag(values[i]!);
      const quotient = Math.floor(number / divisor);
      if (quotient > MAX_QUOTIENT) return undefined;
      writer.write(UNARY[quotient]!, quotient + 1);
      writer.write(number - quotient * divisor, k);
    }
  }
  return writer.finish();
}
