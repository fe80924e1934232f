/** Clearing what must not stay. */
import { SEED, SHAKE, SK } from './layout';

/**
 * Overwrites every region that can hold a secret with zeros.
 *
 * Memory: SK, SEED, SHAKE
 */
export function wipe(): void {
  memory.fill(SK, 0, 2305 + 31);
  memory.fill(SEED, 0, 96);
  memory.fill(SHAKE, 0, 256);
}
