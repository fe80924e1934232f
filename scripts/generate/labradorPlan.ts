/**
 * The arithmetic behind assembly/labrador: the six primes whose product holds the integers of the
 * proof, their roots and tables, the places where the transforms reduce, and the proof that nothing
 * overflows.
 *
 * An element of R = Z[X]/(X^64 + 1) is kept as its values at the odd powers of a 128th root of
 * unity modulo six primes of 13.5 to 13.8 bits, in signed 16-bit lanes (modular.ts).
 *
 * d(w) = 1 for w = 2^-15 mod p: that product centres any lane to |x| <= (p + 1)/2. So values carry
 * the factor 2^-15 ("NTT form"), and whoever multiplies two of them restores it with a constant.
 */
import { bitReverse, centred, inverseMod, powMod, productBound, reducedBound } from './modular.ts';

export const PRIMES: readonly number[] = [13697, 13441, 13313, 12289, 12161, 11777];
/** ROOTS[i]^64 = -1 mod PRIMES[i] */
export const ROOTS: readonly number[] = [175, 110, 272, 81, 182, 309];
export const D = 64;
/** 2^44 modulo the modulus of the proof. */
export const EXCESS = 117n;
/** The modulus of the proof, a prime = 3 mod 8. */
export const Q = 2n ** 44n - EXCESS;
/** The product of the primes, 2^81.83. */
export const PRODUCT: bigint = PRIMES.reduce((product, p) => product * BigInt(p), 1n);

/** The factor of NTT form. */
export const formFactor = (p: number): number => inverseMod(powMod(2, 15, p), p);

/** Twiddle of block i at level l of the forward transform, counted as index 2^l + i. */
export const forwardTwiddle = (prime: number, index: number): number =>
  centred(powMod(ROOTS[prime]!, bitReverse(index, 6), PRIMES[prime]!), PRIMES[prime]!);

/**
 * Twiddle j of the inverse transform's butterflies at distance `length`: omega^(-j 64 / (2
 * length)).
 */
export function inverseTwiddle(prime: number, length: number, j: number): number {
  const p = PRIMES[prime]!;
  const omegaInverse = inverseMod(powMod(ROOTS[prime]!, 2, p), p);
  return centred(powMod(omegaInverse, (32 / length) * j, p), p);
}

/** c 64^-1 psi^-i: undoes the scaling and the twist, and multiplies by c. */
export function untwist(prime: number, i: number, c: number): number {
  const p = PRIMES[prime]!;
  const r = (inverseMod(64, p) * powMod(inverseMod(ROOTS[prime]!, p), i, p)) % p;
  return centred(r * (((c % p) + p) % p), p);
}

/** Inputs of the transform that reduces less often: digits and signatures. */
export const SMALL_MAX = 8192;
/** Inputs of the inverse transform: NTT form, and sums after their second reduction. */
export const INVERSE_MAX = 10000;
/**
 * Steps at which the forward transform reduces the leg that is not multiplied: of small lanes, of
 * any lanes. The steps are those of two passes over three levels, 0 | 1, 2 | 3 to 6, then
 * 7 | 8, 9 | 10 to 13: `forwardStep`.
 */
export const SMALL_REDUCES: ReadonlySet<number> = new Set([3, 4, 5, 6, 7, 8, 9]);
export const FORWARD_REDUCES: ReadonlySet<number> = new Set([0, 2, 3, 4, 7, 8, 9]);
/**
 * The step of block i at a level: the blocks of a pass of their own at levels 0 to 2, then eight of
 * them in a vector.
 */
export const forwardStep = (level: number, i: number): number =>
  level < 3 ? (1 << level) - 1 + i : 6 + (1 << (level - 3)) + (i & ((1 << (level - 3)) - 1));
/**
 * Distances at which the inverse transform does; at 2 and 4, where w may be 1, a leg with w = 1 is
 * reduced as well.
 */
export const INVERSE_REDUCES: ReadonlySet<number> = new Set([2, 4, 8, 16]);
/**
 * Reductions of these levels that the lanes don't need, by kernel: their numbers in its text. The
 * proofs of the kernels hold without them (`npm run prove`).
 */
export const IDLE_REDUCTIONS: Readonly<Record<string, readonly number[]>> = {
  ...{ forwardAny: [5], forwardLimbs: [5], inverseOfForm: [0, 2, 8], inverseOfSums: [0, 3] },
};

/**
 * Bounds after each level of the forward transform of input with |x| <= bound, then after the last
 * product.
 */
export function forwardBounds(
  prime: number,
  bound: number,
  reduces: ReadonlySet<number> = FORWARD_REDUCES,
): number[] {
  const p = PRIMES[prime]!;
  const bounds: number[] = [];
  let blocks = [bound];
  for (let level = 0; level < 6; level++) {
    // Both halves of a block have the same bound.
    blocks = blocks.flatMap((here, i) => {
      const product = productBound(here, forwardTwiddle(prime, (1 << level) + i), p);
      const other = reduces.has(forwardStep(level, i)) ? reducedBound(here, p) : here;
      return [other + product, other + product];
    });
    bounds.push(Math.max(...blocks));
  }
  bounds.push(productBound(Math.max(...blocks), centred(formFactor(p), p), p));
  return bounds;
}

