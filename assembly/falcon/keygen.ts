/** Key pairs: `keygen` from a seed, `publicKey` from a secret key. */
import { shakeAbsorb, shakeFlip, shakeInit } from '../shared/keccak';
import { E_INTERNAL, OK } from '../shared/status';
import { encodePublicKey } from './codec';
import { gaussianInit } from './gaussianF';
import { KEYGEN, KEYGEN_SIZE, ROW, SMALL } from './keygenLayout';
import { PK, SEED, SHAKE } from './layout';
import { FIT, judgeSmall, ntruGen } from './ntruGen';
import { SOLVED, ntruSolve } from './ntruSolve';
import { publicKeyLength } from './params';
import { completeSecretKey, decodeSecretKey, encodeSecretKey, quotientModQ } from './secretKey';

/** Bytes of a key generation seed. */
export const KEYGEN_SEED: i32 = 48;

/**
 * A key pair from a seed: for every seed the one of the round-3 reference.
 *
 * Spec:   Falcon round 3, Algorithms 4 and 5; reference version 20211101
 * Shape:  SEED: u8[48] -> PK, SK
 * Memory: PK, SK, SHAKE and the scratch of keygenLayout.ts, which is cleared
 * Secret: all but PK
 * Errors: none (an unfit candidate is thrown away and the next one drawn); E_INTERNAL only for a fault
 */
export function keygen(logn: i32): i32 {
  const f = SMALL;
  const g = SMALL + 1024;
  const F = SMALL + 2048;
  const G = SMALL + 3072;
  const h = ROW;
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, SEED, KEYGEN_SEED);
  shakeFlip(SHAKE);
  gaussianInit();
  while (true) {
    ntruGen(logn, f, g);
    if (judgeSmall(logn, f, g) != FIT) continue;
    if (quotientModQ(logn, h, f, g) != OK) continue;
    encodePublicKey(PK, h, logn);
    if (ntruSolve(logn, F, G, f, g) == SOLVED) break;
  }
  const status = encodeSecretKey(logn, f, g, F);
  memory.fill(KEYGEN, 0, KEYGEN_SIZE);
  shakeInit(SHAKE);
  if (status == OK) return OK;
  memory.fill(PK, 0, publicKeyLength(logn));
  return E_INTERNAL;
}

/**
 * The public key of a secret key.
 *
 * Spec:   Falcon round 3, section 3.11.5
 * Shape:  SK -> PK
 * Memory: PK, ROW, SMALL (cleared)
 * Secret: SK
 * Errors: E_SK_HEADER, E_SK_RANGE, E_SK_INVALID; PK is zeroed
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
