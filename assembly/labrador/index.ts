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
  sumsToForm,
  wideToForm,
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
  storePair,
} from './polyVec';
export {
  addMultiples,
  coefsToVec,
  collapseToVecs,
  copyColumns,
  decomposeMany,
  expandKey,
  formsToCoefs,
  manyCoefsToForms,
  manySumsToCoefs,
  manySumsToForms,
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
  decompose,
  narrow,
  normSq,
  packBits,
  recompose,
  restoreCut,
  unpackBits,
} from './digits';
export { uniformModP, uniformPoly, uniformScalars, xofBlocks, xofStart } from './xof';
export { sampleAlpha, sampleC, sampleShort } from './challenge';
export { collapsePolys, collapseStart, projectPolys } from './jlProjection';
export { addFunctionals, functionalsStart } from './functionals';
export { functionalParts, modpPrepare } from './modp';
export { LIFT, liftRun } from './lifts';
export { shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze } from '../shared/keccak';
