/**
 * Key pairs of the FN-DSA draft profile: f and g come from a different stream; the tests and the
 * equation are the same. The secret key's small values are packed with the lowest bit first:
 *
 *   | 0x50 + logn | f: n x b bits | g: n x b bits | F: n bytes |    b = 6 (n = 512), 5 (n = 1024)
 */
import * as R from './real';
import { shakeAbsorb, shakeFlip, shakeInit, shakeSqueeze } from '../shared/keccak';
import { E_INTERNAL, OK } from '../shared/status';
import {
  DRAFT_GAUSS_1024,
  DRAFT_GAUSS_1024_ENTRIES,
  DRAFT_GAUSS_512,
  DRAFT_GAUSS_512_ENTRIES,
} from './draftTables.gen';
import { MAX_REDRAWS, parityOf } from './gaussianF';
import { completes, MAX_CANDIDATES } from './keygen';
import { KEYGEN, KEYGEN_SIZE, ROW, SMALL, STREAM } from './keygenLayout';
import { PK, SEED, SHAKE, SK } from './layout';
import { gramSchmidtNorm } from './ntruGen';
import { publicKeyLength } from './params';
import { encodeSecretKey, quotientModQ, secretKeyLength, smallBits } from './secretKey';

const DRAFT_KEYGEN_SEED: i32 = 32;
/** 0.999^2 1.17^2 q in units of 2^-32, as the crate rounds it: a little stricter than round 3. */
const GRAM_SCHMIDT_BOUND: u64 = R.bits(72107278641426.0 / 4294967296.0);

/**
 * Draws one coefficient from 16 bits: the lowest is the sign, the others are compared with the
 * entire table.
 *
 * Spec:   rust-fn-dsa 0.4.0 (docs/references.md), sample_f
 * Memory: SHAKE, STREAM
 * Secret: the result
 * Proof:  none: rejection: the number of draws depends on the stream
 */
function drawCoefficient(logn: i32): i32 {
  shakeSqueeze(SHAKE, STREAM, 2);
  const word = <i32>load<u16>(STREAM);
  const table = logn == 9 ? DRAFT_GAUSS_512 : DRAFT_GAUSS_1024;
  const entries = logn == 9 ? DRAFT_GAUSS_512_ENTRIES : DRAFT_GAUSS_1024_ENTRIES;
  let magnitude = 0;
  for (let i = 0; i < entries; i++) {
    magnitude += i32(word >> 1 < <i32>load<u16>(table + (<usize>i << 1)));
  }
  const sign = -(word & 1);
  return (magnitude ^ sign) - sign;
}

/**
 * Samples f or g with an odd sum: redraws the last coefficient until the sum is odd. False after
 * MAX_REDRAWS.
 */
function sampleDraft(f: usize, logn: i32): bool {
  const n = 1 << logn;
  const last = f + n - 1;
  for (let at = f; at <= last; at++) store<i8>(at, drawCoefficient(logn));
  let odd = parityOf(f, n);
  for (let redraws = 0; !odd; redraws++) {
    if (redraws == MAX_REDRAWS) return false;
    const x = drawCoefficient(logn);
    odd = (<i32>load<i8>(last) ^ x) & 1;
    store<i8>(last, x);
  }
  return true;
}

/**
 * Generates a key pair from a seed.
 *
 * The crate's solver uses fixed-point arithmetic and fails on some pairs (f, g) that this one
 * solves. In that case the crate's key comes later in the same stream: `skip` is the number of
 * solved pairs to pass over.
 *
 * Spec:   rust-fn-dsa 0.4.0 (docs/references.md), keygen_from_seed: f is tested for invertibility
 *         before g is drawn, and the bound of the Gram-Schmidt norm is stricter
 * Shape:  SEED: u8[32]; skip: 0, or more in tests -> PK (round-3 encoding), SK (draft encoding,
 *         without the key's hash)
 * Memory: PK, SK, SHAKE and the scratch of keygenLayout.ts, which is cleared
 * Secret: all but PK
 * Errors: E_INTERNAL only for a fault, PK and SK zeroed
 * Proof:  none: rejects and redraws candidates
 */
export function keygenDraft(logn: i32, skip: i32): i32 {
  const f = SMALL;
  const g = SMALL + 1024;
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, SEED, DRAFT_KEYGEN_SEED);
  shakeFlip(SHAKE);
  let found: bool = false;
  for (let left = MAX_CANDIDATES; left > 0 && !found; left--) {
    if (!sampleDraft(f, logn)) break;
    if (quotientModQ(logn, ROW, f, f) != OK) continue;
    if (!sampleDraft(g, logn)) break;
    if (!R.less1(gramSchmidtNorm(logn, f, g), GRAM_SCHMIDT_BOUND)) continue;
    if (!completes(logn, f, g, SMALL + 2048, SMALL + 3072)) continue;
    found = skip == 0;
    skip -= 1;
  }
  found = found && encodeSecretKey(logn, f, g, SMALL + 2048) == OK;
  memory.fill(KEYGEN, 0, KEYGEN_SIZE);
  shakeInit(SHAKE);
  if (found) {
    repackSecretKey(logn, true);
    return OK;
  }
  memory.fill(PK, 0, publicKeyLength(logn));
  memory.fill(SK, 0, secretKeyLength(logn));
  return E_INTERNAL;
}

/**
 * Converts the packing of f and g in SK to the other encoding, eight values (b bytes) at a time.
 *
 *   draft     bit 0 of byte 0 is the lowest of the first value
 *   round 3   bit 7 of byte 0 is the highest of the first value
 *
 * Shape:  SK, of either encoding -> SK, of the other one
 * Memory: SK
 * Secret: SK
 * Proof:  none: no statement yet
 */
export function repackSecretKey(logn: i32, toDraft: bool): void {
  const bits = smallBits(logn);
  const mask: u64 = (1 << bits) - 1;
  const last = bits - 1;
  const end = SK + 1 + ((<usize>(2 * bits) << logn) >> 3);
  for (let at = SK + 1; at < end; at += bits) {
    let word: u64 = 0;
    for (let i = last; i >= 0; i--) {
      word = (word << 8) | <u64>load<u8>(at + (toDraft ? last - i : i));
    }
    let turned: u64 = 0;
    for (let i = 0; i < 8; i++) {
      turned = (turned << bits) | (word & mask);
      word >>= bits;
    }
    for (let i = 0; i < bits; i++) {
      store<u8>(at + (toDraft ? i : last - i), turned >> (8 * i));
    }
  }
}
