/** Entry of test/aggregate/labrador. Not part of the product: its exports, and some inner ones. */
export * from '../labrador/index';
export { splitLimbs, wideToForm } from '../labrador/ntt';
export { canonicalQ, centreQ } from '../labrador/zq';
export { reconstruct } from '../labrador/crt';
export { oneProduct, storePair, twoProducts } from '../labrador/polyVec';
export { BUFFER, readByte, unpackKey, unpackUniform, xofBlocks } from '../labrador/xof';
export { isShortOperator } from '../labrador/challenge';
export { addFunctionals } from '../labrador/functionals';
export { collapsePolys } from '../labrador/jlProjection';
/** 4 MB to place operands in. */
export const AREA: usize = memory.data(4194304, 64);
