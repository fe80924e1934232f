/** Rice codes of the fields of a proof (docs/protocol.md, 11). */

const LARGEST_QUOTIENT = 31;

/** A bit string, least significant bit of a byte first. */
export class RiceWriter {
  #bytes = new Uint8Array(1024);
  #bits = 0;

  /** Every value with parameter k; false if one has no code. */
  write(values: Iterable<bigint | number>, k: number): boolean {
    const divisor = 2 ** k;
    for (const value of values) {
      const x = Number(value);
      const zigzag = x >= 0 ? 2 * x : -2 * x - 1;
      const quotient = Math.floor(zigzag / divisor);
      if (quotient > LARGEST_QUOTIENT) return false;
      this.#put(2 ** quotient - 1, quotient + 1);
      this.#put(zigzag - quotient * divisor, k);
    }
    return true;
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, (this.#bits + 7) >> 3);
  }

  /** A value of at most 52 bits. */
  #put(value: number, width: number): void {
    if (this.#bits + width + 8 > 8 * this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#bytes.length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    let rest = value;
    for (let left = width; left > 0; ) {
      const used = this.#bits & 7;
      const take = Math.min(8 - used, left);
      const low = rest % 2 ** take;
      this.#bytes[this.#bits >> 3]! |= low << used;
      rest = (rest - low) / 2 ** take;
      this.#bits += take;
      left -= take;
    }
  }
}
