/**
 * The claim that a level leaves to the next one: the constraints on its output (10.1, E1 to E6).
 */
import { keyRow } from './challenges.ts';
import type { Checks } from './checks.ts';
import { SHORT, shortOf } from './lifts.ts';
import {
  add,
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

/** The public values of a level after its last challenge. */
export interface Claim {
  readonly shape: Ordinary;
  readonly c: readonly Poly[];
  readonly phiZ: readonly Poly[];
  /** a_ab by the index of the pair; a missing one is zero */
  readonly quadratic: ReadonlyMap<number, Poly>;
  readonly b: Poly;
  /** û of the first commitments (û_A, û_B at level 0), then û_2 */
  readonly u: readonly (readonly Poly[])[];
}

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
  readonly t: (row: number, digit: number, i: number) => number;
  readonly g: (digit: number, pair: number) => number;
  readonly h: (digit: number, pair: number) => number;
  readonly e: (outer: number, row: number) => number;
}

function offsetsOf({ fu, fg, kappa, kappa1, r, pairs }: Ordinary): Offsets {
  const g0 = fu * r * kappa;
  const h0 = g0 + fg * pairs.length;
  const e0 = h0 + fu * pairs.length;
  return {
    t: (row, digit, i) => (row * fu + digit) * kappa + i,
    g: (digit, pair) => g0 + digit * pairs.length + pair,
    h: (digit, pair) => h0 + digit * pairs.length + pair,
    e: (outer, row) => e0 + outer * kappa1 + row,
  };
}

/** û, which stands for a commitment whose low bits were cut off. */
export function uncut(sent: readonly Poly[], cut: number): Poly[] {
  if (cut === 0) return [...sent];
  const half = 1n << BigInt(cut - 1);
  return sent.map((u) => u.map((x) => (x << BigInt(cut)) + half));
}

/** The combination of the constraints that a level leaves, at the level after it. */
export function combineClaim(
  claim: Claim,
  combine: Uint8Array,
  checks: Readonly<Checks>,
): Combined {
  const { shape } = claim;
  const level = shape.level + 1;
  const short = (name: 'E1' | 'E2' | 'E3' | 'E4' | 'E6', index: number) =>
    checks[name] ? shortOf(combine, level, SHORT[name], index) : zero();
  const at = offsetsOf(shape);
  const v = new Array<Packed>(shape.m).fill(0n);
  let b = zero();

  const outer = (number: number, row: number, challenge: Poly): void => {
    if (shape.cut > 0) v[at.e(number, row)]! += pack(challenge);
    b = add(b, multiply(challenge, claim.u[number]![row]!));
  };
  for (let row = 0; row < shape.kappa1; row++) {
    const firsts = shape.outers - 1;
    for (let number = 0; number < firsts; number++) {
      const challenge = short('E1', number * shape.kappa1 + row);
      addFirst(v, at, shape, number, row, challenge);
      outer(number, row, challenge);
    }
    const challenge = short('E2', row);
    addKeyRow(v, at.h(0, 0), row, shape.fu * shape.pairs.length, challenge);
    outer(firsts, row, challenge);
  }

  const z = addE3(v, at, claim, (row) => short('E3', row));
  const delta = short('E4', 0);
  const gamma = short('E6', 0);
  addGarbage(v, at, claim, delta, gamma, checks.E5);
  b = add(b, multiply(gamma, claim.b));

  const parts: Poly[][] = [];
  for (let i = 0; i < shape.f; i++) {
    const power = powerOf2(shape.b * i);
    parts.push(z.map((az, column) => scale(checks.E5 ? add(az, claim.phiZ[column]!) : az, -power)));
  }
  parts.push(v.map(unpack));
  return { parts, delta, b };
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
  const ofY = level === 0 ? at.t(firstRow[2]!, 0, 0) : 0;
  const [from, to] = level === 0 && number === 0 ? [0, ofY] : [ofY, at.h(0, 0)];
  addKeyRow(v, from, row, to - from, challenge);
}

/** E3: Σ c_a t_a - M z; returns what -z is multiplied by, column by column */
function addE3(
  v: Packed[],
  at: Offsets,
  { shape, c }: Claim,
  challengeOf: (row: number) => Poly,
): Poly[] {
  const z = new Array<Packed>(shape.n).fill(0n);
  for (let i = 0; i < shape.kappa; i++) {
    const challenge = challengeOf(i);
    for (const [a, ca] of c.entries()) {
      const product = multiply(challenge, ca);
      for (let digit = 0; digit < shape.fu; digit++) {
        v[at.t(a, digit, i)]! += pack(scale(product, powerOf2(shape.bu * digit)));
      }
    }
    const packed = pack(challenge);
    for (const [column, element] of keyRow(i, shape.n).entries()) {
      z[column]! += packed * pack(element);
    }
  }
  return z.map(unpack);
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
