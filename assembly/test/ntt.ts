/** Entry of test/falcon/ntt.test.ts. Not part of the product. */
export * from '../shared/ntt';
export const A: usize = memory.data(2048, 64);
export const B: usize = memory.data(2048, 64);
export const PREPARED: usize = memory.data(4096, 64);
