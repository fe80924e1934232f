/** Entry of test/aggregate/labrador. Not part of the product. */
export {
  addForm,
  coefsToForm,
  formToCoefs,
  mulForm,
  sigmaForm,
  smallToForm,
  splitLimbs,
  subForm,
  sumsToCoefs,
  wideToForm,
} from '../labrador/ntt';
export { canonicalQ, centreQ } from '../labrador/zq';
export { reconstruct } from '../labrador/crt';
export {
  addSums,
  combine,
  loadColumn,
  oneProduct,
  pairProducts,
  prepareCoefficients,
  products,
  ROWS,
  storeColumn,
  storePair,
  twoProducts,
} from '../labrador/polyVec';
export {
  addInnerProduct,
  cutLow,
  decompose,
  normSq,
  packBits,
  restoreCut,
  unpackBits,
} from '../labrador/digits';
export {
  BUFFER,
  readByte,
  uniformModP,
  uniformPoly,
  uniformScalars,
  unpackKey,
  unpackUniform,
  xofBlocks,
  xofStart,
} from '../labrador/xof';
export { isShortOperator, sampleAlpha, sampleC, sampleShort } from '../labrador/challenge';
export { addFunctionals, functionalsStart } from '../labrador/functionals';
export { collapsePolys, collapseStart, projectPolys } from '../labrador/jlProjection';
/** 4 MB to place operands in. */
export const AREA: usize = memory.data(4194304, 64);
