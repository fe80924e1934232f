/** Section 10.1 of docs/protocol.md: E1 to E6 of the level before, on the rows of this one. */
import { keyMatrix, type ShortKind, short } from './challenges.ts';
import type { Base, OuterBlock, Output } from './combine.ts';
import type { Context } from './context.ts';
import { messageOf } from './hidden.ts';
import { type Ordinary, pairCount, pairIndex, pairsOf, placeOf, type Shape } from './parameters.ts';
import {
  ALL_ONES,
  add,
  constant,
  inner,
  multiply,
  type Poly,
  reduce,
  scale,
  ZERO,
} from './ring.ts';
import { gadget, type Rows } from './steps.ts';
import type { Constraint } from './trace.ts';

/** A challenge of one constraint, zero if the constraint is left out. */
type Challenge = (name: Constraint, kind: ShortKind, index: number) => Poly;

const columnOf = (matrix: Rows, column: number): Poly[] => matrix.map((row) => row[column]!);
const negative = (poly: Poly): Poly => scale(poly, -1n);
const sumOf = (list: readonly Poly[]): Poly => list.reduce((a, b) => add(a, b), ZERO);

/** 2^(bits - 1) in every coefficient, times a polynomial. */
const timesHalf = (poly: Poly, bits: number): Poly =>
  multiply(poly, scale(ALL_ONES, 1n << BigInt(bits - 1)));

/** The linear forms on v and the right side, while they are added up. */
class FormsOnV {
  readonly forms: Poly[];
  right: Poly = ZERO;

  constructor(m: number) {
    this.forms = new Array<Poly>(m).fill(ZERO);
  }

  add(place: number, poly: Poly): void {
    this.forms[place] = reduce(add(this.forms[place]!, poly));
  }

