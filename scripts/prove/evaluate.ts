/** The concrete meaning of each operation on terms, after the WebAssembly specification. */

/** The signed value of the lowest bits. */
export const signed = (width: number, value: bigint): bigint => BigInt.asIntN(width, value);
/** The unsigned value of the lowest bits. */
export const unsigned = (width: number, value: bigint): bigint => BigInt.asUintN(width, value);

export const lowest = (width: number): bigint => -(1n << BigInt(width - 1));
export const highest = (width: number): bigint => (1n << BigInt(width - 1)) - 1n;
/** The least of some values. */
export function least(...values: bigint[]): bigint {
  let result = values[0]!;
  for (const value of values) if (value < result) result = value;
  return result;
}
/** The greatest of some values. */
export function most(...values: bigint[]): bigint {
  let result = values[0]!;
  for (const value of values) if (value > result) result = value;
  return result;
}

const mask = (condition: boolean): bigint => (condition ? -1n : 0n);
const clamp = (value: bigint, low: bigint, high: bigint): bigint => most(low, least(high, value));

type Meaning = (
  width: number,
  a: readonly bigint[],
  immediate: number,
  argumentWidth: number,
) => bigint;

/** Leading, trailing, and all ones. */
const count = {
  clz: (w: number, x: bigint) => BigInt(x === 0n ? w : w - x.toString(2).length),
  ctz: (w: number, x: bigint) => BigInt(x === 0n ? w : (x & -x).toString(2).length - 1),
  popcnt: (_: number, x: bigint) => BigInt(x.toString(2).replaceAll('0', '').length),
};

const q15 = (x: bigint, y: bigint): bigint => least((x * y + 16384n) >> 15n, 32767n);

const MEANINGS: Record<string, Meaning> = {
  add: (w, [x, y]) => signed(w, x! + y!),
  sub: (w, [x, y]) => signed(w, x! - y!),
  mul: (w, [x, y]) => signed(w, x! * y!),
  and: (_, [x, y]) => x! & y!,
  or: (_, [x, y]) => x! | y!,
  xor: (_, [x, y]) => x! ^ y!,
  bitselect: (_, [x, y, c]) => (x! & c!) | (y! & ~c!),
  shl: (w, [x], k) => signed(w, x! << BigInt(k)),
  shr_s: (_, [x], k) => x! >> BigInt(k),
  rotl: (w, [x], k) =>
    signed(w, (unsigned(w, x!) << BigInt(k)) | (unsigned(w, x!) >> BigInt(w - k))),
  eq: (_, [x, y]) => mask(x === y),
  ne: (_, [x, y]) => mask(x !== y),
  lt_s: (_, [x, y]) => mask(x! < y!),
  le_s: (_, [x, y]) => mask(x! <= y!),
  lt_u: (_, [x, y], __, v) => mask(unsigned(v, x!) < unsigned(v, y!)),
  le_u: (_, [x, y], __, v) => mask(unsigned(v, x!) <= unsigned(v, y!)),
  min_s: (_, [x, y]) => least(x!, y!),
  max_s: (_, [x, y]) => most(x!, y!),
  min_u: (w, [x, y]) => signed(w, least(unsigned(w, x!), unsigned(w, y!))),
  max_u: (w, [x, y]) => signed(w, most(unsigned(w, x!), unsigned(w, y!))),
  abs: (w, [x]) => signed(w, x! < 0n ? -x! : x!),
  q15: (_, [x, y]) => q15(x!, y!),
  relaxedQ15: (_, [x, y]) => q15(x!, y!),
  dot: (_, [a, b, c, d]) => signed(32, a! * b! + c! * d!),
  narrow_s: (w, [x]) => clamp(x!, lowest(w), highest(w)),
  narrow_u: (w, [x]) => signed(w, clamp(x!, 0n, (1n << BigInt(w)) - 1n)),
  resize: (_, [x]) => x!,
  // The same value, of which nothing but its bounds is recorded.
  name: (_, [x]) => x!,
  // The bits from k % 128 up to k / 128, as an unsigned or a signed number.
  field: (_, [x], k) => unsigned(Math.floor(k / 128) - (k % 128), x! >> BigInt(k % 128)),
  signedField: (_, [x], k) => signed(Math.floor(k / 128) - (k % 128), x! >> BigInt(k % 128)),
  concat: (w, [x, y]) => signed(w, unsigned(w / 2, x!) | (y! << BigInt(w / 2))),
  select: (_, [c, x, y]) => (c !== 0n ? x! : y!),
  bool: (_, [x]) => (x !== 0n ? 1n : 0n),
  clz: (w, [x]) => count.clz(w, unsigned(w, x!)),
  ctz: (w, [x]) => count.ctz(w, unsigned(w, x!)),
  popcnt: (w, [x]) => count.popcnt(w, unsigned(w, x!)),
  div_u: (w, [x, y]) => signed(w, unsigned(w, x!) / unsigned(w, y!)),
  rem_u: (w, [x, y]) => signed(w, unsigned(w, x!) % unsigned(w, y!)),
  div_s: (w, [x, y]) => signed(w, x! / y!),
  rem_s: (_, [x, y]) => x! % y!,
  // The remainder of rule Q, of the quotient's operands.
  remainder: (_, [x, y]) => unsigned(15, x! * y! + 16384n) - 16384n,
};

/** Whether the operation has a meaning; operations on floating point have none. */
export const isKnown = (op: string): boolean => Object.hasOwn(MEANINGS, op);

/** @returns the signed value of an operation on constants */
export function evaluate(
  op: string,
  width: number,
  values: readonly bigint[],
  immediate: number,
  argumentWidth: number,
): bigint {
  const meaning = MEANINGS[op];
  if (meaning === undefined) throw new Error(`${op} has no meaning`);
  return meaning(width, values, immediate, argumentWidth);
}
