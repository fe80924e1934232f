/** The exports of labrador.wasm. */
export { alloc, allocZero, mark, reset } from './arena';
export {
  addForm,
  coefsToForm,
  formToCoefs,
  mulForm,
  sigmaForm,
  smallToForm,
  subForm,
  sumsToCoefs,
} from './ntt';
export {
  addSums,
  combine,
  loadColumn,
  pairProducts,
  prepareCoefficients,
  products,
  ROWS,
  storeColumn,
} from './polyVec';
export {
  addMultiples,
  coefsToVec,
  collapseToVecs,
  copyColumns,
  decomposeMany,
  expandKey,
  formsToCoefs,
  manySumsToCoefs,
  multiplesToVec,
  reduceColumns,
  selfProduct,
  smallsToForms,
  smallsToVec,
  twistedToVec,
  vecToCoefs,
  widesToVec,
} from './batch';
export {
  addInnerProduct,
  cutLow,
  cutSigned,
  decompose,
  normSq,
  packBits,
  restoreCut,
  unpackBits,
} from './digits';
export { uniformModP, uniformPoly, uniformScalars, xofStart } from './xof';
export { sampleAlpha, sampleC, sampleShort } from './challenge';
export { collapseStart } from './jlCollapse';
export { projectPolys } from './jlProjection';
export { functionalsStart } from './functionals';
export { functionalParts, modpPrepare } from './modp';
export { LIFT, liftRun } from './lifts';