  addRight(poly: Poly): void {
    this.right = reduce(add(this.right, poly));
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

export function carriedConstraints(
  context: Context,
  seed: Uint8Array,
  shape: Shape,
  before: Output,
): Base {
  const { delta, linear, b } = formsOnOutput(context, seed, before);
  const { f } = before.params;
  const parts = Array.from({ length: f }, (_, i) => i);
  return { a: squaresOfZ(shape, before.params, delta, parts), linear, b };
}

/**
 * E1 to E6 on z_0, ..., v of one output, all of them times `factor`.
 *
 * @returns also the coefficient of E4, whose squares are left
 */
export function formsOnOutput(
  context: Context,
  seed: Uint8Array,
  before: Output,
  factor = constant(1n),
): { delta: Poly; linear: Poly[][]; b: Poly } {
  const { f, b, kappa, m } = before.params;
  const challenge: Challenge = (name, kind, index) =>
    context.omits(name) ? ZERO : multiply(factor, short(seed, context.level, kind, index));
  const rho = Array.from({ length: kappa }, (_, k) => challenge('E3', 'amortised', k));
  const delta = challenge('E4', 'quadratic', 0);
  const epsilon = challenge('E6', 'constraint', 0);
  const e5 = context.omits('E5') ? ZERO : factor;
  const v = new FormsOnV(m);
  carryOuter(v, before, challenge);
  carryInner(v, before, rho, context.omits('eInE5') ? ZERO : e5);
  carryGarbage(v, before, delta, epsilon, e5);
  carryLifts(v, before, epsilon);
  v.addRight(multiply(epsilon, before.combined.b));
  const onZ = formsOnZ(before, rho, e5);
  const linear = Array.from({ length: f }, (_, i) => onZ.map((poly) => gadget(poly, b * i)));
  return { delta, linear: [...linear, v.forms], b: v.right };
}

/** E3 and E5 on z. */
function formsOnZ({ params, phiZ }: Output, rho: readonly Poly[], e5: Poly): Poly[] {
  const M = keyMatrix(params.kappa, params.n);
  return phiZ.map((form, column) => {
    const onPhi = multiply(e5, form);
    return reduce(negative(add(onPhi, inner(rho, columnOf(M, column)))));
  });
}

/** E1 and E2; at a hidden level u is a function of x, and moves to the left side. */
function carryOuter(v: FormsOnV, { params, blocks }: Output, challenge: Challenge): void {
  const { kappa1, cut, w, pieces } = params;
  for (const [index, block] of blocks.entries()) {
    const challenges = block.hat.map((_, row) =>
      block.name === 'u2'
        ? challenge('E2', 'garbage', row)
        : challenge('E1', 'outer', index * kappa1 + row),
    );
    v.addKeys(block, challenges);
    if (cut > 0) {
      for (const [row, poly] of challenges.entries()) {
        v.add(pieces.outer + index * kappa1 + row, poly);
      }
    }
    if (block.hidden === undefined) {
      v.addRight(inner(challenges, block.hat));
      continue;
    }
    const { at, polynomials, digits } = block.hidden.message;
    for (const [row, poly] of challenges.entries()) {
      v.addDigits(at + row, polynomials, gadget(negative(poly), cut), digits, w);
      if (cut > 0) v.addRight(timesHalf(poly, cut));
    }
  }
}

/** E3 on the digits of t, or of t' and e if inner commitments are cut; E5 on those of e. */
function carryInner(
  v: FormsOnV,
  { params, c, phiE }: Output,
  rho: readonly Poly[],
  e5: Poly,
): void {
  const { f, b, ft, bu, kappa, ct, pieces } = params;
  for (const [a, ca] of c.entries()) {
    for (const [k, poly] of rho.entries()) {
      const onT = gadget(multiply(poly, ca), ct);
      v.addDigits(pieces.t + a * ft * kappa + k, kappa, onT, ft, bu);
    }
  }
  if (ct === 0) return;
  for (const [k, poly] of rho.entries()) {
    const onE = add(poly, multiply(e5, phiE[k]!));
    v.addDigits(pieces.inner + k, kappa, negative(onE), f, b);
    v.addRight(negative(timesHalf(multiply(poly, sumOf(c)), ct)));
  }
}

/** E4, E5 and E6 on the digits of g and h. */
function carryGarbage(
  v: FormsOnV,
  { params, c, combined }: Output,
  delta: Poly,
  epsilon: Poly,
  e5: Poly,
): void {
  const { r, fu, bu, fg, bg, pieces } = params;
  const pairs = pairCount(r);
  for (const [index, [first, second]] of pairsOf(r).entries()) {
    const cc = multiply(c[first]!, c[second]!);
    const onG = multiply(delta, first === second ? cc : scale(cc, 2n));
    const aab = combined.a.get(index);
    const allG = aab === undefined ? onG : add(onG, multiply(epsilon, aab));
    const onH = multiply(e5, cc);
    const allH = first === second ? add(onH, epsilon) : onH;
    v.addDigits(pieces.g + index, pairs, allG, fg, bg);
    v.addDigits(pieces.h + index, pairs, allH, fu, bu);
  }
}

/** The lifts of a hidden level, which its constraint b does not have: they enter E6. */
function carryLifts(v: FormsOnV, { params, combined }: Output, epsilon: Poly): void {
  if (params.w === 0) return;
  const { at, polynomials, digits } = messageOf(params, 'b');
  for (const [k, beta] of combined.beta.entries()) {
    v.addDigits(at + k, polynomials, negative(multiply(epsilon, beta)), digits, params.w);
  }
}

/** -delta <z, z> of E4: a_ab on equal rows of the digits, which are these parts of the level. */
export function squaresOfZ(
  shape: Shape,
  { f, b }: Ordinary,
  delta: Poly,
  parts: readonly number[],
): Map<number, Poly> {
  const a = new Map<number, Poly>();
  for (let i = 0; i < f; i++) {
    for (let k = i; k < f; k++) {
      const factor = gadget(scale(delta, i === k ? -1n : -2n), b * (i + k));
      for (let row = 0; row < shape.nu[0]!; row++) {
        const rowI = placeOf(shape, parts[i]!, 0).row + row;
        const rowK = placeOf(shape, parts[k]!, 0).row + row;
        a.set(pairIndex(shape.r, rowI, rowK), factor);
      }
    }
  }
  return a;
}
