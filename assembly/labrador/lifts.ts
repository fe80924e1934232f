/**
 * The contribution of projection and functionals to the places of S at level 0, for three lifts at
 * once:
 *
 *   sigma(projection's rows by omega) + sigma(rho by theta)
 *
 * Values that are constant over a run of places are passed in LIFT, u32[8]:
 *
 *   0  jl key         4  word 13 of its stream    8  word 14
 *   12 row, lift 0    16 lift 1                   20 lift 2
 *   24 bytes from functional to functional        28 parts in an item: 2K
 */
import { OK } from '../shared/status';
import { coefsToVec } from './batch';
import { addFunctionals } from './functionals';
import { collapseThree } from './jlCollapse';
import { COEFS } from './params';
import { xofStart } from './xof';

export const LIFT: usize = memory.data(32, 16);

/** i64[4][3][64] */
const COLLAPSED: usize = memory.data(6144, 64);

/**
 * Writes places `first` to `first + count - 1` (numbers W i + t) of one item into columns `column`
 * onwards of the three rows in LIFT.
 *
 * Spec:   docs/protocol.md, 7.6, without eta
 * Shape:  t: part of the first place; parts: i16[2K][64] of the item's first functional, sigma
 *         applied
 * Bounds: NTT form of centred integers
 * Memory: LIFT, the rows, parts; call collapseStart for three lifts and functionalsStart first
 * Proof:  none: no reference yet
 */
export function liftRun(column: i32, first: i32, t: i32, count: i32, parts: usize): i32 {
  const stride = <usize>load<u32>(LIFT, 24);
  const partCount = load<i32>(LIFT, 28);
  xofStart(<usize>load<u32>(LIFT), load<i32>(LIFT, 4), load<i32>(LIFT, 8), 0);
  while (count > 0) {
    const here = min(4, count);
    collapseThree(COLLAPSED, first, here);
    for (let i = 0; i < here; i++) {
      if (t + i < partCount) {
        addFunctionals(COLLAPSED + 3 * COEFS * <usize>i, parts + (<usize>(t + i) << 7), stride);
      }
    }
    for (let lift: usize = 0; lift < 3; lift++) {
      const row = <usize>load<u32>(LIFT + (lift << 2), 12);
      coefsToVec(row, column, COLLAPSED + lift * COEFS, 3 * COEFS, here);
    }
    column += here;
    first += here;
    t += here;
    count -= here;
  }
  return OK;
}
