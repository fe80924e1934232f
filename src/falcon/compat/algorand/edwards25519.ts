/** Point check for Edwards25519. For public data only. */

/** The field's order. */
const P = 2n ** 255n - 19n;
/**
 * Parameter d of the curve -x^2 + y^2 = 1 + d x^2 y^2: -121665 / 121666 (RFC 8032, section 5.1).
 */
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Returns whether 32 bytes decode to a point, with lenient rules: y (the low 255 bits) may be as
 * large as 2^255 - 1 and is reduced mod p; the sign of x is ignored; points of small order count.
 *
 * x^2 = (y^2 - 1) / (d y^2 + 1) has a root if numerator times denominator is a square (Euler). The
 * denominator is never 0, since -1/d is not a square.
 */
export function isEdwardsPoint(bytes: Uint8Array): boolean {
  let y = 0n;
  for (let i = 31; i >= 0; i--) y = (y << 8n) | BigInt(i === 31 ? bytes[i]! & 0x7f : bytes[i]!);
  const ySq = (y * y) % P;
  const product = ((ySq + P - 1n) * (D * ySq + 1n)) % P;
  return power(product, (P - 1n) / 2n) !== P - 1n;
}

/** base^exponent mod p */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
