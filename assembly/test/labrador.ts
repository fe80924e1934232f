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
  sumsToForm,
  wideToForm,
} from '../labrador/ntt';
export { canonicalQ, centreQ, mulQ } from '../labrador/zq';
export { reconstruct } from '../labrador/crt';
/** 4 MB to place operands in. */
export const AREA: usize = memory.data(4194304, 64);
