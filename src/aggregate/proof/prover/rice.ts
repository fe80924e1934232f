/** Rice codes of the fields of a proof (docs/protocol.md, 11). */
import { BitWriter, MAX_QUOTIENT } from '../encode.ts';

/** Rice codes, one after the other. */
export class RiceWriter {
  readonly #bits = new BitWriter(1024);

  /** Every value with parameter k; false if one has no code. */
  write(values: ArrayLike<bigint | number>, k: number): boolean {
    const divisor = 2 ** k;
    for (let i = 0; i < values.length; i++) {
      const x = Number(values[i]!);
      const zigzag = x >= 0 ? 2 * x : -2 * x - 1;
      const quotient = Math.floor(zigzag / divisor);
      if (quotient > MAX_QUOTIENT) return false;
      this.#bits.write(2 ** quotient - 1, quotient + 1); // ones, then a zero
      this.#bits.write(zigzag - quotient * divisor, k);
    }
    return true;
  }

  /** The bytes, when all is written. */
  bytes(): Uint8Array {
    return this.#bits.finish();
  }
}
