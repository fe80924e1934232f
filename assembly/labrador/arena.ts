/**
 * The module's memory above its static data: a bump arena.
 *
 *   __heap_base ... | live allocations | free: `top` to the end of memory, which grows |
 *
 * `mark` and `reset` bracket a step of the proof. Addresses are multiples of 64 and never 0. New
 * allocations are uninitialised; `allocZero` clears them.
 */

/** 65,536 bytes in a page. */
const PAGE_BITS: u64 = 16;
let top: usize = 0;

/** The address of the next allocation. */
export function mark(): usize {
  if (top == 0) top = (__heap_base + 63) & ~63;
  return top;
}

/**
 * Allocates `bytes` bytes.
 *
 * Memory: grows by whole pages when needed
 * Errors: returns 0 when memory cannot grow (the maximum, or the host refuses)
 */
export function alloc(bytes: usize): usize {
  const at = mark();
  // a size beyond 2^32 exceeds the maximum number of pages
  const end = (<u64>at + bytes + 63) & ~63;
  const missing = <i32>((end + 0xffff) >> PAGE_BITS) - memory.size();
  if (missing > 0 && memory.grow(missing) == -1) return 0;
  top = <usize>end;
  return at;
}

/**
 * Like `alloc`, filled with zeros.
 *
 * Errors: as `alloc`
 */
export function allocZero(bytes: usize): usize {
  const at = alloc(bytes);
  if (at != 0) memory.fill(at, 0, bytes);
  return at;
}

/** Frees everything allocated since `mark` returned `to`. */
export function reset(to: usize): void {
  top = to;
}
