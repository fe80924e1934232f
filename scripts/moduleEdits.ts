/**
 * Writes one build of a module as edits of another; `src/shared/moduleEdits.ts` describes the
 * format.
 */
import { applyEdits } from '../src/shared/moduleEdits.ts';

/** The number of equal bytes after which two places count as the same. */
const AGREE = 12;
/** The largest distance to search after a difference. */
const WINDOW = 20_000;

/** LEB128 */
function numberBytes(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...numberBytes(value >> 7)];
}

/** @returns edits that turn `from` into `to`; short if the two are similar */
export function editsBetween(from: Uint8Array, to: Uint8Array): Uint8Array<ArrayBuffer> {
  const edits: number[] = [];
  let [a, b] = [0, 0];
  while (b < to.length) {
    const keep = agreeing(from, to, a, b, Number.POSITIVE_INFINITY);
    a += keep;
    b += keep;
    const [drop, insert] = nextAgreement(from, to, a, b);
    edits.push(...numberBytes(keep), ...numberBytes(drop), ...numberBytes(insert));
    edits.push(...to.subarray(b, b + insert));
    a += drop;
    b += insert;
  }
  const bytes = Uint8Array.from(edits);
  if (Buffer.compare(applyEdits(from, bytes), to) !== 0) throw new Error('wrong edits');
  return bytes;
}

/** How many bytes agree from two places on, up to a limit. */
function agreeing(from: Uint8Array, to: Uint8Array, a: number, b: number, limit: number): number {
  let count = 0;
  while (count < limit && b + count < to.length && from[a + count] === to[b + count]) count++;
  return count;
}

/**
 * The smallest numbers of bytes to drop and to insert after which the two agree again; the rest of
 * both if they never do.
 */
function nextAgreement(
  from: Uint8Array,
  to: Uint8Array,
  a: number,
  b: number,
): readonly [drop: number, insert: number] {
  const [left, right] = [from.length - a, to.length - b];
  for (let both = 1; both <= Math.min(WINDOW, left + right); both++) {
    for (let drop = Math.max(0, both - right); drop <= Math.min(both, left); drop++) {
      const insert = both - drop;
      if (agreeing(from, to, a + drop, b + insert, AGREE) === AGREE) return [drop, insert];
    }
  }
  return [left, right];
}
