/** How long a section is, as far as the table tells. */
import type { ParameterSet } from '../../falcon/index.ts';
import type { OrdinaryLevel, TailLevel } from '../parameters/rows.ts';
import { FUNCTIONALS, PROJECTIONS, parametersFor } from './shapes.ts';

/** Bytes of b^(1), b^(2), b^(3). */
const LIFT_BYTES = 1040;
const SEAL_BYTES = 32;

/** Bits of a Rice code of a Gaussian for which k was chosen, about. */
const riceBits = (k: number): number => k + 2.05;
const packed = (polynomials: number, bits: number): number => (64 * polynomials * bits) / 8;

/** y'_0 to y'_263, and y_264. */
const projectionBytes = (riceY: number): number => (PROJECTIONS * riceBits(riceY)) / 8 + 4;

function ordinaryBytes({ kappa1, cut, riceY }: OrdinaryLevel, outers: number): number {
  return 2 + projectionBytes(riceY) + LIFT_BYTES + packed(outers * kappa1, 44 - cut);
}

function tailBytes({ n, r, kappa, cut, pairs, riceY, riceZ, riceE, riceG }: TailLevel): number {
  const g = riceG.reduce((sum, k) => sum + riceBits(k), 0);
  return (
    2 +
    packed((r - 1) * kappa, 44 - cut) +
    8 * g +
    2 * SEAL_BYTES +
    projectionBytes(riceY) +
    LIFT_BYTES +
    packed(pairs - 2, 44) +
    8 * n * riceBits(riceZ) +
    8 * kappa * riceBits(riceE)
  );
}

/** A close estimate of the bytes of a section; undefined if there is no proof of so many items. */
export function proofSize(set: ParameterSet, count: number): number | undefined {
  const parameters = parametersFor(set, count);
  if (parameters === undefined) return undefined;
  const { levels, tail } = parameters;
  const bytes = levels.reduce((sum, level, i) => sum + ordinaryBytes(level, i === 0 ? 3 : 2), 0);
  return Math.round(bytes + 4 * FUNCTIONALS + tailBytes(tail));
}
