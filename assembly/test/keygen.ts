/** Key generation step by step, and its big-integer layer, for the tests. */
import { shakeAbsorb, shakeFlip, shakeInit } from '../shared/keccak';
import { gaussianInit } from '../falcon/gaussianF';
import { KEYGEN, KEYGEN_SIZE, ROW, SMALL } from '../falcon/keygenLayout';
import { PK, SEED, SHAKE, SK } from '../falcon/layout';
import { gramSchmidtNorm, judgeSmall, ntruGen } from '../falcon/ntruGen';
import { ntruSolve } from '../falcon/ntruSolve';
import { completeSecretKey, quotientModQ } from '../falcon/secretKey';

export { keygen, publicKey } from '../falcon/keygen';
export { GAUSS } from '../falcon/keygenTables.gen';
export { decodeSecretKey, encodeSecretKey, secretKeyLength } from '../falcon/secretKey';
export {
  P0I,
  R2,
  T31,
  initRns,
  inverseOfN,
  mulMont,
  negInverse,
  primeAt,
} from '../falcon/rns';
export { rnsInttScaled, rnsNtt } from '../falcon/rnsNtt';
export {
  zintFromRns,
  zintMod,
  zintMulSmall,
  zintSubScaled,
  zintToDouble,
} from '../falcon/zint';
export { bezoutScratch, zintBezout } from '../falcon/zintGcd';
export { extendForProduct, subProduct } from '../falcon/zintProduct';
export { KEYGEN, KEYGEN_SIZE, PK, SEED, SHAKE, SK };

/** Scratch memory for the tests. */
export const A: usize = memory.data(65536, 64);
export const B: usize = memory.data(65536, 64);
export const C: usize = memory.data(65536, 64);
export const TMP: usize = memory.data(65536, 64);

export const f: usize = SMALL;
export const g: usize = SMALL + 1024;
export const F: usize = SMALL + 2048;
export const G: usize = SMALL + 3072;

/** Starts the stream of candidates of SEED. */
export function begin(): void {
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, SEED, 48);
  shakeFlip(SHAKE);
  gaussianInit();
}

/** The next candidate; 0 if there is none. */
export function draw(logn: i32): i32 {
  return i32(ntruGen(logn, f, g));
}

export function judge(logn: i32): i32 {
  return judgeSmall(logn, f, g);
}

export function skewness(logn: i32): f64 {
  return reinterpret<f64>(gramSchmidtNorm(logn, f, g));
}

export function invertible(logn: i32): i32 {
  return quotientModQ(logn, ROW, f, g);
}

export function solve(logn: i32): i32 {
  return ntruSolve(logn, F, G, f, g);
}

/** G and h (u16[n] at A) from f, g, F. */
export function complete(logn: i32): i32 {
  return completeSecretKey(logn, f, g, F, G, A);
}
