/** Section 10 of docs/protocol.md: all constraints into one. */
import { SHORT, short } from './challenges.ts';
import type { Context } from './context.ts';
import { type Ordinary, pairCount, pairIndex, pairsOf, placeOf, type Shape } from './parameters.ts';
import {
  add,
  constant,
  inner,
  multiply,
  type Poly,
  reduce,
  scale,
  subtract,
  ZERO,
} from './ring.ts';
import { gadget, type Lifts, type Rows } from './steps.ts';
import type { Constraint } from './trace.ts';

/** One outer commitment: matrix on the digits of t from column `from`, C on those of g. */
export interface OuterBlock {
  readonly name: string;
  readonly B: Rows;
  readonly from: number;
  readonly C: Rows | undefined;
  readonly hat: readonly Poly[];
  readonly e: readonly Poly[];
}

/** What an ordinary level leaves to the next one. */
export interface Output {
  readonly params: Ordinary;
  readonly A: Rows;
  /** the blocks of E1 */
  readonly blocks: readonly OuterBlock[];
  /** D and what stands for u_2 */
  readonly D: Rows;
  readonly hat2: readonly Poly[];
  readonly c: readonly Poly[];
  readonly phiZ: readonly Poly[];
  readonly combined: Combined;
  /** z_0, ..., v */
  readonly parts: Rows;
}

/** Sum of a_ab <s_a, s_b> + sum of <phi_a, s_a> = b. */
export interface Combined {
  /** a_ab by number of the pair; absent is zero */
  readonly a: ReadonlyMap<number, Poly>;
  readonly phi: Rows;
  readonly b: Poly;
}

/** The constraints of a level before lifts and padding: linear forms by part and place. */
export interface Base {
  readonly a: ReadonlyMap<number, Poly>;
  readonly linear: readonly (readonly Poly[])[];
  readonly b: Poly;
}

const ONE = constant(1n);

/** E1 to E6 with their challenges, from the level before, on the rows of this one. */
export function carriedConstraints(
  context: Context,
  seed: Uint8Array,
  shape: Shape,
  before: Output,
): Base {
  const { params, A, blocks, D, hat2, c, phiZ, combined } = before;
  const { f, b, fu, bu, fg, bg, kappa, kappa1, cut } = params;
  const challenge = (name: Constraint, kind: number, index: number): Poly =>
    context.omits(name) ? ZERO : short(seed, context.level, kind, index);
  const pairs = pairCount(params.r);
  const atG = fu * params.r * kappa;
  const atH = atG + fg * pairs;
  const atE = atH + fu * pairs;
  const v = new Array<Poly>(params.m).fill(ZERO);
  const gain = (place: number, poly: Poly): void => {
    v[place] = reduce(add(v[place]!, poly));
  };
  let right = ZERO;

  // E1 and E2: every row of a matrix has its own challenge
  const spread = (at: number, matrix: Rows, coefficients: readonly Poly[]): void => {
    for (const column of matrix[0]!.keys()) {
      gain(
        at + column,
        inner(
          coefficients,
          matrix.map((row) => row[column]!),
        ),
      );
    }
  };
  const outer = [...blocks, { B: D, from: atH, C: undefined, hat: hat2 }];
  for (const [index, block] of outer.entries()) {
    const isLast = index === blocks.length;
    const coefficients = block.hat.map((_, row) =>
      isLast
        ? challenge('E2', SHORT.garbage, row)
        : challenge('E1', SHORT.outer, index * kappa1 + row),
    );
    spread(block.from, block.B, coefficients);
    if (block.C !== undefined) spread(atG, block.C, coefficients);
    if (cut > 0) {
      for (const [row, poly] of coefficients.entries()) gain(atE + index * kappa1 + row, poly);
    }
    right = add(right, inner(coefficients, block.hat));
  }

  // E3: on the digits of t; on z below
  const rho = Array.from({ length: kappa }, (_, k) => challenge('E3', SHORT.amortised, k));
  for (const [a, ca] of c.entries()) {
    for (const [k, poly] of rho.entries()) {
      const product = multiply(poly, ca);
      for (let j = 0; j < fu; j++) gain((a * fu + j) * kappa + k, gadget(product, bu * j));
    }
  }

  // E4, E5, E6 on the digits of g and h
  const delta = challenge('E4', SHORT.quadratic, 0);
  const epsilon = challenge('E6', SHORT.constraint, 0);
  for (const [index, [first, second]] of pairsOf(params.r).entries()) {
    const cc = multiply(c[first]!, c[second]!);
    const onG = multiply(delta, first === second ? cc : scale(cc, 2n));
    const aab = combined.a.get(index);
    const allG = aab === undefined ? onG : add(onG, multiply(epsilon, aab));
    const onH = context.omits('E5') ? ZERO : cc;
    const allH = first === second ? add(onH, epsilon) : onH;
    for (let j = 0; j < fg; j++) gain(atG + j * pairs + index, gadget(allG, bg * j));
    for (let j = 0; j < fu; j++) gain(atH + j * pairs + index, gadget(allH, bu * j));
  }
  right = add(right, multiply(epsilon, combined.b));

  // E3 and E5 on the digits of z
  const onZ = phiZ.map((form, column) =>
    reduce(
      subtract(
        scale(form, context.omits('E5') ? 0n : -1n),
        inner(
          rho,
          A.map((row) => row[column]!),
        ),
      ),
    ),
  );
  const linear: Poly[][] = [];
  for (let i = 0; i < f; i++) linear.push(onZ.map((poly) => gadget(poly, b * i)));
  linear.push(v);

  // <z, z> on equal rows of the digits
  const a = new Map<number, Poly>();
  for (let i = 0; i < f; i++) {
    for (let k = i; k < f; k++) {
      const factor = gadget(scale(delta, i === k ? -1n : -2n), b * (i + k));
      for (let row = 0; row < shape.nu[0]!; row++) {
        const rowI = placeOf(shape, i, 0).row + row;
        const rowK = placeOf(shape, k, 0).row + row;
        a.set(pairIndex(shape.r, rowI, rowK), factor);
      }
    }
  }
  return { a, linear, b: reduce(right) };
}

/** Section 10.1: base constraints, lifts and padding, with the challenges of `combine`. */
export function combine(
  context: Context,
  seed: Uint8Array,
  shape: Shape,
  base: Base,
  { F, lifts }: Lifts,
  padding: readonly (readonly boolean[])[],
): Combined {
  const { level } = context;
  const beta = lifts.map((_, k) => short(seed, level, SHORT.lift, k));
  const linear = F[0]!.map((row) => new Array<Poly>(row.length).fill(ZERO));
  for (const [g, forms] of base.linear.entries()) {
    for (const [i, form] of forms.entries()) {
      const { row, column } = placeOf(shape, g, i);
      linear[row]![column] = form;
    }
  }
  const phi = linear.map((row, a) =>
    row.map((form, column) => {
      const terms = [...F.map((forms) => forms[a]![column]!), form];
      if (padding[a]![column] && !context.omits('padding')) {
        terms.push(short(seed, level, SHORT.padding, a * shape.n + column));
      }
      return inner([...beta, ONE, ONE].slice(0, terms.length), terms);
    }),
  );
  const b = reduce(add(base.b, inner(beta, lifts)));
  return { a: base.a, phi, b };
}

/** The largest coefficient that an ordinary level may give out, by section 12. */
export const OUTPUT_LIMIT = 32768n;
export const isOutput = (x: bigint): boolean => x >= -OUTPUT_LIMIT && x < OUTPUT_LIMIT;
