/** The exports of labrador.verify.wasm: the kernels that the verifier of proofs needs. */
export { alloc, allocZero, mark, reset } from './arena';
export {
  addForm,
  coefsToForm,
  formToCoefs,
  mulForm,
  sigmaForm,
  smallToForm,
  subForm,
} from './ntt';
export {
  combine,
  loadColumn,
  prepareCoefficients,
  products,
  ROWS,
  storeColumn,
} from './polyVec';
export {
  coefsToVec,
  collapseToVecs,
  copyColumns,
  expandKey,
  manySumsToCoefs,
  multiplesToVec,
  reduceColumns,
  smallsToForms,
  vecToCoefs,
} from './batch';
export { addInnerProduct, restoreCut, unpackBits } from './digits';
export { uniformModP, uniformPoly, uniformScalars, xofStart } from './xof';
export { sampleAlpha, sampleC, sampleShort } from './challenge';
export { collapseStart } from './jlCollapse';
export { functionalsStart } from './functionals';
export { functionalParts, modpPrepare } from './modp';
export { LIFT, liftRun } from './lifts';
