/** Other bytes of the coder (docs/bundle-format.md 3.2) that give the same values. */

/** f and c of every value, in order. */
export type Model = readonly { readonly f: bigint; readonly c: bigint }[];

const STATE_BYTES = 6;
const [M, L] = [1n << 24n, 1n << 32n];

/**
 * Bytes whose first state is below 2^32 because a word of it is left in the stream. A decoder that
 * does not look at this reads the same values, and ends where the honest bytes end.
 */
export function withSmallState(bytes: Uint8Array, model: Model): Uint8Array {
  let x = 0n;
  for (const byte of bytes.subarray(0, STATE_BYTES)) x = (x << 8n) | BigInt(byte);
  const slot = x % M;
  const { f, c } = model.findLast((one) => one.c <= slot)!;
  const next = f * (x / M) + slot - c;
  const shorter = next >> 16n;
  const small = (shorter / f) * M + (shorter % f) + c;
  if (small >= L) throw new RangeError('the state is not below 2^32');
  const first = Array.from({ length: STATE_BYTES }, (_, i) => {
    return Number((small >> BigInt(8 * (STATE_BYTES - 1 - i))) & 255n);
  });
  const word = [Number((next >> 8n) & 255n), Number(next & 255n)];
  const behind = bytes.subarray(2 * STATE_BYTES);
  return Uint8Array.of(
    ...first,
    ...bytes.subarray(STATE_BYTES, 2 * STATE_BYTES),
    ...word,
    ...behind,
  );
}