/** Bounds after each level of the inverse transform, distances 1 to 32. */
export function inverseBounds(prime: number, bound: number): number[] {
  const p = PRIMES[prime]!;
  const bounds: number[] = [];
  for (let length = 1; length < 64; length *= 2) {
    let product = length === 1 ? bound : 0;
    for (let j = 0; length > 1 && j < length; j++) {
      product = Math.max(product, productBound(bound, inverseTwiddle(prime, length, j), p));
    }
    bound = (INVERSE_REDUCES.has(length) ? reducedBound(bound, p) : bound) + product;
    bounds.push(bound);
  }
  return bounds;
}

/** Column pairs whose products are summed before a reduction. */
export const PAIRS = 16;
/** Largest magnitude in NTT form. */
export const FORM_MAX = Math.max(...PRIMES.map((p) => (p + 1) / 2));

/** Bound of mred(acc) = (acc - p * (acc / p mod 2^16)) / 2^16, the centred quotient mod 2^16. */
export const mredBound = (bound: number, p: number): number =>
  Math.floor((bound + p * 32768) / 65536);

/** Bound of one block's contribution to a sum: PAIRS pairs of products in NTT form, reduced. */
export const blockBound = (p: number): number => mredBound(2 * PAIRS * ((p + 1) / 2) ** 2, p);

/**
 * Blocks of 32 columns that a sum may run over so that its second reduction is at most INVERSE_MAX.
 */
export const MAX_BLOCKS: number = Math.min(
  ...PRIMES.map((p) => Math.floor(((INVERSE_MAX - p / 2) * 65536) / blockBound(p)) - 1),
);

/**
 * Bound of what the transform of polynomials mod q starts with: l0 + 2^14 l1 + 2^30 l2 of limbs
 * with these bounds.
 */
export const LIMB_BOUNDS = [8192, 32768, 16385] as const;
export function limbsBound(p: number): number {
  const power = (exponent: number) => centred(powMod(2, exponent, p), p);
  const [l0, l1, l2] = LIMB_BOUNDS;
  return l0 + productBound(l1, power(14), p) + productBound(l2, power(30), p);
}

/**
 * What divides out the powers of two of a product of two elements in NTT form after one or two
 * reductions.
 */
export const afterMred = (times: number, p: number): number => powMod(2, 30 + 16 * times, p);

/** Bits of the fixed-point reciprocals that give the quotient by P. */
export const RECIPROCAL_BITS = 28;
/** round(2^28 / p) */
export const reciprocal = (p: number): number => Math.round(2 ** RECIPROCAL_BITS / p);
/** P / p_i */
export const cofactor = (prime: number): bigint => PRODUCT / BigInt(PRIMES[prime]!);
/** (P / p_i)^-1 mod p_i */
export const cofactorInverse = (prime: number): number =>
  inverseMod(Number(cofactor(prime) % BigInt(PRIMES[prime]!)), PRIMES[prime]!);

/** The value mod q of least magnitude. */
export function centredQ(x: bigint): bigint {
  const r = ((x % Q) + Q) % Q;
  return r > Q / 2n ? r - Q : r;
}

/** Three limbs with x = l0 + 2^15 l1 + 2^30 l2, l0 and l1 in [-2^14, 2^14). */
export function limbs(x: bigint): [number, number, number] {
  const low = BigInt.asIntN(15, x);
  const middle = BigInt.asIntN(15, (x - low) >> 15n);
  return [Number(low), Number(middle), Number((x - low - (middle << 15n)) >> 30n)];
}

/**
 * Constants of the inverse transform's last product: of NTT form, and of sums after two reductions.
 */
export const untwistOfForm = (prime: number, i: number): number =>
  untwist(prime, i, (cofactorInverse(prime) * powMod(2, 15, PRIMES[prime]!)) % PRIMES[prime]!);
export const untwistOfSums = (prime: number, i: number): number =>
  untwist(prime, i, (cofactorInverse(prime) * afterMred(2, PRIMES[prime]!)) % PRIMES[prime]!);

/** Bound of the residues that the reconstruction is given. */
export function residueBound(prime: number): number {
  const p = PRIMES[prime]!;
  const bound = inverseBounds(prime, INVERSE_MAX).at(-1)!;
  let largest = 0;
  for (let i = 0; i < D; i++) {
    for (const w of [untwistOfForm(prime, i), untwistOfSums(prime, i)]) {
      largest = Math.max(largest, productBound(bound, w, p));
    }
  }
  return largest;
}

/**
 * The part of (-P/2, P/2) that the reconstruction may get wrong, as a fraction of P: the error of
 * the reciprocals. Every integer with |x| < P/2 - margin P is recovered.
 */
export function reconstructionMargin(): number {
  let error = 0;
  for (const [i, p] of PRIMES.entries()) {
    error += residueBound(i) * Math.abs(2 ** RECIPROCAL_BITS / p - reciprocal(p));
  }
  return error / 2 ** RECIPROCAL_BITS;
}
