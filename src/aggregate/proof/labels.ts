/** Every label of the transcript (docs/protocol.md, 4), every stream of challenges (5.1) and every kind of short challenge (10.2). */

/** Labels of `absorb`, in the order of a section. */
export const ABSORB = Object.freeze({
  start: 'falconry/proof/v1',
  header: 'header',
  retry: 'retry',
  uA: 'uA',
  uB: 'uB',
  u1: 'u1',
  y: 'y',
  b: 'b',
  u2: 'u2',
  t: 't',
  h: 'h',
} as const);

/** Labels of `seed`. */
export const SEED = Object.freeze({
  alpha: 'alpha',
  jl: 'jl',
  rho: 'rho',
  lift: 'lift',
  combine: 'combine',
  amortise: 'amortise',
} as const);

/** Labels of `seal`. */
export const SEAL = Object.freeze({ t: 't', h: 'h' } as const);

/** Types of streams. */
export const STREAM = Object.freeze({
  alpha: 1,
  projection: 2,
  rho: 3,
  omega: 4,
  theta: 5,
  psi: 6,
  eta: 7,
  short: 8,
  amortise: 9,
  keys: 10,
  tau: 11,
} as const);

/** Kinds of short challenges. */
export const SHORT = Object.freeze({
  lift: 1,
  outer: 2,
  garbage: 3,
  amortised: 4,
  quadratic: 5,
  constraint: 6,
  padding: 7,
} as const);

/** Matrices of commitment keys (6.1); B is B_A at level 0. */
export const MATRIX = Object.freeze({ A: 0, B: 1, BB: 2, C: 3, D: 4 } as const);

/** What the commitment keys are expanded from. */
export const KEYS_LABEL = 'falconry commitment keys v1';
