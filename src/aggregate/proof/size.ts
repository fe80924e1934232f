/** An estimate of a section's length, from the table alone. */
import type { ParameterSet } from '../../falcon/index.ts';
import type { OrdinaryLevel, TailLevel } from '../parameters/rows.ts';
import { DEGREE, FUNCTIONALS, LIFT_BYTES, PROJECTIONS, Q_BITS, SEAL_BYTES } from './constants.ts';
import { parametersFor } from './shapes.ts';

/** Bytes of the retry byte and the counter. */
const REPEATS_BYTES = 2;

/** About how many bits the Rice code of a Gaussian takes when k suits it. */
const riceBits = (k: number): number => k + 2.05;
const packedBytes = (polynomials: number, bits: number): number =>
  (DEGREE * polynomials * bits) / 8;

/** y'_0 to y'_263, and y_264. */
const projectionBytes = (riceY: number): number => (PROJECTIONS * riceBits(riceY)) / 8 + 4;

function ordinaryBytes({ kappa1, cut, riceY }: OrdinaryLevel, outers: number): number {
  const u = packedBytes(outers * kappa1, Q_BITS - cut);
  return REPEATS_BYTES + projectionBytes(riceY) + LIFT_BYTES + u;
}

function tailBytes({ n, r, kappa, cut, pairs, riceY, riceZ, riceE, riceG }: TailLevel): number {
  const t = packedBytes((r - 1) * kappa, Q_BITS - cut);
  const g = riceG.reduce((sum, k) => sum + packedBytes(1, riceBits(k)), 0);
  const h = packedBytes(pairs - 2, Q_BITS);
  const z = packedBytes(n, riceBits(riceZ));
  const e = packedBytes(kappa, riceBits(riceE));
  const rest = REPEATS_BYTES + projectionBytes(riceY) + LIFT_BYTES + 2 * SEAL_BYTES;
  return t + g + h + z + e + rest;
}

/** About how many bytes a section has; undefined if no section holds so many items. */
export function proofSize(set: ParameterSet, count: number): number | undefined {
  const parameters = parametersFor(set, count);
  if (parameters === undefined) return undefined;
  const { levels, tail } = parameters;
  const bytes = levels.reduce((sum, level, i) => sum + ordinaryBytes(level, i === 0 ? 3 : 2), 0);
  return Math.round(bytes + 4 * FUNCTIONALS + tailBytes(tail));
}
