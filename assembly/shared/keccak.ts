/**
 * SHAKE256 over a state that the caller provides.
 *
 *   state, 256 bytes, 16-aligned
 *   0          200        204              256
 *   | u64[25]  | position | unused         |
 *
 * `position` counts the bytes of the current 136-byte block that are absorbed, or squeezed after
 * `shakeFlip`.
 */
import { keccakF } from './keccakF.gen';

/** Bytes per block of SHAKE256: (1600 - 2 * 256) / 8. */
export const RATE: i32 = 136;
/** Bytes of a state, provided by the caller. */
export const SHAKE_STATE: i32 = 256;
const POSITION: usize = 200;

/**
 * Writes zeros; for short regions, where V8's memory.fill costs a call out of the module.
 *
 * Shape:  ptr: u8[len], len a multiple of 16
 * Memory: ptr
 */
// @ts-ignore: decorator
@inline
export function clear(ptr: usize, len: i32): void {
  for (const end = ptr + <usize>len; ptr < end; ptr += 16) v128.store(ptr, i64x2.splat(0));
}

/**
 * Initialises an empty sponge.
 *
 * Spec:   FIPS 202, section 6.2
 * Memory: state[256]
 */
export function shakeInit(state: usize): void {
  clear(state, SHAKE_STATE);
}

/**
 * Absorbs bytes; may be called any number of times before `shakeFlip`.
 *
 * Spec:   FIPS 202, section 4, steps 1-6, byte-wise
 * Shape:  ptr: u8[len]
 * Memory: state, ptr
 * Secret: the bytes (branches depend on lengths only)
 * Proof:  none: branches depend on lengths alone; keccakF is proved
 */
export function shakeAbsorb(state: usize, ptr: usize, len: i32): void {
  let position = load<i32>(state, POSITION);
  while (len > 0) {
    if ((position & 7) == 0 && len >= 8) {
      const lane = state + <usize>position;
      store<u64>(lane, load<u64>(lane) ^ load<u64>(ptr));
      position += 8;
      ptr += 8;
      len -= 8;
    } else {
      const at = state + <usize>position;
      store<u8>(at, load<u8>(at) ^ load<u8>(ptr));
      position += 1;
      ptr += 1;
      len -= 1;
    }
    if (position == RATE) {
      keccakF(state);
      position = 0;
    }
  }
  store<i32>(state, position, POSITION);
}

/**
 * Ends the input: pads, and switches the sponge to squeezing.
 *
 * Spec:   FIPS 202, section 6.2 (domain bits 1111) and section 5.1 (pad10*1)
 * Memory: state
 */
export function shakeFlip(state: usize): void {
  flip(state, 0x1f);
}

/**
 * Like `shakeFlip`, for Keccak-256 before FIPS 202: no domain bits.
 *
 * Spec:   Keccak submission to NIST, 2011, pad10*1 alone
 * Memory: state
 */
export function keccakFlip(state: usize): void {
  flip(state, 0x01);
}

/** Pads with the domain's bits and a one, lowest first. */
function flip(state: usize, domain: u8): void {
  const at = state + <usize>load<i32>(state, POSITION);
  store<u8>(at, load<u8>(at) ^ domain);
  store<u8>(state, load<u8>(state, 135) ^ 0x80, 135);
  store<i32>(state, RATE, POSITION); // the block is exhausted: the first squeeze permutes
}

/**
 * Writes the next bytes of output; may be called any number of times after `shakeFlip`.
 *
 * Spec:   FIPS 202, section 4, steps 7-10, byte-wise
 * Shape:  out: u8[len]
 * Memory: state, out
 * Secret: the bytes (branches depend on lengths only)
 * Proof:  none: branches depend on lengths alone; keccakF is proved
 */
export function shakeSqueeze(state: usize, out: usize, len: i32): void {
  let position = load<i32>(state, POSITION);
  while (len > 0) {
    if (position == RATE) {
      keccakF(state);
      position = 0;
    }
    if (len >= 8 && position + 8 <= RATE) {
      store<u64>(out, load<u64>(state + <usize>position));
      position += 8;
      out += 8;
      len -= 8;
    } else {
      store<u8>(out, load<u8>(state + <usize>position));
      position += 1;
      out += 1;
      len -= 1;
    }
  }
  store<i32>(state, position, POSITION);
}
