/** Linear equations modulo q, and short solutions of them: what provers solve that choose late. */
import { mod, Q } from '../../reference/prover/ring.ts';

type Vector = readonly bigint[];

/** 1/x modulo q. */
export function inverseOf(x: bigint): bigint {
  let result = 1n;
  for (let e = Q - 2n, base = mod(x, Q); e > 0n; e >>= 1n, base = (base * base) % Q) {
    if (e & 1n) result = (result * base) % Q;
  }
  return result;
}

/**
 * Coefficients x of the columns, not all zero, with sum of x_i column_i = 0: one column more than
 * they have entries.
 */
export function kernelOf(columns: readonly Vector[]): bigint[] {
  const last = columns.at(-1)!;
  return [
    ...solve(
      columns.slice(0, -1),
      last.map((x) => -x),
    ),
    1n,
  ];
}

/**
 * Coefficients x of the columns with sum of x_i column_i = target; as many columns as entries.
 *
 * @throws RangeError if the columns are dependent
 */
export function solve(columns: readonly Vector[], target: Vector): bigint[] {
  const n = target.length;
  const rows = target.map((right, i) => [...columns.map((column) => column[i]!), right]);
  for (let i = 0; i < n; i++) {
    const pivot = rows.findIndex((row, at) => at >= i && mod(row[i]!, Q) !== 0n);
    if (pivot < 0 || columns.length !== n) throw new RangeError('dependent columns');
    [rows[i], rows[pivot]] = [rows[pivot]!, rows[i]!];
    const factor = inverseOf(rows[i]![i]!);
    rows[i] = rows[i]!.map((x) => mod(x * factor, Q));
    for (let other = 0; other < n; other++) {
      if (other === i) continue;
      const by = rows[other]![i]!;
      rows[other] = rows[other]!.map((x, at) => mod(x - by * rows[i]![at]!, Q));
    }
  }
  return rows.map((row) => row[n]!);
}
