/**
 * Reproducible signing: salt and coins are derived from the key and the message.
 *
 *   DETERMINISTIC  salt    0 || logn || "FALCON_DET" || 28 zero bytes
 *                  coins   SHAKE256(logn || secret key || message)
 *   DERIVED        salt    SHAKE256("falconry salt v1" || public key || message), 40 bytes
 *                  coins   SHAKE256("falconry derived coins v1" || logn || secret key || message)
 *
 * The input before the message depends on the key alone. The sponges that have absorbed it are at
 * the end of the expanded key, SHAKE_STATE bytes each:
 *
 *   | coins, deterministic | coins, derived | hedged (hedged.ts) | salt, derived |
 *
 * A message is absorbed in pieces: `startCoins`, `updateCoins` for each, `finishCoins`; then
 * `signReproducibly` signs the same message.
 */
import { shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze, SHAKE_STATE } from '../shared/keccak';
import { canonicalPoly, intt } from '../shared/ntt';
import { COMPRESSED, encodePublicKey, PADDED } from './codec';
import { expandedPrepared, expandedSponges } from './expandKey';
import { PK, PRODUCT, SEED, SHAKE, SK } from './layout';
import { publicKeyLength, SALT_LENGTH } from './params';
import { ROUND_3 } from './profile';
import { secretKeyLength } from './secretKey';
import { SEEDS, signPoint } from './sign';

/** Kinds, as passed by callers: 0 is DETERMINISTIC. */
const DERIVED: i32 = 1;
/** See hedged.ts; only for `absorbKey`. */
export const HEDGED: i32 = 2;

/** "FALCON_DET" */
const CONSTANT_LABEL: usize = memory.data<u8>([70, 65, 76, 67, 79, 78, 95, 68, 69, 84]);
/** "falconry salt v1" */
const SALT_LABEL: usize = memory.data<u8>([
  102, 97, 108, 99, 111, 110, 114, 121, 32, 115, 97, 108, 116, 32, 118, 49,
]);
/** "falconry derived coins v1" */
const COINS_LABEL: usize = memory.data<u8>([
  102, 97, 108, 99, 111, 110, 114, 121, 32, 100, 101, 114, 105, 118, 101, 100, 32, 99, 111, 105,
  110, 115, 32, 118, 49,
]);
/** "falconry hedged v1" */
const HEDGED_LABEL: usize = memory.data<u8>([
  102, 97, 108, 99, 111, 110, 114, 121, 32, 104, 101, 100, 103, 101, 100, 32, 118,
  49,
]);

/**
 * Makes the sponges of a kind, after an expansion.
 *
 * Spec:   Deterministic Falcon, section 2.3 (coins); docs/profiles.md, "Derived salts"; hedged.ts
 * Shape:  SK, EXPANDED as expandSecretKey leaves it -> the sponges of this kind in EXPANDED
 * Memory: SK, EXPANDED, PK, PRODUCT
 * Secret: SK; no branch or index depends on it
 * Proof:  reveals(0), logn in {9, 10}, kind in {0, 1, 2}
 */
export function absorbKey(logn: i32, kind: i32): void {
  const coins = spongeOfCoins(logn, kind);
  shakeInit(coins);
  if (kind == HEDGED) shakeAbsorb(coins, HEDGED_LABEL, 18);
  if (kind == DERIVED) {
    shakeAbsorb(coins, COINS_LABEL, 25);
    const salt = spongeOfSalt(logn);
    encodePrepared(logn);
    shakeInit(salt);
    shakeAbsorb(salt, SALT_LABEL, 16);
    shakeAbsorb(salt, PK, publicKeyLength(logn));
  }
  store<u8>(SEED, logn);
  shakeAbsorb(coins, SEED, 1);
  shakeAbsorb(coins, SK, secretKeyLength(logn));
}

/** Encodes the public key of the expanded key into PK. */
function encodePrepared(logn: i32): void {
  let from = expandedPrepared(logn);
  // every vector of the transform is followed by its companions
  for (let to = PRODUCT, end = to + (<usize>2 << logn); to < end; to += 16, from += 32) {
    v128.store(to, v128.load(from));
  }
  intt(PRODUCT, logn);
  canonicalPoly(PRODUCT, logn);
  encodePublicKey(PK, PRODUCT, logn);
}

/** Address of the sponge that has absorbed the secret key, of this kind. */
export function spongeOfCoins(logn: i32, kind: i32): usize {
  return expandedSponges(logn) + <usize>(kind * SHAKE_STATE);
}

