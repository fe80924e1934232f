/**
 * Challenges with few, small coefficients: alpha of the second copy, c of the amortisation, short
 * polynomials.
 */
import { OK } from '../shared/status';
import { C_TABLE } from './cosTable.gen';
import { readByte, readWord, xofBlocks } from './xof';

/** Number of zeros of a challenge, and of coefficients +-1 and +-2; the others are +-3. */
const ALPHA_ZEROS: i32 = 21;
const ALPHA_ONES: i32 = 30;
const ALPHA_TWOS: i32 = 13;
const C_ZEROS: i32 = 22;
const C_ONES: i32 = 28;
const C_TWOS: i32 = 12;
/**
 * The bound of the squared magnitudes at the complex roots. Equality cannot occur: 376 * 2^40 is
 * divisible by 47 exactly once, so it is not a sum of two squares.
 */
const OPERATOR_BOUND: i64 = 376;

/**
 * Draws a polynomial with `zeros` zeros, `ones` coefficients +-1, `twos` coefficients +-2 and
 * otherwise +-3, from the stream (inside-out shuffle).
 */
function shuffleSigns(out: usize, zeros: i32, ones: i32, twos: i32): void {
  memory.fill(out, 0, 128);
  let signs = readWord();
  for (let position = zeros; position < 64; position++, signs >>= 1) {
    let k = 64;
    while (k > position) k = readByte() & 63;
    const at = out + (<usize>k << 1);
    store<i16>(out + (<usize>position << 1), load<i16>(at));
    const place = position - zeros;
    const magnitude = 1 + i32(place >= ones) + i32(place >= ones + twos);
    store<i16>(at, <i16>select<i32>(-magnitude, magnitude, (signs & 1) != 0));
  }
}

/**
 * Returns whether |a(zeta)|^2 is at most 376 at the 32 odd powers of e^(i pi/64), one of each
 * conjugate pair.
 *
 * Spec:   docs/protocol.md, 5.4: cosines rounded to 30 bits, sums shifted right by 10, exact in
 *         integers
 * Shape:  a: i16[64]
 * Bounds: |a| <= 3: |re|, |im| <= 192 * 2^30 before the shift, the sum of their squares < 2^57
 * Memory: a
 * Proof:  none: no reference yet
 */
export function isShortOperator(a: usize): bool {
  for (let k = 1; k < 64; k += 2) {
    let re: i64 = 0;
    let im: i64 = 0;
    let angle = 0; // k t mod 128
    for (let t: usize = 0; t < 128; t += 2, angle = (angle + k) & 127) {
      const x = <i64>load<i16>(a + t);
      re += x * <i64>load<i32>(C_TABLE + (<usize>angle << 2));
      im += x * <i64>load<i32>(C_TABLE + (<usize>((angle + 96) & 127) << 2));
    }
    re >>= 10;
    im >>= 10;
    if ((re * re + im * im) >> 40 >= OPERATOR_BOUND) return false;
  }
  return true;
}

/**
 * Samples alpha: 30 coefficients +-1, 13 coefficients +-2, from the stream selected by xofStart.
 *
 * Spec:   docs/protocol.md, 5.4
 * Shape:  out: i16[64]
 * Memory: out, the stream
 */
export function sampleAlpha(out: usize): i32 {
  shuffleSigns(out, ALPHA_ZEROS, ALPHA_ONES, ALPHA_TWOS);
  return OK;
}

/**
 * Samples c: 28 coefficients +-1, 12 coefficients +-2, 2 coefficients +-3, with a squared operator
 * norm of at most 376.
 *
 * Spec:   docs/protocol.md, 5.4
 * Shape:  out: i16[64]
 * Memory: out, the stream
 * Errors: none; returns the number of attempts, about 1.8
 */
export function sampleC(out: usize): i32 {
  let attempts = 1;
  for (shuffleSigns(out, C_ZEROS, C_ONES, C_TWOS); !isShortOperator(out); attempts++) {
    shuffleSigns(out, C_ZEROS, C_ONES, C_TWOS);
  }
  return attempts;
}

/** One block of the stream. */
const BYTES: usize = memory.data(256, 16);

/**
 * Samples a short polynomial: coefficients uniform in [-4, 3], from the first 24 bytes of the
 * stream.
 *
 * Spec:   docs/protocol.md, 5.2
 * Shape:  out: i16[64]
 * Memory: out, BYTES
 */
export function sampleShort(out: usize): i32 {
  xofBlocks(BYTES, 0, 1);
  for (let from: usize = BYTES; from < BYTES + 24; from += 3) {
    let bits = load<u32>(from);
    for (let i = 0; i < 8; i++, bits >>= 3, out += 2) store<i16>(out, <i16>(<i32>(bits & 7) - 4));
  }
  return OK;
}
