/** Sums of some numbers modulo another, by the meeting of two halves. */

/** All sums of a subset, modulo q; sum number i is of the numbers at the bits of i. */
function sumsOf(numbers: readonly number[], q: number): Float64Array {
  const sums = new Float64Array(2 ** numbers.length);
  for (const [j, x] of numbers.entries()) {
    for (let i = 0; i < 2 ** j; i++) sums[2 ** j + i] = (sums[i]! + x) % q;
  }
  return sums;
}

/**
 * Which numbers, together with `start`, sum to a value from `least` to `most` modulo q. There has to
 * be room: of 40 numbers, 2^40 (most - least + 1) / q sums are as wanted.
 *
 * @throws RangeError if none are
 */
export function nearSubset(
  numbers: readonly number[],
  start: number,
  { least, most }: { least: number; most: number },
  q: number,
): Set<number> {
  const half = numbers.length >> 1;
  const first = sumsOf(numbers.slice(0, half), q);
  const second = sumsOf(numbers.slice(half), q);
  const sorted = second.toSorted();
  for (const [i, sum] of first.entries()) {
    const from = (((least - start - sum) % q) + 2 * q) % q;
    let [below, end] = [0, sorted.length];
    while (below < end) {
      const middle = (below + end) >> 1;
      if (sorted[middle]! < from) below = middle + 1;
      else end = middle;
    }
    const found = sorted[below];
    if (found === undefined || found > from + most - least) continue;
    const bits = [i, second.indexOf(found)] as const;
    const isIn = (j: number) => (bits[j < half ? 0 : 1] >> (j < half ? j : j - half)) & 1;
    return new Set(Array.from(numbers.keys()).filter((j) => isIn(j) === 1));
  }
  throw new RangeError('no such sum');
}
