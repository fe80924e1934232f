/**
 * The functions called by an instrumented module (test/trace/instrument.ts): for each place of its
 * code, one hash over all events there, in order. A separate memory avoids any change to the traced
 * module.
 */

/** Number of distinguishable places. */
export const PLACES: i32 = 16384;
/** u64[PLACES] */
export const HASHES: usize = memory.data(8 * 16384, 16);
/**
 * Replacements for the decisions of the sampler, u32 each, used cyclically: low half `verdict`,
 * high half `settled`.
 */
export const FORCED: usize = memory.data(4 * 4096, 16);

let forcedCount: i32 = 0;
let forcedAt: i32 = 0;

// @ts-ignore: decorator
@inline
function add(place: i32, value: u64): void {
  const at = HASHES + (<usize>place << 3);
  // an odd factor preserves the earlier events in the hash
  store<u64>(at, (load<u64>(at) + value + 1) * 0x9e3779b97f4a7c15);
}

/** Clears all hashes. */
export function restart(): void {
  memory.fill(HASHES, 0, 8 * PLACES);
}

/**
 * Forces the decisions of the first `count` entries of FORCED, cyclically; with 0, the sampler
 * decides.
 */
export function force(count: i32): void {
  forcedCount = count;
  forcedAt = 0;
}

export function condition(value: i32, place: i32): i32 {
  add(place, <u64>i32(value != 0));
  return value;
}

export function address(value: i32, place: i32): i32 {
  add(place, <u64>value);
  return value;
}

export function operand(value: i64, place: i32): void {
  add(place, <u64>value);
}

function nextForced(): u32 {
  const forced = load<u32>(FORCED + (<usize>forcedAt << 2));
  forcedAt = forcedAt + 1 == forcedCount ? 0 : forcedAt + 1;
  return forced;
}

/** The sampler's verdict on its next four candidates (samplerZ.ts, judgeFour), or a forced one. */
export function verdict(natural: i64): i64 {
  return forcedCount == 0 ? natural : ((natural >> 32) << 32) | <i64>(nextForced() & 0xffff);
}

/** The outcome of a tie (samplerZ.ts, berExp), or a forced one. */
export function settled(natural: i32): i32 {
  return forcedCount == 0 ? natural : <i32>(nextForced() >>> 16);
}
