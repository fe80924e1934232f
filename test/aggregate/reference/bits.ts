/** Numbers of w bits as bytes, least significant bit first. */
export function bitsOf(w: number, list: readonly (number | bigint)[]): number[] {
  const all = list.reduce<bigint>((sum, x, i) => sum | (BigInt(x) << BigInt(w * i)), 0n);
  return Array.from({ length: Math.ceil((w * list.length) / 8) }, (_, i) =>
    Number((all >> BigInt(8 * i)) & 255n),
  );
}
