/**
 * Key pairs: `keygen` generates one from a seed, `publicKey` derives the public key of a secret
 * key.
 */
import { shakeAbsorb, shakeFlip, shakeInit } from '../shared/keccak';
import { E_INTERNAL, OK } from '../shared/status';
import { encodePublicKey } from './codec';
import { gaussianInit } from './gaussianF';
import { KEYGEN, KEYGEN_SIZE, ROW, SMALL } from './keygenLayout';
import { PK, SEED, SHAKE, SK } from './layout';
import { FIT, judgeSmall, ntruGen } from './ntruGen';
import { SOLVED, ntruSolve } from './ntruSolve';
import { publicKeyLength } from './params';
import {
  completeSecretKey,
  decodeSecretKey,
  encodeSecretKey,
  quotientModQ,
  secretKeyLength,
} from './secretKey';

/**
 * One candidate (f, g) in 10 becomes a key for n = 512, one in 18 for n = 1024. This many failures
 * in a row have a probability below 2^-340: the source of randomness is then broken.
 */
export const MAX_CANDIDATES: i32 = 4096;

/** Returns whether f, g make a key, and if so writes F, G, PK. */
export function completes(logn: i32, f: usize, g: usize, F: usize, G: usize): bool {
  const h = ROW;
  if (judgeSmall(logn, f, g) != FIT || quotientModQ(logn, h, f, g) != OK) return false;
  encodePublicKey(PK, h, logn);
  return ntruSolve(logn, F, G, f, g) == SOLVED;
}

/**
 * Generates a key pair from a seed: the same as the round-3 reference for every seed.
 *
 * Spec:   Falcon round 3, Algorithms 4 and 5; reference version 20211101
 * Shape:  SEED: u8[seedLen] -> PK, SK
 * Bounds: seedLen <= 128
 * Memory: PK, SK, SHAKE and the scratch of keygenLayout.ts, which is cleared
 * Secret: all but PK
 * Errors: none (unsuitable candidates are discarded and redrawn); E_INTERNAL only for a fault, PK
 *         and SK zeroed
 * Proof:  none: rejects and redraws candidates
 */
export function keygen(logn: i32, seedLen: i32): i32 {
  const f = SMALL;
  const g = SMALL + 1024;
  const F = SMALL + 2048;
  const G = SMALL + 3072;
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, SEED, seedLen);
  shakeFlip(SHAKE);
  gaussianInit();
  let found: bool = false;
  for (let left = MAX_CANDIDATES; left > 0 && !found && ntruGen(logn, f, g); left--) {
    found = completes(logn, f, g, F, G);
  }
  found = found && encodeSecretKey(logn, f, g, F) == OK;
  memory.fill(KEYGEN, 0, KEYGEN_SIZE);
  shakeInit(SHAKE);
  if (found) return OK;
  memory.fill(PK, 0, publicKeyLength(logn));
  memory.fill(SK, 0, secretKeyLength(logn));
  return E_INTERNAL;
}

/**
 * Derives the public key of a secret key.
 *
 * Spec:   Falcon round 3, section 3.11.5
 * Shape:  SK -> PK
 * Memory: PK, ROW, SMALL (cleared)
 * Secret: SK
 * Errors: E_SK_HEADER, E_SK_RANGE, E_SK_INVALID; PK is zeroed
 * Proof:  reveals(5), logn in {9, 10}
 */
export function publicKey(logn: i32): i32 {
  const f = SMALL;
  const g = SMALL + 1024;
  const F = SMALL + 2048;
  const G = SMALL + 3072;
  const h = ROW + 8192;
  let status = decodeSecretKey(logn, f, g, F);
  if (status == OK) status = completeSecretKey(logn, f, g, F, G, h);
  if (status == OK) encodePublicKey(PK, h, logn);
  else memory.fill(PK, 0, publicKeyLength(logn));
  memory.fill(KEYGEN, 0, KEYGEN_SIZE);
  return status;
}
