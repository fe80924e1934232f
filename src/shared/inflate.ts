/**
 * Inflates the deflated modules that the small entries embed. They are deflated before base64,
 * since base64 hides repetitions from the host's own compression. Synchronous, unlike the host's
 * `DecompressionStream`.
 *
 * Source: RFC 1951. For internal data only: nothing is checked.
 */
import { fromBase64 } from './moduleEdits.ts';

/** A canonical Huffman code: the number of code words of each length, and the symbols in order. */
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

/** Extra bits of lengths and distances, and their first values (RFC 1951, 3.2.5). */
const LENGTH_EXTRA = [...extraBits(28, 4, 4), 0];
const LENGTHS = starts(3, LENGTH_EXTRA);
const DISTANCE_EXTRA = extraBits(30, 2, 2);
const DISTANCES = starts(1, DISTANCE_EXTRA);
/** Order of the lengths of the code length code (3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Returns `first` zeros and `group` more, then each number of bits `group` times. */
function extraBits(count: number, first: number, group: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.max(0, Math.floor((i - first) / group)));
}

/** Returns the start values: each is the previous one plus the range of its extra bits. */
function starts(first: number, extra: readonly number[]): number[] {
  let next = first;
  return extra.map((bits) => {
    const start = next;
    next += 1 << bits;
    return start;
  });
}

/** Builds the code with these word lengths, by symbol. */
function codeOf(lengths: Uint8Array): Code {
  const counts = new Uint16Array(16);
  for (const length of lengths) counts[length]!++;
  counts[0] = 0;
  const next = new Uint16Array(17);
  for (let length = 1; length < 16; length++) next[length + 1] = next[length]! + counts[length]!;
  const symbols = new Uint16Array(lengths.length);
  for (const [symbol, length] of lengths.entries()) {
    if (length > 0) symbols[next[length]!++] = symbol;
  }
  return { counts, symbols };
}

/** Reads a deflate stream and writes its output. */
class Inflater {
  readonly #data: Uint8Array;
  readonly #out: Uint8Array<ArrayBuffer>;
  #end: number;
  #at = 0;
  #held = 0;
  #count = 0;

  constructor(data: Uint8Array, length: number, dictionary: Uint8Array) {
    this.#data = data;
    this.#end = dictionary.length;
    this.#out = new Uint8Array(this.#end + length);
    this.#out.set(dictionary);
  }

  run(): Uint8Array<ArrayBuffer> {
    const start = this.#end;
    for (let isLast = 0; isLast === 0; ) {
      isLast = this.#bits(1);
      const kind = this.#bits(2);
      if (kind === 0) this.#readStored();
      else this.#readBlock(kind === 1 ? fixedCodes() : this.#readCodes());
    }
    return this.#out.slice(start);
  }

  #bits(wanted: number): number {
    while (this.#count < wanted) {
      this.#held |= this.#data[this.#at++]! << this.#count;
      this.#count += 8;
    }
    const value = this.#held & ((1 << wanted) - 1);
    this.#held >>>= wanted;
    this.#count -= wanted;
    return value;
  }

  /** Reads a symbol. Uses local variables for speed: it runs before the engine has compiled it. */
  #symbol({ counts, symbols }: Code): number {
    const data = this.#data;
    let at = this.#at;
    let held = this.#held;
    let count = this.#count;
    let word = 0;
    let first = 0;
    let index = 0;
    for (let size = 1; ; size++) {
      if (count === 0) {
        held = data[at++]!;
        count = 8;
      }
      word |= held & 1;
      held >>>= 1;
      count--;
      const here = counts[size]!;
      if (word - first < here) break;
      index += here;
      first = (first + here) << 1;
      word <<= 1;
    }
    this.#at = at;
    this.#held = held;
    this.#count = count;
    return symbols[index + word - first]!;
  }

  /** Reads the two codes of a block with dynamic codes (3.2.7). */
  #readCodes(): [Code, Code] {
    const literals = this.#bits(5) + 257;
    const all = literals + this.#bits(5) + 1;
    const used = this.#bits(4) + 4;
    const ofLengths = new Uint8Array(19);
    for (let i = 0; i < used; i++) ofLengths[ORDER[i]!] = this.#bits(3);
    const code = codeOf(ofLengths);
    const lengths = new Uint8Array(all);
    for (let i = 0; i < all; ) {
      const next = this.#symbol(code);
      if (next < 16) {
        lengths[i++] = next;
        continue;
      }
      const value = next === 16 ? lengths[i - 1]! : 0;
      const least = next === 18 ? 11 : 3;
      const times = least + this.#bits(next === 16 ? 2 : next === 17 ? 3 : 7);
      lengths.fill(value, i, i + times);
      i += times;
    }
    return [codeOf(lengths.subarray(0, literals)), codeOf(lengths.subarray(literals))];
  }

  #readBlock([literal, distance]: [Code, Code]): void {
    const out = this.#out;
    for (;;) {
      const next = this.#symbol(literal);
      if (next === 256) return;
      if (next < 256) {
        out[this.#end++] = next;
        continue;
      }
      const extra = this.#bits(LENGTH_EXTRA[next - 257]!);
      const stop = this.#end + (next === 285 ? 258 : LENGTHS[next - 257]! + extra);
      const back = this.#symbol(distance);
      let from = this.#end - DISTANCES[back]! - this.#bits(DISTANCE_EXTRA[back]!);
      while (this.#end < stop) out[this.#end++] = out[from++]!;
    }
  }

  #readStored(): void {
    this.#held = this.#count = 0;
    const at = this.#at + 4;
    const size = this.#data[at - 4]! | (this.#data[at - 3]! << 8);
    this.#out.set(this.#data.subarray(at, at + size), this.#end);
    this.#at = at + size;
    this.#end += size;
  }
}

/** Returns the fixed codes (3.2.6). */
function fixedCodes(): [Code, Code] {
  const lengths = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280);
  return [codeOf(lengths), codeOf(new Uint8Array(30).fill(5))];
}

/**
 * @param text one deflate stream, in base64
 * @param length bytes of output
 * @param dictionary preset dictionary: bytes that the stream may refer to
 */
export function inflate(
  text: string,
  length: number,
  dictionary: Uint8Array = new Uint8Array(0),
): Uint8Array<ArrayBuffer> {
  return new Inflater(fromBase64(text), length, dictionary).run();
}
