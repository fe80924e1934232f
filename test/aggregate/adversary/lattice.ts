/** Short integer solutions of linear equations modulo q, by lattice reduction over the integers. */
import { Q } from '../../reference/prover/ring.ts';
import { solve } from './linear.ts';

type Vector = readonly bigint[];

const inner = (a: Vector, b: Vector): bigint => a.reduce((sum, x, i) => sum + x * b[i]!, 0n);
/** The nearest integer to a/b, b > 0. */
function nearest(a: bigint, b: bigint): bigint {
  const twice = 2n * a + b;
  const quotient = twice / (2n * b);
  return twice < 0n && twice % (2n * b) !== 0n ? quotient - 1n : quotient;
}

/**
 * Integers x with sum of x_i column_i = target modulo q, about as short as q^(entries / columns)
 * each.
 */
export function shortSolution(columns: readonly Vector[], target: Vector): bigint[] {
  const free = columns.length - target.length;
  const pivots = columns.slice(free);
  // free coordinates one by one, each with what the others have to be; multiples of q; a solution
  const vectors = columns.map((column, i): bigint[] => {
    const x = columns.map((_, at) => (at !== i ? 0n : i < free ? 1n : Q));
    if (i >= free) return x;
    return [
      ...x.slice(0, free),
      ...solve(
        pivots,
        column.map((value) => -value),
      ),
    ];
  });
  const any = [...new Array<bigint>(free).fill(0n), ...solve(pivots, target)];
  const lattice = new Lattice(vectors);
  lattice.reduce();
  return lattice.shortened(any);
}

/**
 * A basis b_0, b_1, ... with integers in place of its Gram-Schmidt coefficients (Cohen, A Course in
 * Computational Algebraic Number Theory, algorithm 2.6.7).
 */
class Lattice {
  readonly #b: bigint[][];
  /** determinants of the first i vectors' products */
  readonly #d: bigint[] = [1n];
  /** mu_(i, j) times d_(j+1) */
  readonly #lambda: bigint[][] = [];

  constructor(basis: readonly bigint[][]) {
    this.#b = [...basis];
    for (const k of basis.keys()) this.#orthogonalise(k);
  }

  #orthogonalise(k: number): void {
    const [d, row] = [this.#d, []] as [bigint[], bigint[]];
    this.#lambda[k] = row;
    for (let j = 0; j <= k; j++) {
      let u = inner(this.#b[k]!, this.#b[j]!);
      for (let i = 0; i < j; i++) u = (d[i + 1]! * u - row[i]! * this.#lambda[j]![i]!) / d[i]!;
      row[j] = u;
    }
    d[k + 1] = row[k]!;
  }

  /** b_k loses the multiple of b_l that makes it shorter. */
  #shorten(k: number, l: number): void {
    const [row, other] = [this.#lambda[k]!, this.#lambda[l]!];
    const by = nearest(row[l]!, this.#d[l + 1]!);
    if (by === 0n) return;
    this.#b[k] = this.#b[k]!.map((x, i) => x - by * this.#b[l]![i]!);
    row[l] = row[l]! - by * this.#d[l + 1]!;
    for (let i = 0; i < l; i++) row[i] = row[i]! - by * other[i]!;
  }

  /** b_k and b_(k-1) change places. */
  #swap(k: number): void {
    const [b, d, lambda] = [this.#b, this.#d, this.#lambda];
    [b[k], b[k - 1]] = [b[k - 1]!, b[k]!];
    for (let j = 0; j < k - 1; j++) {
      [lambda[k]![j], lambda[k - 1]![j]] = [lambda[k - 1]![j]!, lambda[k]![j]!];
    }
    const own = lambda[k]![k - 1]!;
    const next = (d[k - 1]! * d[k + 1]! + own * own) / d[k]!;
    for (let i = k + 1; i < b.length; i++) {
      const row = lambda[i]!;
      const old = row[k]!;
      row[k] = (d[k + 1]! * row[k - 1]! - own * old) / d[k]!;
      row[k - 1] = (next * old + own * row[k]!) / d[k + 1]!;
    }
    d[k] = next;
  }

  reduce(): void {
    const [d, lambda] = [this.#d, this.#lambda];
    for (let k = 1; k < this.#b.length; ) {
      this.#shorten(k, k - 1);
      const own = lambda[k]![k - 1]!;
      if (4n * (d[k + 1]! * d[k - 1]! + own * own) < 3n * d[k]! * d[k]!) {
        this.#swap(k);
        k = Math.max(1, k - 1);
        continue;
      }
      for (let l = k - 2; l >= 0; l--) this.#shorten(k, l);
      k += 1;
    }
  }

  /** The vector without what is near to it of the lattice. */
  shortened(vector: readonly bigint[]): bigint[] {
    const k = this.#b.length;
    this.#b.push([...vector]);
    this.#orthogonalise(k);
    for (let l = k - 1; l >= 0; l--) this.#shorten(k, l);
    return this.#b.pop()!;
  }
}
