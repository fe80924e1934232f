/** Defined in builds without floating point, by `use` in asconfig.json: see real.ts. */
declare const REAL_ON_INTEGERS: i32;
