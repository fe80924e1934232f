/** Entry of test/aggregate/labrador. Not part of the product: its exports, and some inner ones. */
export * from '../labrador/index';
export { wideToForm } from '../labrador/ntt';
export { canonicalQ } from '../labrador/zq';
export { reconstruct } from '../labrador/crt';
export { oneProduct, storePair, twoProducts } from '../labrador/polyVec';
export { BUFFER, readByte, unpackKey, unpackUniform, xofBlocks } from '../labrador/xof';
export { isShortOperator } from '../labrador/challenge';
export { addFunctionals } from '../labrador/functionals';
export { collapseThree, collapseTwo } from '../labrador/jlCollapse';
import { centrePair, foldPair } from '../labrador/zq';
/** Centres `count` values mod q, in pairs: i64[count]. */
export function centreMany(at: usize, count: i32): void {
  for (const end = at + (<usize>count << 3); at < end; at += 16) {
    v128.store(at, centrePair(foldPair(v128.load(at))));
  }
}
/** 4 MB for operands. */
export const AREA: usize = memory.data(4194304, 64);