function spongeOfSalt(logn: i32): usize {
  return expandedSponges(logn) + 3 * SHAKE_STATE;
}

/**
 * Starts the coins of a message, and its salt if it depends on the message.
 *
 * Shape:  EXPANDED with the sponges of this kind -> SEEDS; SHAKE (derived) or SEED (deterministic)
 * Memory: EXPANDED, SEEDS, SHAKE, SEED
 * Secret: the sponge of the coins
 * Proof:  reveals(0, after absorbKey(logn, kind)), logn in {9, 10}, kind in {0, 1}
 */
export function startCoins(logn: i32, kind: i32): void {
  memory.copy(SEEDS, spongeOfCoins(logn, kind), SHAKE_STATE);
  if (kind == DERIVED) {
    memory.copy(SHAKE, spongeOfSalt(logn), SHAKE_STATE);
  } else {
    memory.fill(SEED, 0, SALT_LENGTH);
    store<u8>(SEED, logn, 1);
    memory.copy(SEED + 2, CONSTANT_LABEL, 10);
  }
}

/**
 * Absorbs the next piece of the message.
 *
 * Shape:  u8[len] at ptr
 * Memory: SEEDS, SHAKE, ptr
 * Secret: SEEDS
 * Proof:  reveals(0, after absorbKey(logn, kind), after startCoins(logn, kind)),
 *         logn in {9, 10}, kind in {0, 1}, len in {64, 200}
 */
export function updateCoins(kind: i32, ptr: usize, len: i32): void {
  shakeAbsorb(SEEDS, ptr, len);
  if (kind == DERIVED) shakeAbsorb(SHAKE, ptr, len);
}

/**
 * Ends the message. The coins can then be drawn from SEEDS, and the salt is in SEED.
 *
 * Shape:  -> SEED[0..40)
 * Memory: SEEDS, SHAKE, SEED
 * Secret: SEEDS
 * Proof:  reveals(0, after absorbKey(logn, kind), after startCoins(logn, kind),
 *         after updateCoins(kind, IN, len)), logn in {9, 10}, kind in {0, 1}, len in {64, 200}
 */
export function finishCoins(kind: i32): void {
  shakeFlip(SEEDS);
  if (kind == DERIVED) {
    shakeFlip(SHAKE);
    shakeSqueeze(SHAKE, SEED, SALT_LENGTH);
  }
}

/**
 * Signs with the expanded key in EXPANDED, and the salt and the coins that `finishCoins` leaves.
 *
 * A point must never get two signatures. Hence acceptance of an attempt must not depend on the
 * requested form: s2 must fit the compressed form (deterministic; the reference requires the same)
 * or the padded one (derived).
 *
 * Spec:   Falcon round 3, algorithm 10 (Sign); Deterministic Falcon, section 2.3
 * Shape:  EXPANDED, SEED = salt (40), SEEDS, message as for hashMessage (salt from SEED) -> SIG, an
 *         ordinary signature
 * Memory: as signExpanded
 * Secret: EXPANDED, SEEDS
 * Errors: E_INTERNAL, as signExpanded; otherwise the signature's length
 * Proof:  reveals(7, shifts 1, judgeFour & 4294967295, SIG..PREPARED at encodeSignature,
 *         S2..PRODUCT at encodeSignature, after absorbKey(logn, kind),
 *         after startCoins(logn, kind), after updateCoins(kind, IN, messageLen),
 *         after finishCoins(kind)),
 *         logn kind format messageLen in {9 0 2 200, 9 1 2 64, 10 1 2 200}
 * Builds: falcon, falcon.relaxed
 * Proof:  reveals(7, shifts 1, judgeFour & 4294967295, SHAKE..SK at squeezePoint,
 *         SIG..PREPARED at encodeSignature, S2..BATCH_RECORDS at encodeSignature,
 *         after absorbKey(logn, kind), after startCoins(logn, kind),
 *         after updateCoins(kind, IN, messageLen), after finishCoins(kind)),
 *         logn kind format messageLen in {9 1 1 200, 10 0 0 64}
 * Builds: falcon, falcon.relaxed
 */
export function signReproducibly(logn: i32, kind: i32, format: i32, messageLen: i32): i32 {
  return signPoint(logn, kind == DERIVED ? PADDED : COMPRESSED, format, messageLen, ROUND_3);
}
