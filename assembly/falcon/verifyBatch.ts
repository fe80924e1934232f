/**
 * Verifies many signatures in one call: hashes two messages at once where that is faster. The
 * prepared keys stay in place.
 *
 *   BATCH_RECORDS   per item  | input | inputLen | sig | sigLen | key | status |      six i32
 *                   input     offset in BATCH_DATA of 40 bytes for the salt, then the message
 *                   inputLen  40 + message length; the 144 bytes after it are for the padding
 *                   sig       offset in BATCH_DATA of the signature; 15 bytes after it may be read
 *                   key       number of a prepared key in BATCH_PREPARED, 4n bytes each
 *                   status    written: OK or E_SIG_*
 */
import { SALT_LENGTH } from './params';
import { shakeAbsorb, shakeFlip, shakeInit } from '../shared/keccak';
import { COMPRESSED, CONSTANT_TIME, decodeSignature, isConstantTime } from './codec';
import { padInput, squeezeTwoPoints } from './hashToPoint';
import { squeezePointFor } from './hashToPointCt';
import {
  BATCH_DATA,
  BATCH_PREPARED,
  BATCH_RECORDS,
  PK,
  POINT,
  POINT_B,
  PRODUCT,
  S2,
  SHAKE,
  TWO_STATES,
} from './layout';
import { judge, prepareInto } from './verify';

const RECORD: usize = 24;

// @ts-ignore: decorator
@inline
function inputOf(record: usize): usize {
  return BATCH_DATA + <usize>load<u32>(record);
}

// @ts-ignore: decorator
@inline
function sigOf(record: usize): usize {
  return BATCH_DATA + <usize>load<u32>(record, 8);
}

/**
 * Prepares PK into slot `key` of BATCH_PREPARED.
 *
 * Memory: PK, PRODUCT, BATCH_PREPARED
 * Errors: E_PK_HEADER, E_PK_RANGE
 */
export function prepareBatchKey(logn: i32, key: i32): i32 {
  return prepareInto(BATCH_PREPARED + (<usize>key << (logn + 2)), PK, logn);
}

/**
 * Verifies `count` items.
 *
 * Spec:   Falcon, round 3, Algorithm 16, for each
 * Hashes two messages at once (not those of constant-time signatures) if `twoWay` is 1, one by one
 * if it is 0; the results are the same.
 *
 * Memory: BATCH_*, SHAKE, TWO_STATES, POINT, POINT_B, S2, PRODUCT, WORDS, PAIRS
 * Errors: one status per record; returns how many are not OK
 * Proof:  hashTwo(), logn count twoWay first second pattern in {9 2 1 200 200 0, 9 2 1 40 200 1,
 *         9 2 1 200 40 0}
 */
export function verifyBatch(logn: i32, count: i32, twoWay: i32): i32 {
  let record = BATCH_RECORDS;
  let left = count;
  let invalid = 0;
  if (twoWay) {
    for (; left >= 2; left -= 2, record += 2 * RECORD) {
      if (isConstantTime(sigOf(record), logn) || isConstantTime(sigOf(record + RECORD), logn)) {
        hashOne(record, POINT, logn);
        hashOne(record + RECORD, POINT_B, logn);
      } else {
        hashTwo(record, record + RECORD, logn);
      }
      invalid += judgeRecord(record, POINT, logn);
      invalid += judgeRecord(record + RECORD, POINT_B, logn);
    }
  }
  for (; left > 0; left -= 1, record += RECORD) {
    hashOne(record, POINT, logn);
    invalid += judgeRecord(record, POINT, logn);
  }
  return invalid;
}

/** Copies the salt, bytes 1-40 of the signature, in front of the message. */
// @ts-ignore: decorator
@inline
function placeSalt(record: usize): void {
  const from = sigOf(record) + 1;
  const to = inputOf(record);
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  store<u64>(to, load<u64>(from, 32), 32);
}

function hashTwo(a: usize, b: usize, logn: i32): void {
  placeSalt(a);
  placeSalt(b);
  const inputA = inputOf(a);
  const inputB = inputOf(b);
  const blocksA = padInput(inputA, load<i32>(a, 4));
  const blocksB = padInput(inputB, load<i32>(b, 4));
  squeezeTwoPoints(POINT, POINT_B, TWO_STATES, inputA, blocksA, inputB, blocksB, logn);
}

function hashOne(record: usize, point: usize, logn: i32): void {
  const sig = sigOf(record);
  shakeInit(SHAKE);
  shakeAbsorb(SHAKE, sig + 1, SALT_LENGTH);
  shakeAbsorb(SHAKE, inputOf(record) + <usize>SALT_LENGTH, load<i32>(record, 4) - SALT_LENGTH);
  shakeFlip(SHAKE);
  const format = isConstantTime(sig, logn) ? CONSTANT_TIME : COMPRESSED;
  squeezePointFor(format, point, SHAKE, logn);
}

/** Writes the record's status; 1 if it is not OK. */
function judgeRecord(record: usize, cRaw: usize, logn: i32): i32 {
  let status = decodeSignature(sigOf(record), load<i32>(record, 12), S2, PRODUCT, logn);
  if (status >= 0) {
    const key = <usize>load<i32>(record, 16);
    status = judge(cRaw, BATCH_PREPARED + (key << (logn + 2)), logn);
  }
  store<i32>(record, status, 20);
  return i32(status < 0);
}
