/** Encodes fields in the Gaussian code (docs/protocol.md, 11.2). */
import { concat } from '../../../shared/bytes.ts';
import { CodeWriter } from '../../gaussianCoder.ts';
import { BitWriter } from '../bits.ts';
import {
  type CodedRun,
  countOf,
  hasCode,
  lowBytes,
  modelOfCode,
  NO_CHECK,
  shiftOf,
} from '../gaussianFields.ts';

/** Returns whether all values have a code. */
export function fitsCodes(values: ArrayLike<number>, runs: readonly CodedRun[]): boolean {
  let at = 0;
  for (const { count, code } of runs) {
    for (const end = at + count; at < end; at++) if (!hasCode(values[at]!, code)) return false;
  }
  return true;
}

/**
 * Encodes one field of integers below 2^47 in magnitude.
 *
 * @returns undefined if a value has no code
 */
export function encodeGaussian(
  values: ArrayLike<number>,
  runs: readonly CodedRun[],
): Uint8Array | undefined {
  if (!fitsCodes(values, runs)) return undefined;
  const highs = new Int16Array(countOf(runs));
  const lows = new BitWriter(lowBytes(runs));
  let at = 0;
  for (const { count, code } of runs) {
    const shift = shiftOf(code);
    const unit = 2 ** shift;
    for (const end = at + count; at < end; at++) {
      const high = Math.floor(values[at]! / unit);
      highs[at] = high;
      if (shift > 0) lows.write(values[at]! - high * unit, shift);
    }
  }
  const writer = new CodeWriter(highs.length, NO_CHECK);
  for (const { count, code } of runs.toReversed()) {
    writer.write(modelOfCode(code), highs.subarray(at - count, at));
    at -= count;
  }
  return concat(writer.finish(), lows.finish());
}
