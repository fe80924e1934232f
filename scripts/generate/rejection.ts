/**
 * Writes `assembly/falcon/rejection.gen.ts`: for every set of kept lanes (one bit each), the byte
 * indices that move those lanes of a vector to its front, in order. Index 0x80 gives zero.
 */
export function rejectionSource(): string {
  const rows: string[] = [];
  for (let keep = 0; keep < 256; keep++) {
    const indices = [0, 1, 2, 3, 4, 5, 6, 7]
      .filter((lane) => (keep >> lane) & 1)
      .flatMap((lane) => [2 * lane, 2 * lane + 1]);
    while (indices.length < 16) indices.push(0x80);
    rows.push(`    ${indices.join(', ')},`);
  }
  return `/** Row m moves the lanes whose bit is set in m to the front; used by hash-to-point. */
export const KEEP_LANES: usize = memory.data<u8>(
  [
${rows.join('\n')}
  ],
  16,
);
`;
}
