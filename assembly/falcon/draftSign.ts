/** Signing of the FN-DSA draft profile: each attempt uses a new salt and a new point. */
import { shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze } from '../shared/keccak';
import { E_SIG_NORM, OK } from '../shared/status';
import { encodeSignature, PADDED } from './codec';
import { repackSecretKey } from './draftKeygen';
import { draftBytes, draftFailed, draftStart, draftWipe } from './draftSampler';
import { expandedPrepared } from './expandKey';
import { IN, POINT, S2, SEED, SHAKE, SIG, SK } from './layout';
import { SALT_LENGTH } from './params';
import { FN_DSA_DRAFT, isWithinLimit, makePoint } from './profile';
import { smallBits } from './secretKey';
import { expandSecretKey, refuse, samplePreimage } from './sign';
import { verifyPoint } from './verify';

/**
 * An attempt fails about once in 2450 (n = 512) or 820 (n = 1024); 27 times in a row with
 * probability 2^-256.
 */
const MAX_ATTEMPTS: i32 = 27;
const MU_LENGTH: i32 = 64;
const SEED_LENGTH: i32 = 40;

/**
 * Signs a message representative.
 *
 *   H     = SHAKE256(encoded f || encoded g), 40 bytes
 *   seed' = SHAKE256(H || mu || seed), 40 bytes
 *   stream of attempt i = SHAKE256(seed' || i): salt (40 bytes), then the sampler's
 *
 * Spec:   rust-fn-dsa 0.4.0 (docs/references.md), sign; Falcon round 3, algorithm 10
 * Shape:  SK: draft encoding without its last 64 bytes, SEED: u8[40], IN: mu, u8[64] -> SIG, padded
 *         round-3 form
 * Memory: SK, SEED, IN, EXPANDED and all that signExpanded uses
 * Secret: SK, SEED
 * Errors: E_SK_HEADER, E_SK_RANGE, E_SK_INVALID, E_INTERNAL as sign; otherwise the signature's
 *         length
 * Proof:  none: rejection: branches on accepted candidates
 */
export function signDraft(logn: i32): i32 {
  const keyHash = SEED + SEED_LENGTH;
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, SK + 1, (2 * smallBits(logn)) << (logn - 3));
  shakeFlip(SHAKE);
  shakeSqueeze(SHAKE, keyHash, SEED_LENGTH);
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, keyHash, SEED_LENGTH);
  shakeAbsorb(SHAKE, IN, MU_LENGTH);
  shakeAbsorb(SHAKE, SEED, SEED_LENGTH);
  shakeFlip(SHAKE);
  shakeSqueeze(SHAKE, SEED, SEED_LENGTH);
  repackSecretKey(logn, false);
  const status = expandSecretKey(logn);
  if (status != OK) return status;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    store<u8>(SEED + SEED_LENGTH, attempt);
    draftStart(SEED, SEED_LENGTH + 1);
    draftBytes(SIG + 1, SALT_LENGTH);
    makePoint(FN_DSA_DRAFT, PADDED, SIG + 1, MU_LENGTH, logn);
    samplePreimage(logn);
    if (draftFailed()) break;
    const length = encodeSignature(SIG, S2, PADDED, logn);
    if (length == 0) continue;
    const verdict = verifyPoint(POINT, expandedPrepared(logn), length, logn);
    if (verdict == OK && isWithinLimit(FN_DSA_DRAFT, logn)) {
      draftWipe();
      return length;
    }
    if (verdict != OK && verdict != E_SIG_NORM) break;
  }
  draftWipe();
  return refuse(logn);
}
