/** Writes `assembly/labrador/cosTable.gen.ts`: C_j = 2^30 cos(pi j / 64), rounded, for the operator norm of challenges. */
export function cosines(): number[] {
  return Array.from(
    { length: 128 },
    (_, j) => Math.round(2 ** 30 * Math.cos((Math.PI * j) / 64)) + 0,
  );
}

export function cosinesSource(): string {
  const values = cosines();
  const lines = Array.from(
    { length: 16 },
    (_, i) => `  ${values.slice(8 * i, 8 * i + 8).join(', ')},`,
  );
  return `/** i32[128]: the nearest integers to 2^30 cos(pi j / 64). */
export const C_TABLE: usize = memory.data<i32>([
${lines.join('\n')}
]);
`;
}
