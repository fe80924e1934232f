/** Clearing what must not stay. */
import { PRODUCT, SEED, SHAKE, SK } from './layout';
import { wipeSign } from './sign';

/**
 * Overwrites every region that can hold a secret with zeros, save KEYGEN: key generation, its only user, clears it before it
 * returns (it is large, and signing should not pay for it).
 *
 * Memory: SK, SEED, SHAKE, PRODUCT, and what wipeSign clears
 */
export function wipe(): void {
  memory.fill(SK, 0, 2305 + 31);
  memory.fill(SEED, 0, 96);
  memory.fill(SHAKE, 0, 256);
  memory.fill(PRODUCT, 0, 2048);
  wipeSign();
}
