/**
 * Bounds of numbers that aren't known but don't depend on secrets: addresses and lengths within
 * public data. Operations derive them, and branches narrow them, for the values that were compared:
 * equal objects are equal numbers.
 */
import {
  least,
  most,
  type Range,
  rangeOf,
  SEEN,
  type Test,
  Unknown,
  type Value,
} from './worlds.ts';

/** A number within bounds. */
export const within = ([low, high]: Range): bigint | Unknown =>
  low === high ? low : new Unknown(0n, [low, high]);

/** The result of an operation on numbers without secrets, signed and of so many bits. */
export function bounded(width: number, name: string, a: Value, b?: Value): bigint | Unknown {
  if (COMPARISON.test(name)) return compared({ name, a, b: b! });
  if (name === 'eqz') {
    const test = (a as Partial<Unknown>).test ?? { name: 'ne', a, b: 0n };
    return compared({ ...test, name: OPPOSITE[test.name]! });
  }
  const range = boundsOf(width, name, rangeOf(a), rangeOf(b));
  const limit = 1n << BigInt(width - 1);
  return range !== undefined && range[0] >= -limit && range[1] < limit ? within(range) : SEEN;
}

function boundsOf(width: number, name: string, a?: Range, b?: Range): Range | undefined {
  if (/^(popcnt|c[lt]z)$/.test(name)) return [0n, BigInt(width)];
  if (/^(wrap_i64|extend_i32_s)$/.test(name)) return a;
  if (name === 'extend_i32_u') return a !== undefined && a[0] >= 0n ? a : [0n, 0xffff_ffffn];
  if (name === 'and') {
    const masks = [a, b].filter((one) => one !== undefined && one[0] >= 0n).map((one) => one![1]);
    return masks.length === 0 ? undefined : [0n, masks.reduce(least)];
  }
  if (a === undefined || b === undefined) return undefined;
  const count = b[0] === b[1] ? BigInt.asUintN(width === 64 ? 6 : 5, b[0]) : undefined;
  switch (name) {
    case 'add':
      return [a[0] + b[0], a[1] + b[1]];
    case 'sub':
      return [a[0] - b[1], a[1] - b[0]];
    case 'or':
    case 'xor': {
      const [low, top] = [[...a, ...b].reduce(least), [...a, ...b].map(powerAbove).reduce(most)];
      return [low < 0n ? -top : 0n, top - 1n];
    }
    case 'shl':
      return count === undefined ? undefined : [a[0] << count, a[1] << count];
    case 'shr_s':
    case 'shr_u':
      if (count === undefined || (name === 'shr_u' && a[0] < 0n)) return undefined;
      return [a[0] >> count, a[1] >> count];
    default:
      return undefined;
  }
}

/** The least power of two above a number, or above that of which it is the complement. */
const powerAbove = (value: bigint): bigint =>
  1n << BigInt((value < 0n ? ~value : value).toString(2).length);

const COMPARISON = /^(eq|ne|[lg][te]_[su])$/;
const OPPOSITE: Readonly<Record<string, string>> = {
  ...{ eq: 'ne', ne: 'eq', lt_s: 'ge_s', ge_s: 'lt_s', gt_s: 'le_s', le_s: 'gt_s' },
  ...{ lt_u: 'ge_u', ge_u: 'lt_u', gt_u: 'le_u', le_u: 'gt_u' },
};
/** The comparison with the operands exchanged. */
const mirrored = (name: string): string =>
  name.replace(/^[lg]/, (letter) => (letter === 'l' ? 'g' : 'l'));

/** The bounds of both operands, if a comparison of the signed numbers is what is meant. */
function rangesOf({ name, a, b }: Test): readonly [Range, Range] | undefined {
  const [first, second] = [rangeOf(a), rangeOf(b)];
  if (first === undefined || second === undefined) return undefined;
  const isRight = !name.endsWith('_u') || (first[0] >= 0n && second[0] >= 0n);
  return isRight ? [first, second] : undefined;
}

/** The result of a comparison, if the bounds decide it; otherwise a number that knows of it. */
function compared(test: Test): bigint | Unknown {
  const ranges = rangesOf(test);
  if (ranges !== undefined) {
    if (narrowed(test.name, ...ranges) === undefined) return 0n;
    if (narrowed(OPPOSITE[test.name]!, ...ranges) === undefined) return 1n;
  }
  return new Unknown(0n, [0n, 1n], test);
}

/** The bounds of a number that compares so with one within others. @returns undefined for none */
function narrowed(name: string, [low, high]: Range, [least_, most_]: Range): Range | undefined {
  const range = ((): Range => {
    switch (name.slice(0, 2)) {
      case 'lt':
        return [low, least(high, most_ - 1n)];
      case 'le':
        return [low, least(high, most_)];
      case 'gt':
        return [most(low, least_ + 1n), high];
      case 'ge':
        return [most(low, least_), high];
      case 'eq':
        return [most(low, least_), least(high, most_)];
      default: {
        const only = least_ === most_ ? least_ : undefined;
        return [low === only ? low + 1n : low, high === only ? high - 1n : high];
      }
    }
  })();
  return range[0] > range[1] ? undefined : range;
}

/** Narrows the bounds of what a branch has compared, wherever it is in some lists. */
export function narrow(lists: readonly Value[][], condition: Unknown, holds: boolean): void {
  const { test } = condition;
  const ranges = test && rangesOf(test);
  if (test === undefined || ranges === undefined) return;
  const name = holds ? test.name : OPPOSITE[test.name]!;
  const [first, second] = ranges;
  for (const [value, range] of [
    [test.a, narrowed(name, first, second)],
    [test.b, narrowed(mirrored(name), second, first)],
  ] as const) {
    if (!(value instanceof Unknown) || range === undefined) continue;
    const next = within(range);
    for (const list of lists) {
      list.forEach((one, i) => {
        if (one === value) list[i] = next;
      });
    }
  }
}
