/**
 * Entry of test/falcon/zq.test.ts: the lane functions on one vector of memory. Not part of the
 * product.
 */
import * as zq from '../shared/zq';

export const A: usize = memory.data(131072, 64);
export const B: usize = memory.data(131072, 64);
export const C: usize = memory.data(131072, 64);
export const OUT: usize = memory.data(131072, 64);

export function mulmod(bytes: i32): void {
  const q = v128.load(zq.Q_LANES);
  for (let i: usize = 0; i < <usize>bytes; i += 16) {
    v128.store(OUT + i, zq.mulmod(v128.load(A + i), v128.load(B + i), v128.load(C + i), q));
  }
}

export function reduce(bytes: i32): void {
  const q = v128.load(zq.Q_LANES);
  for (let i: usize = 0; i < <usize>bytes; i += 16) {
    v128.store(OUT + i, zq.reduce(v128.load(A + i), q));
  }
}

export function companion(bytes: i32): void {
  for (let i: usize = 0; i < <usize>bytes; i += 16) {
    v128.store(OUT + i, zq.companion(v128.load(A + i)));
  }
}

export function centre(bytes: i32): void {
  const q = v128.load(zq.Q_LANES);
  for (let i: usize = 0; i < <usize>bytes; i += 16) {
    v128.store(OUT + i, zq.centre(v128.load(A + i), q));
  }
}
