/**
 * Inflates the modules that the small entries embed deflated. Base64 hides from a host's own
 * compression what repeats in a module, so it is removed before. Synchronous, which the host's
 * `DecompressionStream` is not.
 *
 * Source: RFC 1951. Reads our own data only, and checks nothing.
 */

import { fromBase64 } from './moduleEdits.ts';

/** A canonical Huffman code: how many words have each length, and the symbols in order. */
interface Code {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

/** Where lengths and distances start, and their extra bits (RFC 1951, 3.2.5). */
const LENGTH_EXTRA = extraBits(28, 4, 4);
const LENGTHS = starts(3, LENGTH_EXTRA);
const DISTANCE_EXTRA = extraBits(30, 2, 2);
const DISTANCES = starts(1, DISTANCE_EXTRA);
/** Order of the code length code's lengths (3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** `first` zeros twice over, then each number of bits `group` times. */
function extraBits(count: number, first: number, group: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.max(0, Math.floor((i - first) / group)));
}

/** Every start is the one before plus the values that its extra bits distinguish. */
function starts(first: number, extra: readonly number[]): number[] {
  let next = first;
  return extra.map((bits) => {
    const start = next;
    next += 1 << bits;
    return start;
  });
}

/** The code with these lengths of words, by symbol. */
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

/**
 * @param text one deflated stream, in base64
 * @param length how many bytes it inflates to
 * @param dictionary bytes that the stream refers to as if they came before it
 */
export function inflate(
  text: string,
  length: number,
  dictionary: Uint8Array = new Uint8Array(0),
): Uint8Array<ArrayBuffer> {
  const data = fromBase64(text);
  const out = new Uint8Array(dictionary.length + length);
  out.set(dictionary);
  let end = dictionary.length;
  let at = 0;
  let held = 0;
  let count = 0;

  const bits = (wanted: number): number => {
    while (count < wanted) {
      held |= data[at++]! << count;
      count += 8;
    }
    const value = held & ((1 << wanted) - 1);
    held >>>= wanted;
    count -= wanted;
    return value;
  };
  const symbol = ({ counts, symbols }: Code): number => {
    let word = 0;
    let first = 0;
    let index = 0;
    for (let size = 1; ; size++) {
      word = (word << 1) | bits(1);
      const here = counts[size]!;
      if (word - first < here) return symbols[index + word - first]!;
      index += here;
      first = (first + here) << 1;
    }
  };
  /** The two codes of a block with codes of its own (3.2.7). */
  const readCodes = (): [Code, Code] => {
    const literals = bits(5) + 257;
    const all = literals + bits(5) + 1;
    const used = bits(4) + 4;
    const small = new Uint8Array(19);
    for (let i = 0; i < used; i++) small[ORDER[i]!] = bits(3);
    const code = codeOf(small);
    const lengths = new Uint8Array(all);
    for (let i = 0; i < all; ) {
      const next = symbol(code);
      if (next < 16) {
        lengths[i++] = next;
      } else {
        const value = next === 16 ? lengths[i - 1]! : 0;
        const times = next === 16 ? 3 + bits(2) : next === 17 ? 3 + bits(3) : 11 + bits(7);
        lengths.fill(value, i, i + times);
        i += times;
      }
    }
    return [codeOf(lengths.subarray(0, literals)), codeOf(lengths.subarray(literals))];
  };
  const readBlock = ([literal, distance]: [Code, Code]): void => {
    for (;;) {
      const next = symbol(literal);
      if (next < 256) {
        out[end++] = next;
      } else if (next === 256) {
        return;
      } else {
        const run = next === 285 ? 258 : LENGTHS[next - 257]! + bits(LENGTH_EXTRA[next - 257]!);
        const back = symbol(distance);
        let from = end - DISTANCES[back]! - bits(DISTANCE_EXTRA[back]!);
        for (const stop = end + run; end < stop; ) out[end++] = out[from++]!;
      }
    }
  };
  const readStored = (): void => {
    held = count = 0;
    const size = data[at]! | (data[at + 1]! << 8);
    out.set(data.subarray(at + 4, at + 4 + size), end);
    at += 4 + size;
    end += size;
  };

  for (let isLast = 0; isLast === 0; ) {
    isLast = bits(1);
    const kind = bits(2);
    if (kind === 0) readStored();
    else readBlock(kind === 1 ? fixedCodes() : readCodes());
  }
  return out.slice(dictionary.length);
}

/** The codes of 3.2.6. */
function fixedCodes(): [Code, Code] {
  const lengths = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280);
  return [codeOf(lengths), codeOf(new Uint8Array(30).fill(5))];
}
