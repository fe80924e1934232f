/**
 * The two parameter sets, as functions of logn (9 or 10).
 *
 * Spec:   Falcon, round 3, table 3.3; lengths in section 3.11
 */
export const Q: i32 = 12289;
export const SALT_LENGTH: i32 = 40;

/** Maximum ||(s1, s2)||^2 of a signature. */
// @ts-ignore: decorator
@inline
export function betaSq(logn: i32): u32 {
  return logn == 9 ? 34034726 : 70265242;
}

// @ts-ignore: decorator
@inline
export function publicKeyLength(logn: i32): i32 {
  return 1 + (7 << (logn - 2));
}

/** Exact length of padded signatures in bytes. */
// @ts-ignore: decorator
@inline
export function paddedLength(logn: i32): i32 {
  return logn == 9 ? 666 : 1280;
}

/** Exact length of signatures of the constant-time form in bytes. */
// @ts-ignore: decorator
@inline
export function constantTimeLength(logn: i32): i32 {
  return 41 + (3 << (logn - 1));
}

/** Maximum length of compressed signatures in bytes. */
// @ts-ignore: decorator
@inline
export function compressedMaxLength(logn: i32): i32 {
  return logn == 9 ? 752 : 1462;
}
