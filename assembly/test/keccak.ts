/** Entry of test/falcon/keccak.test.ts. Not part of the product. */
export { shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze } from '../shared/keccak';
export { keccakF, keccakF2 } from '../shared/keccakF.gen';
export { padInput, squeezePoint, squeezeTwoPoints } from '../falcon/hashToPoint';
export { keepWords, squeezePointFor, WORDS } from '../falcon/hashToPointCt';
export const STATE: usize = memory.data(256, 64);
export const STATES: usize = memory.data(400, 64);
export const INPUT_A: usize = memory.data(8192, 64);
export const INPUT_B: usize = memory.data(8192, 64);
export const OUT_A: usize = memory.data(4096, 64);
export const OUT_B: usize = memory.data(4096, 64);
