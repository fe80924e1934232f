/**
 * Hedged signing: salt and coins are derived from the key and fresh randomness r, and the coins
 * also from the message. With a good r, both are as random as drawn ones. With a bad r, even a
 * constant one, they are as safe as derived ones.
 *
 *   K      "falconry hedged v1" || logn || secret key || profile || format || r (48 bytes)
 *   salt   SHAKE256(K || 0), 40 bytes
 *   coins  SHAKE256(K || 1 || d)
 *   d      64 bytes: the block of SHAKE256(salt || message) after the last one of the point; for
 *          ETHFALCON the Keccak-256 of both, and zeros
 *
 * Equal salts and equal points imply equal K and equal d, and so equal coins: no point gets two
 * signatures. The sponge of K up to the secret key is in the expanded key (reproducible.ts).
 */
import { shakeAbsorb, shakeFlip, SHAKE_STATE, shakeSqueeze } from '../shared/keccak';
import { SEED, SHAKE } from './layout';
import { SALT_LENGTH } from './params';
import { digestOfPoint } from './profile';
import { HEDGED, spongeOfCoins } from './reproducible';
import { attempt, noteUse, SEEDS, startPoint } from './sign';

const R_LENGTH: i32 = 48;
const DIGEST_LENGTH: i32 = 64;
/** Addresses in SEED: r, later d; what is absorbed byte by byte. */
const AFTER_SALT: usize = SEED + SALT_LENGTH;
const SCRATCH: usize = SEED + 112;

function absorbByte(value: i32): void {
  store<u8>(SCRATCH, value);
  shakeAbsorb(SEEDS, SCRATCH, 1);
}

/**
 * Derives the salt. The same call again gives the same salt.
 *
 * Shape:  EXPANDED with its sponges, SEED[40..88) = r -> SEED[0..40) = salt, SEEDS = K
 * Memory: EXPANDED, SEED, SEEDS, SHAKE
 * Secret: EXPANDED, r
 * Proof:  reveals(0, after absorbKey(logn, 2)), logn in {9, 10}
 */
export function startHedged(logn: i32, format: i32, profile: i32): void {
  noteUse(logn, 0);
  memory.copy(SEEDS, spongeOfCoins(logn, HEDGED), SHAKE_STATE);
  absorbByte(profile);
  absorbByte(format);
  shakeAbsorb(SEEDS, AFTER_SALT, R_LENGTH);
  memory.copy(SHAKE, SEEDS, SHAKE_STATE);
  store<u8>(SCRATCH, 0);
  shakeAbsorb(SHAKE, SCRATCH, 1);
  shakeFlip(SHAKE);
  shakeSqueeze(SHAKE, SEED, SALT_LENGTH);
}

/**
 * Signs with the expanded key in EXPANDED, and the salt and the sponge that `startHedged` leaves.
 *
 * Spec:   Falcon round 3, algorithm 10 (Sign)
 * Shape:  EXPANDED, SEED[0..40) = salt, SEEDS = K, message as for hashMessage (salt from SEED),
 *         format and profile as for `startHedged` -> SIG
 * Memory: as signExpanded; SEED
 * Secret: EXPANDED, SEEDS
 * Errors: E_INTERNAL, as signExpanded; otherwise the signature's length
 * Proof:  reveals(9, shifts 1, judgeFour & 4294967295, after absorbKey(logn, 2),
 *         after startHedged(logn, format, profile)),
 *         logn format messageLen profile in {9 2 200 0, 10 2 64 0}
 * Builds: falcon, falcon.relaxed
 * Proof:  reveals(7, shifts 1, judgeFour & 4294967295, SHAKE..SK at squeezePoint,
 *         SIG..PREPARED at encodeSignature, S2..BATCH_RECORDS at encodeSignature,
 *         after absorbKey(logn, 2), after startHedged(logn, format, profile)),
 *         logn format messageLen profile in {9 0 64 0, 10 1 200 0}
 * Builds: falcon, falcon.relaxed
 */
export function signHedged(logn: i32, format: i32, messageLen: i32, profile: i32): i32 {
  startPoint(logn, format, messageLen, profile);
  digestOfPoint(profile, AFTER_SALT);
  absorbByte(1);
  shakeAbsorb(SEEDS, AFTER_SALT, DIGEST_LENGTH);
  shakeFlip(SEEDS);
  return attempt(logn, format, format);
}
