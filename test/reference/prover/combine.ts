/** Section 10 of docs/protocol.md: all constraints combined into one. */
import { keyMatrix, type ShortKind, short } from './challenges.ts';
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

/** One outer commitment: M_kappa1 on `count` polynomials of v, from place `from` on. */
export interface OuterBlock {
  readonly name: string;
  readonly from: number;
  readonly count: number;
  readonly hat: readonly Poly[];
  readonly e: readonly Poly[];
}

/** The output of an ordinary level: all that the next level takes over. */
export interface Output {
  readonly params: Ordinary;
  /** the blocks of E1, then that of E2 */
  readonly blocks: readonly OuterBlock[];
  readonly c: readonly Poly[];
  readonly phiZ: readonly Poly[];
  readonly combined: Combined;
  /** z_0, ..., v */
  readonly parts: Rows;
}

/** Sum of a_ab <s_a, s_b> + sum of <phi_a, s_a> = b. */
export interface Combined {
  /** a_ab by the number of the pair; a missing one is zero */
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

/** A challenge of one constraint, zero if the constraint is left out. */
type Challenge = (name: Constraint, kind: ShortKind, index: number) => Poly;

/** Where the pieces of v begin, for `Ordinary` parameters. */
function piecesOf({ r, fu, fg, kappa }: Ordinary): { g: number; h: number; e: number } {
  const pairs = pairCount(r);
  const g = fu * r * kappa;
  const h = g + fg * pairs;
  return { g, h, e: h + fu * pairs };
}

/** The linear forms on v, while they are added up. */
class FormsOnV {
  readonly forms: Poly[];

  constructor(m: number) {
    this.forms = new Array<Poly>(m).fill(ZERO);
  }

  add(place: number, poly: Poly): void {
    this.forms[place] = reduce(add(this.forms[place]!, poly));
  }

  /** M on the places of a block; every row has its own challenge. */
  addKeys({ from, count }: OuterBlock, challenges: readonly Poly[]): void {
    const M = keyMatrix(challenges.length, count);
    for (let column = 0; column < count; column++) {
      this.add(from + column, inner(challenges, columnOf(M, column)));
    }
  }

  /** A form on a value whose `count` digits of `bits` bits are `step` places apart. */
  addDigits(place: number, step: number, poly: Poly, count: number, bits: number): void {
    for (let j = 0; j < count; j++) this.add(place + j * step, gadget(poly, bits * j));
  }
}

const columnOf = (matrix: Rows, column: number): Poly[] => matrix.map((row) => row[column]!);

/** E1 to E6 of the level before with their challenges, on the rows of this one. */
export function carriedConstraints(
  context: Context,
  seed: Uint8Array,
  shape: Shape,
  before: Output,
): Base {
  const { n, f, b, kappa, m } = before.params;
  const challenge: Challenge = (name, kind, index) =>
    context.omits(name) ? ZERO : short(seed, context.level, kind, index);
  const rho = Array.from({ length: kappa }, (_, k) => challenge('E3', 'amortised', k));
  const delta = challenge('E4', 'quadratic', 0);
  const epsilon = challenge('E6', 'constraint', 0);
  const v = new FormsOnV(m);
  const right = carryOuter(v, before, challenge);
  carryInner(v, before, rho);
  carryGarbage(v, before, delta, epsilon, !context.omits('E5'));

  // E3 and E5 on the digits of z
  const M = keyMatrix(kappa, n);
  const onZ = before.phiZ.map((form, column) => {
    const onPhi = scale(form, context.omits('E5') ? 0n : -1n);
    return reduce(subtract(onPhi, inner(rho, columnOf(M, column))));
  });
  const linear = Array.from({ length: f }, (_, i) => onZ.map((poly) => gadget(poly, b * i)));
  return {
    a: squaresOfZ(shape, before.params, delta),
    linear: [...linear, v.forms],
    b: reduce(add(right, multiply(epsilon, before.combined.b))),
  };
}

/** E1 and E2. @returns their right sides */
function carryOuter(v: FormsOnV, { params, blocks }: Output, challenge: Challenge): Poly {
  const { kappa1, cut } = params;
  const at = piecesOf(params);
  let right = ZERO;
  for (const [index, block] of blocks.entries()) {
    const challenges = block.hat.map((_, row) =>
      block.name === 'u2'
        ? challenge('E2', 'garbage', row)
        : challenge('E1', 'outer', index * kappa1 + row),
    );
    v.addKeys(block, challenges);
    if (cut > 0) {
      for (const [row, poly] of challenges.entries()) v.add(at.e + index * kappa1 + row, poly);
    }
    right = add(right, inner(challenges, block.hat));
  }
  return right;
}

/** E3 on the digits of t. */
function carryInner(v: FormsOnV, { params, c }: Output, rho: readonly Poly[]): void {
  const { fu, bu, kappa } = params;
  for (const [a, ca] of c.entries()) {
    for (const [k, poly] of rho.entries()) {
      v.addDigits(a * fu * kappa + k, kappa, multiply(poly, ca), fu, bu);
    }
  }
}

/** E4, E5 and E6 on the digits of g and h. */
function carryGarbage(
  v: FormsOnV,
  { params, c, combined }: Output,
  delta: Poly,
  epsilon: Poly,
  hasE5: boolean,
): void {
  const { r, fu, bu, fg, bg } = params;
  const at = piecesOf(params);
  const pairs = pairCount(r);
  for (const [index, [first, second]] of pairsOf(r).entries()) {
    const cc = multiply(c[first]!, c[second]!);
    const onG = multiply(delta, first === second ? cc : scale(cc, 2n));
    const aab = combined.a.get(index);
    const allG = aab === undefined ? onG : add(onG, multiply(epsilon, aab));
    const onH = hasE5 ? cc : ZERO;
    const allH = first === second ? add(onH, epsilon) : onH;
    v.addDigits(at.g + index, pairs, allG, fg, bg);
    v.addDigits(at.h + index, pairs, allH, fu, bu);
  }
}

/** -delta <z, z> of E4: a_ab on equal rows of the digits. */
function squaresOfZ(shape: Shape, { f, b }: Ordinary, delta: Poly): Map<number, Poly> {
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
  return a;
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
  const beta = lifts.map((_, k) => short(seed, level, 'lift', k));
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
  const b = reduce(add(base.b, inner(beta, lifts)));
  return { a: base.a, phi, b };
}

/** The bound on the coefficients of an ordinary level's output, by section 12. */
export const OUTPUT_LIMIT = 32768n;
export const isOutput = (x: bigint): boolean => x >= -OUTPUT_LIMIT && x < OUTPUT_LIMIT;
