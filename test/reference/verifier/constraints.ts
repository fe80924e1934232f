/**
 * Section 10.1: the constraints E1 to E6 on the output of a level, combined at the level after it.
 */
import { keyRow } from './challenges.ts';
import type { Checks } from './checks.ts';
import type { Claim } from './claim.ts';
import { SHORT, shortOf } from './lifts.ts';
import {
  add,
  DEGREE,
  mod,
  multiply,
  type Packed,
  type Poly,
  pack,
  powerOf2,
  scale,
  unpack,
  zero,
} from './ring.ts';
import { type Layout, type Ordinary, pairIndex } from './shapes.ts';

/** One constraint on the parts z_0, …, v: the combination of E1 to E6. */
export interface Combined {
  /** φ of every place of every part */
  readonly parts: readonly (readonly Poly[])[];
  /** δ: Σ a_ab ⟨s_a, s_b⟩ is -δ ⟨z, z⟩ */
  readonly delta: Poly;
  readonly b: Poly;
}

/** Where the polynomials of v begin. */
interface Offsets {
  /** digit `digit` of polynomial i of hidden message number `message` */
  readonly x: (message: number, digit: number, i: number) => number;
  readonly t: (row: number, digit: number, i: number) => number;
  readonly g: (digit: number, pair: number) => number;
  readonly h: (digit: number, pair: number) => number;
  /** digits of the e of cut inner commitments */
  readonly ve: (digit: number, i: number) => number;
  readonly e: (outer: number, row: number) => number;
}

function offsetsOf(shape: Ordinary): Offsets {
  const { f, ft, fu, fg, kappa, kappa1, r, pairs, ct, messages, lengthOfX } = shape;
  const g0 = lengthOfX + ft * r * kappa;
  const h0 = g0 + fg * pairs.length;
  const ve0 = h0 + fu * pairs.length;
  const e0 = ve0 + (ct > 0 ? f * kappa : 0);
  return {
    x: (number, digit, i) => {
      const { first, polynomials } = messages[number]!;
      return first + digit * polynomials + i;
    },
    t: (row, digit, i) => lengthOfX + (row * ft + digit) * kappa + i,
    g: (digit, pair) => g0 + digit * pairs.length + pair,
    h: (digit, pair) => h0 + digit * pairs.length + pair,
    ve: (digit, i) => ve0 + digit * kappa + i,
    e: (outer, row) => e0 + outer * kappa1 + row,
  };
}

/** The combination of the constraints that a level leaves, at the level after it. */
export function combineClaim(
  claim: Claim,
  combine: Uint8Array,
  checks: Readonly<Checks>,
): Combined {
  const { shape } = claim;
  const level = shape.level + 1;
  const short: ShortOf = (name, index) =>
    checks[name] ? shortOf(combine, level, SHORT[name], index) : zero();
  const at = offsetsOf(shape);
  const v = new Array<Packed>(shape.m).fill(0n);
  const delta = short('E4', 0);
  const gamma = short('E6', 0);

  let b = addOuter(v, at, claim, short, checks);
  const e3 = addE3(v, at, claim, short, checks);
  b = add(b, e3.b);
  addGarbage(v, at, claim, delta, gamma, checks.E5);
  if (checks.E5 && checks.eInE5) {
    for (const [i, phi] of claim.phiE.entries()) addE(v, at, shape, i, scale(phi, -1n));
  }
  if (claim.hidden !== undefined && checks.xbInE6) addLifts(v, at, shape, claim.hidden.beta, gamma);
  b = add(b, multiply(gamma, claim.b));

  const parts: Poly[][] = [];
  for (let i = 0; i < shape.f; i++) {
    const power = powerOf2(shape.b * i);
    parts.push(
      e3.z.map((az, column) => scale(checks.E5 ? add(az, claim.phiZ[column]!) : az, -power)),
    );
  }
  parts.push(v.map(unpack));
  return { parts, delta, b };
}

/** The challenge of a constraint; zero if that is not checked. */
type ShortOf = (name: 'E1' | 'E2' | 'E3' | 'E4' | 'E6', index: number) => Poly;

/** E1 and E2 on v; returns their right sides */
function addOuter(
  v: Packed[],
  at: Offsets,
  claim: Claim,
  short: ShortOf,
  checks: Readonly<Checks>,
): Poly {
  const { shape } = claim;
  const firsts = shape.outers - 1;
  let b = zero();
  for (let row = 0; row < shape.kappa1; row++) {
    for (let number = 0; number < shape.outers; number++) {
      const isFirst = number < firsts;
      const challenge = isFirst ? short('E1', number * shape.kappa1 + row) : short('E2', row);
      if (isFirst) addFirst(v, at, shape, number, row, challenge);
      else addKeyRow(v, at.h(0, 0), row, shape.fu * shape.pairs.length, challenge);
      if (shape.cut > 0) v[at.e(number, row)]! += pack(challenge);
      if (claim.hidden === undefined) {
        b = add(b, multiply(challenge, claim.u[number]![row]!));
      } else {
        if (checks[isFirst ? 'xInE1' : 'xInE2']) addX(v, at, shape, number, row, challenge);
        if (shape.cut === 0 || !checks.constantOfU) continue;
        b = add(b, multiply(challenge, everywhere(powerOf2(shape.cut - 1))));
      }
    }
  }
  return b;
}

/** x times 𝟙 */
const everywhere = (x: bigint): Poly => new Array<bigint>(DEGREE).fill(x);

