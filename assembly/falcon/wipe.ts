/** Clears secrets after use. */
import {
  COUNTER,
  IN,
  IN_SIZE,
  PAIRS,
  POINT,
  POINT_SIZE,
  PRODUCT,
  S2,
  SEED,
  SHAKE,
  SK,
  WORDS,
} from './layout';
import { wipeSign } from './sign';

/**
 * Zeroes every region that can hold a secret, the signed message, its hash state, its point, and
 * the values left by the check of the signature: everything except the results, PK and SIG. KEYGEN
 * is not included: key generation, its only user, clears it before returning (it is large, and
 * would slow down signing).
 *
 * Secret: all that it clears
 * Memory: SK, SEED, SHAKE, IN, COUNTER, POINT, S2, PRODUCT, WORDS, PAIRS, and what wipeSign clears
 * Proof:  none: writes zeros
 */
export function wipe(): void {
  memory.fill(SK, 0, 2305 + 31);
  memory.fill(SEED, 0, 128);
  memory.fill(SHAKE, 0, 256);
  memory.fill(IN, 0, IN_SIZE);
  memory.fill(COUNTER, 0, 256);
  memory.fill(POINT, 0, POINT_SIZE);
  memory.fill(S2, 0, 2048);
  memory.fill(PRODUCT, 0, 2048);
  memory.fill(WORDS, 0, 1424 + 48);
  memory.fill(PAIRS, 0, 2048);
  wipeSign();
}
