/** The exports of falcon.integer.wasm: those of falcon.wasm, and one that tells the two apart. */
export * from './index';
export const ON_INTEGERS: bool = true;
