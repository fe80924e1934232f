/** The operations on reals, two at a time, for test/falcon/integer.test.ts. */
import * as R from '../falcon/real';

export const A: usize = memory.data(65536, 16);
export const B: usize = memory.data(65536, 16);
export const OUT: usize = memory.data(65536, 16);

function unary(op: i32, a: v128): v128 {
  if (op == 0) return R.inverse(a);
  if (op == 1) return R.sqrt(a);
  if (op == 2) return R.trunc(a);
  if (op == 3) return R.nearest(a);
  if (op == 4) return R.neg(a);
  if (op == 5) return R.abs(a);
  if (op == 6) return R.fromI32(a);
  if (op == 7) return R.toI32(a);
  if (op == 8) return R.floor(a);
  return i64x2.replace_lane(
    i64x2.splat(R.times55(R.lane0(a))),
    1,
    R.times55(i64x2.extract_lane(a, 1)),
  );
}

function binary(op: i32, a: v128, b: v128): v128 {
  if (op == 10) return R.add(a, b);
  if (op == 11) return R.sub(a, b);
  if (op == 12) return R.mul(a, b);
  if (op == 13) return R.scale(a, b);
  if (op == 14) return R.min(a, b);
  if (op == 15) return R.max(a, b);
  if (op == 16) return R.less(a, b);
  return R.floorPlus(a, b);
}

/** OUT = op(A, B), for all of this number of pairs. */
export function apply(op: i32, pairs: i32): void {
  for (let o: usize = 0; o < <usize>pairs << 4; o += 16) {
    const a = v128.load(A + o);
    v128.store(OUT + o, op < 10 ? unary(op, a) : binary(op, a, v128.load(B + o)));
  }
}

/** The same for the single number in A, and that in B. */
export function applySingle(op: i32): void {
  const a = load<u64>(A);
  const b = load<u64>(B);
  let out: u64 = 0;
  if (op == 0) out = R.inverse1(a);
  else if (op == 10) out = R.add1(a, b);
  else if (op == 11) out = R.sub1(a, b);
  else if (op == 12) out = R.mul1(a, b);
  else if (op == 16) out = u64(R.less1(a, b));
  else out = u64(R.atMost1(a, b));
  store<u64>(OUT, out);
}
