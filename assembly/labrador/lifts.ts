/**
 * The functionals of level 0 at the places of S and Y, three lifts at once.
 *
 *   at S_{i,t}:  sigma(projection's rows by omega) + sigma(rho by theta) - sigma(eta alpha_i)       at Y_{i,t}:  eta
 *
 * What stays the same over a run of places is handed over in LIFT, u32[12]:
 *
 *   0  jl key         4  word 13 of its stream    8  word 14       12  lift key
 *   16 S row, lift 0  20 lift 1                   24 lift 2        28  Y row, lift 0    32  lift 1   36  lift 2
 *   40 bytes from functional to functional        44 parts in an item: 2K
 */
import { OK } from '../shared/status';
import { addFunctionals } from './functionals';
import { collapsePolys } from './jlProjection';
import { coefsToForm, mulForm, sigmaForm, subForm } from './ntt';
import { storeColumn, storePair } from './polyVec';
import { FORM } from './params';
import { uniformPoly, xofStart } from './xof';

export const LIFT: usize = memory.data(48, 16);
/** Stream 7 of level 0: eta. */
const ETA_WORD: i32 = 7;

/** i64[2][3][64] */
const COLLAPSED: usize = memory.data(3072, 64);
const ETA: usize = memory.data(512, 64);
/** Forms of two places for three lifts: at S, at Y. */
const AT_S: usize = memory.data(4608, 64);
const AT_Y: usize = memory.data(4608, 64);
const TWISTED: usize = memory.data(768, 64);

/** Forms of place `place`, the `which`-th of two, from COLLAPSED. */
function placeForms(which: usize, place: i32, alpha: usize): void {
  for (let lift: usize = 0; lift < 3; lift++) {
    const s = AT_S + (2 * lift + which) * FORM;
    const y = AT_Y + (2 * lift + which) * FORM;
    xofStart(<usize>load<u32>(LIFT, 12), ETA_WORD + (<i32>lift << 16), place, 0);
    uniformPoly(ETA);
    coefsToForm(y, ETA);
    mulForm(TWISTED, y, alpha);
    sigmaForm(s, TWISTED);
    coefsToForm(TWISTED, COLLAPSED + (3 * which + lift) * 512);
    subForm(s, TWISTED, s);
  }
}

/**
 * Places `first` to `first + count - 1` (numbers W i + t) of one item, into columns `column` on of the six rows in LIFT.
 *
 * Spec:   docs/protocol.md, 7.6
 * Shape:  t: part of the first place; parts: i16[2K][64] of the item's first functional, sigma applied; alpha: i16[6][64] NTT form
 * Bounds: NTT form of integers below 2^49 in magnitude
 * Memory: LIFT, the rows, parts, alpha; collapseStart and functionalsStart come before
 */
export function liftRun(
  column: i32,
  first: i32,
  t: i32,
  count: i32,
  parts: usize,
  alpha: usize,
): i32 {
  const stride = <usize>load<u32>(LIFT, 40);
  const partCount = load<i32>(LIFT, 44);
  while (count > 0) {
    const here = count == 1 || column & 1 ? 1 : 2;
    xofStart(<usize>load<u32>(LIFT), load<i32>(LIFT, 4), load<i32>(LIFT, 8), 0);
    collapsePolys(COLLAPSED, first, here);
    for (let i = 0; i < here; i++) {
      if (t + i < partCount) {
        addFunctionals(COLLAPSED + 1536 * <usize>i, parts + (<usize>(t + i) << 7), stride);
      }
      placeForms(i, first + i, alpha);
    }
    for (let lift: usize = 0; lift < 3; lift++) {
      const sRow = <usize>load<u32>(LIFT + (lift << 2), 16);
      const yRow = <usize>load<u32>(LIFT + (lift << 2), 28);
      const s = AT_S + 2 * lift * FORM;
      const y = AT_Y + 2 * lift * FORM;
      if (here == 2) {
        storePair(sRow, column, s, s + FORM);
        storePair(yRow, column, y, y + FORM);
      } else {
        storeColumn(sRow, column, s);
        storeColumn(yRow, column, y);
      }
    }
    column += here;
    first += here;
    t += here;
    count -= here;
  }
  return OK;
}
