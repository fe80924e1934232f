/** Clearing what must not stay. */
import { IN, IN_SIZE, POINT, POINT_SIZE, PRODUCT, SEED, SHAKE, SK } from './layout';
import { wipeSign } from './sign';

/**
 * Overwrites every region that can hold a secret with zeros, and those that hold the message that was signed, its hash state
 * and its point. KEYGEN is not among them: key generation, its only user, clears it before it returns (it is large, and
 * signing should not pay for it).
 *
 * Memory: SK, SEED, SHAKE, PRODUCT, IN, POINT, and what wipeSign clears
 */
export function wipe(): void {
  memory.fill(SK, 0, 2305 + 31);
  memory.fill(SEED, 0, 96);
  memory.fill(SHAKE, 0, 256);
  memory.fill(PRODUCT, 0, 2048);
  memory.fill(IN, 0, IN_SIZE);
  memory.fill(POINT, 0, POINT_SIZE);
  wipeSign();
}