/** 10.1, hidden: -Σ_j 2^(cut + w j) x_{M,j}[row], M the message in the place of û */
function addX(
  v: Packed[],
  at: Offsets,
  { messages, outers, w, cut }: Ordinary,
  outer: number,
  row: number,
  challenge: Poly,
): void {
  // the lifts stand between the first commitments and the second
  const number = outer < outers - 1 ? outer : messages.length - 1;
  for (let digit = 0; digit < messages[number]!.digits; digit++) {
    v[at.x(number, digit, row)]! += pack(scale(challenge, -powerOf2(cut + w * digit)));
  }
}

/** 10.1, hidden: E6 gets -Σ_λ β_{λ-1} Σ_j 2^(w j) x_{b,j}[λ - 1] */
function addLifts(
  v: Packed[],
  at: Offsets,
  { messages, w }: Ordinary,
  beta: readonly Poly[],
  gamma: Poly,
): void {
  const number = messages.findIndex(({ name }) => name === 'b');
  for (const [k, betaK] of beta.entries()) {
    const product = multiply(gamma, betaK);
    for (let digit = 0; digit < messages[number]!.digits; digit++) {
      v[at.x(number, digit, k)]! += pack(scale(product, -powerOf2(w * digit)));
    }
  }
}

/** factor times polynomial i of e, which is recomposed from its digits */
function addE(v: Packed[], at: Offsets, { f, b }: Ordinary, i: number, factor: Poly): void {
  for (let digit = 0; digit < f; digit++) {
    v[at.ve(digit, i)]! += pack(scale(factor, powerOf2(b * digit)));
  }
}

/** challenge times the first `columns` elements of a row of M, from a place of v on */
function addKeyRow(
  v: Packed[],
  first: number,
  row: number,
  columns: number,
  challenge: Poly,
): void {
  const packed = pack(challenge);
  for (const [i, element] of keyRow(row, columns).entries()) {
    v[first + i]! += packed * pack(element);
  }
}

/** E1: a row of M (v_t ‖ v_g); for û_A of the digits of t of S and W alone, for û_B of the rest */
function addFirst(
  v: Packed[],
  at: Offsets,
  shape: Ordinary,
  number: number,
  row: number,
  challenge: Poly,
): void {
  const { level, firstRow } = shape;
  // v_g follows v_t, and v_h follows v_g
  const ofT = at.t(0, 0, 0);
  const ofY = level === 0 ? at.t(firstRow[2]!, 0, 0) : ofT;
  const [from, to] = level === 0 && number === 0 ? [ofT, ofY] : [ofY, at.h(0, 0)];
  addKeyRow(v, from, row, to - from, challenge);
}

/**
 * E3: Σ c_a t_a - M z, and with cut inner commitments - e.
 *
 * @returns what -z is multiplied by, column by column, and the right side
 */
function addE3(
  v: Packed[],
  at: Offsets,
  { shape, c }: Claim,
  short: ShortOf,
  checks: Readonly<Checks>,
): { z: Poly[]; b: Poly } {
  const { n, kappa, ft, bu, ct } = shape;
  const z = new Array<Packed>(n).fill(0n);
  let b = zero();
  for (let i = 0; i < kappa; i++) {
    const challenge = short('E3', i);
    for (const [a, ca] of c.entries()) {
      const product = multiply(challenge, ca);
      for (let digit = 0; digit < ft; digit++) {
        v[at.t(a, digit, i)]! += pack(scale(product, powerOf2(ct + bu * digit)));
      }
      if (ct > 0) b = add(b, multiply(product, everywhere(mod(-powerOf2(ct - 1)))));
    }
    if (ct > 0 && checks.eInE3) addE(v, at, shape, i, scale(challenge, -1n));
    const packed = pack(challenge);
    for (const [column, element] of keyRow(i, n).entries()) {
      z[column]! += packed * pack(element);
    }
  }
  return { z: z.map(unpack), b };
}

/** E4, E5, E6 on the digits of g and h */
function addGarbage(
  v: Packed[],
  at: Offsets,
  { shape, c, quadratic }: Claim,
  delta: Poly,
  gamma: Poly,
  withE5: boolean,
): void {
  for (const [pair, [a, b]] of shape.pairs.entries()) {
    const product = multiply(c[a]!, c[b]!);
    let onG = scale(multiply(delta, product), a === b ? 1n : 2n);
    const factor = quadratic.get(pair);
    if (factor !== undefined) onG = add(onG, multiply(gamma, factor));
    for (let digit = 0; digit < shape.fg; digit++) {
      v[at.g(digit, pair)]! += pack(scale(onG, powerOf2(shape.bg * digit)));
    }
    let onH = withE5 ? product : zero();
    if (a === b) onH = add(onH, gamma);
    for (let digit = 0; digit < shape.fu; digit++) {
      v[at.h(digit, pair)]! += pack(scale(onH, powerOf2(shape.bu * digit)));
    }
  }
}

/** a_ab of the level that follows: -δ ⟨z, z⟩ on its rows */
export function quadraticOf(shape: Ordinary, next: Layout, delta: Poly): Map<number, Poly> {
  const quadratic = new Map<number, Poly>();
  for (let i = 0; i < shape.f; i++) {
    for (let k = i; k < shape.f; k++) {
      const factor = (i === k ? -1n : -2n) * powerOf2(shape.b * (i + k));
      const value = scale(delta, factor);
      for (let t = 0; t < next.rowsOf[i]!; t++) {
        quadratic.set(pairIndex(next.r, next.firstRow[i]! + t, next.firstRow[k]! + t), value);
      }
    }
  }
  return quadratic;
}
