/**
 * Writes `assembly/labrador/cosTable.gen.ts`: C_j = 2^30 cos(pi j / 64), rounded, for the operator
 * norm of challenges.
 */
import { rowsOf } from './table.ts';

export function cosines(): number[] {
  return Array.from(
    { length: 128 },
    (_, j) => Math.round(2 ** 30 * Math.cos((Math.PI * j) / 64)) + 0,
  );
}

export function cosinesSource(): string {
  return `/** i32[128]: the nearest integers to 2^30 cos(pi j / 64). */
export const C_TABLE: usize = memory.data<i32>([
${rowsOf(cosines(), 8)}
]);
`;
}
