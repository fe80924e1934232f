/** Section 10 of docs/protocol.md: all constraints combined into one. */
import { short } from './challenges.ts';
import type { Context } from './context.ts';
import type { HiddenMessage } from './hidden.ts';
import type { Lifts } from './lift.ts';
import { type Ordinary, placeOf, type Shape } from './parameters.ts';
import { add, constant, inner, type Poly, reduce, ZERO } from './ring.ts';
import type { Rows } from './steps.ts';

/** One outer commitment: M_kappa1 on `count` polynomials of v, from place `from` on. */
export interface OuterBlock {
  readonly name: string;
  readonly from: number;
  readonly count: number;
  readonly hat: readonly Poly[];
  readonly e: readonly Poly[];
  /** at a hidden level */
  readonly hidden?: HiddenMessage;
}

/** The output of an ordinary level: all that the next level takes over. */
export interface Output {
  readonly params: Ordinary;
  /** the blocks of E1, then that of E2 */
  readonly blocks: readonly OuterBlock[];
  readonly c: readonly Poly[];
  /** on the columns of s */
  readonly phiZ: readonly Poly[];
  /** on those of the e_a; empty unless inner commitments are cut */
  readonly phiE: readonly Poly[];
  readonly combined: Combined;
  /** z_0, ..., v */
  readonly parts: Rows;
}

/** Sum of a_ab <s_a, s_b> + sum of <phi_a, s_a> = b. */
export interface Combined {
  /** a_ab by the number of the pair; a missing one is zero */
  readonly a: ReadonlyMap<number, Poly>;
  readonly phi: Rows;
  /** at a hidden level without the lifts, which the next level brings in */
  readonly b: Poly;
  /** beta_k of the lifts */
  readonly beta: readonly Poly[];
}

/** The constraints of a level before lifts and padding: linear forms by part and place. */
export interface Base {
  readonly a: ReadonlyMap<number, Poly>;
  readonly linear: readonly (readonly Poly[])[];
  readonly b: Poly;
}

const ONE = constant(1n);

/** Section 10.1: base constraints, lifts and padding, with the challenges of `combine`. */
export function combine(
  context: Context,
  seed: Uint8Array,
  shape: Shape,
  base: Base,
  { F, lifts, hiddenLifts }: Lifts,
  padding: readonly (readonly boolean[])[],
): Combined {
  const { level } = context;
  const isLeftOut = hiddenLifts !== undefined && context.omits('liftsOfHidden');
  const beta = lifts.map((_, k) => (isLeftOut ? ZERO : short(seed, level, 'lift', k)));
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
        terms.push(short(seed, level, 'padding', a * shape.n + column));
      }
      return inner([...beta, ONE, ONE].slice(0, terms.length), terms);
    }),
  );
  const onRight = hiddenLifts === undefined ? inner(beta, lifts) : ZERO;
  return { a: base.a, phi, b: reduce(add(base.b, onRight)), beta };
}

/** The bound on the coefficients of an ordinary level's output, by section 12. */
export const OUTPUT_LIMIT = 32768n;
export const isOutput = (x: bigint): boolean => x >= -OUTPUT_LIMIT && x < OUTPUT_LIMIT;
