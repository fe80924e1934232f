/** Section 9: the tail. The values of the last row are recovered and compared with their seals. */
import { keyRow } from './challenges.ts';
import { type Checks, Refused, require } from './checks.ts';
import { type Claim, uncut } from './claim.ts';
import { addConstraints, addExtensions, checkNorms } from './level.ts';
import { amortisers, combineLifts, Folding } from './lifts.ts';
import type { TailMessage } from './parse.ts';
import { residues, type TailSeeds } from './replay.ts';
import { add, fromIntegers, inner, inverse, multiply, type Poly, scale, subtract } from './ring.ts';
import { pairIndex, type Tail } from './shapes.ts';
import { sealOf } from './transcript.ts';

export function verifyTail(
  claim: Claim,
  shape: Tail,
  message: TailMessage,
  seeds: TailSeeds,
  checks: Readonly<Checks>,
): void {
  const { level, n, kappa, r } = shape;
  checkNorms(checks, claim.shape, message, shape.inSq, 'tail');
  checkOutputNorm(checks, message, shape.outSq);

  const c = amortisers(seeds.amortise, level, r);
  const folding = new Folding(c, n + kappa);
  const constraints = addConstraints(folding, claim, shape, message, seeds, checks);
  const { quadratic, beta, values, lifting } = constraints;
  const b = add(constraints.b, combineLifts(message.b.values, values, beta));
  if (checks.eInProjectionOfTail) addExtensions(folding, shape, kappa, lifting);
  const phi = folding.result();

  const z = message.z.map(fromIntegers);
  const e = message.e.map(fromIntegers);
  const g = message.g.map(fromIntegers);
  const t = lastT(shape, c, message.t.values, z, e);
  const gLast = lastG(shape, c, g, checks.eOutOfG ? z : [...z, ...e]);
  const sealT = sealOf(seeds.stateOfT, 't', residues([...t, gLast]));
  require(checks, 'sealT', sameBytes(sealT, message.sealT), 'tail');

  const both = sumH(shape, message.h.values, g, quadratic, b);
  const value = inner(phi, [...z, ...e]);
  const hLast = lastH(shape, c, message.h.values, both, value);
  const sealH = sealOf(seeds.stateOfH, 'h', residues([hLast]));
  require(checks, 'sealH', sameBytes(sealH, message.sealH), 'tail');
}

function checkOutputNorm(checks: Readonly<Checks>, { z, e }: TailMessage, outSq: number): void {
  let normSq = 0n;
  for (const x of [...z, ...e].flat()) normSq += BigInt(x) * BigInt(x);
  require(checks, 'outputNorm', normSq <= BigInt(outSq), 'tail');
}

/** c_last^-1 (M z + e - Σ_{a<last} c_a t̂_a) */
function lastT(
  { n, kappa, cut, r }: Tail,
  c: readonly Poly[],
  sent: readonly Poly[],
  z: readonly Poly[],
  e: readonly Poly[],
): Poly[] {
  const inverseOfLast = unit(c[r - 1]!);
  const t = uncut(sent, cut);
  return e.map((ei, i) => {
    let value = add(inner(keyRow(i, n), z), ei);
    for (let a = 0; a < r - 1; a++) value = subtract(value, multiply(c[a]!, t[a * kappa + i]!));
    return multiply(inverseOfLast, value);
  });
}

/** c_last^-2 (⟨z, z⟩ - the other pairs) */
function lastG({ pairs }: Tail, c: readonly Poly[], g: readonly Poly[], z: readonly Poly[]): Poly {
  let value = inner(z, z);
  for (const [pair, [a, b]] of pairs.slice(0, -1).entries()) {
    const factor = scale(multiply(c[a]!, c[b]!), a === b ? 1n : 2n);
    value = subtract(value, multiply(factor, g[pair]!));
  }
  const last = c[c.length - 1]!;
  return multiply(unit(multiply(last, last)), value);
}

/** The value that h_00 + h_last,last must have: b - Σ a_ab g_ab - Σ_{0<a<last} h_aa */
function sumH(
  { pairs, r }: Tail,
  h: readonly Poly[],
  g: readonly Poly[],
  quadratic: ReadonlyMap<number, Poly>,
  b: Poly,
): Poly {
  let value = b;
  for (const [pair, factor] of quadratic) {
    if (pair === pairs.length - 1) throw new Error('quadratic constraint on the last row');
    value = subtract(value, multiply(factor, g[pair]!));
  }
  for (let a = 1; a < r - 1; a++) value = subtract(value, h[pairIndex(r, a, a) - 1]!);
  return value;
}

/** (c_last² - c_0²)^-1 (value - the pairs that were sent - c_0² both) */
function lastH(
  { pairs }: Tail,
  c: readonly Poly[],
  h: readonly Poly[],
  both: Poly,
  value: Poly,
): Poly {
  const square = (x: Poly) => multiply(x, x);
  let rest = subtract(value, multiply(square(c[0]!), both));
  for (const [i, [a, b]] of pairs.slice(1, -1).entries()) {
    rest = subtract(rest, multiply(multiply(c[a]!, c[b]!), h[i]!));
  }
  return multiply(unit(subtract(square(c[c.length - 1]!), square(c[0]!))), rest);
}

function unit(x: Poly): Poly {
  const found = inverse(x);
  if (found === undefined) throw new Refused('c_last² = c_0²');
  return found;
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
