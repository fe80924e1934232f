/** The arithmetic of the build that tests of signing and keys take: onIntegers.ts changes it. */
export const reals: { module: 'plain' | 'integer' } = { module: 'plain' };
