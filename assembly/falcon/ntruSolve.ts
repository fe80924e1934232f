/** The NTRU equation fG - gF = q: down the tower of field norms, Bezout, and back up. */
import { CRT, CURRENT, WIDE } from './keygenLayout';
import { fgAt, lift, makeTower, wordsSmall } from './ntruLevels';
import { babaiReduce } from './ntruReduce';
import { solveDepth0, solveDepth1 } from './ntruTop';
import { initRns } from './rns';
import { zintMulSmall } from './zint';
import { zintBezout } from './zintGcd';

/** Results of `ntruSolve`. */
export const SOLVED: i32 = 0;
/** The resultants of f and g have a common divisor. */
export const NO_BEZOUT: i32 = 1;
/** q times a Bezout factor does not fit (never observed: seven deviations). */
export const TOO_LONG: i32 = 2;
/** A quotient of Babai's reduction is out of range. */
export const NOT_REDUCED: i32 = 3;
/** A coefficient of F or G exceeds 127. */
export const NOT_SHORT: i32 = 4;

/**
 * Solves f G - g F = q.
 *
 * Spec:   Falcon round 3, Algorithm 6 (NTRUSolve); fails exactly when the round-3 reference does
 * Shape:  f, g: i8[n] -> F, G: i8[n]
 * Bounds: f(1), g(1) odd; |F|, |G| <= 127
 * Memory: F, G and the scratch of keygenLayout.ts
 * Secret: all; a failure is a branch, and discards (f, g)
 * Errors: a cause > 0, see above
 * Proof:  none: key generation; a failure ends it
 */
export function ntruSolve(logn: i32, F: usize, G: usize, f: usize, g: usize): i32 {
  initRns();
  makeTower(logn, f, g);
  // the deepest level: Bezout's (v, u) for the resultants, times q
  const len = wordsSmall(logn);
  if (!zintBezout(CURRENT, fgAt(logn), len, WIDE)) return NO_BEZOUT;
  if (zintMulSmall(CURRENT, len, 4, 12289)) return TOO_LONG;
  for (let depth = logn - 1; depth > 1; depth--) {
    lift(logn, depth);
    if (!babaiReduce(logn, depth)) return NOT_REDUCED;
  }
  if (!solveDepth1(logn)) return NOT_REDUCED;
  return solveDepth0(logn, F, G, f, g) ? SOLVED : NOT_SHORT;
}
