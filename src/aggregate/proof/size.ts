/** Estimates a section's length from the table alone. */
import type { ParameterSet } from '../../falcon/index.ts';
import type { OrdinaryLevel, Projecting, TailLevel } from '../parameters/rows.ts';
import { DEGREE, FUNCTIONALS, Q_BITS, SEAL_BYTES } from './constants.ts';
import { type CodedRun, runsOfG, runsOfLast, runsOfY } from './gaussianFields.ts';
import { bytesOfB32, liftsOf } from './lifts.ts';
import { quarterBytes } from './quarters.ts';
import { parametersFor } from './shapes.ts';

/** Bytes of the retry byte and the counter. */
const REPEATS_BYTES = 2;
/** Overhead of the two states of the coder. */
const STATES_BYTES = 8;

/** Approximate bits of a Gaussian in its own code: log2(8 sqrt(2 pi e)). */
const gaussianBits = (code: number): number => 5.05 + code / 8;
const packedBytes = (polynomials: number, bits: number): number =>
  (DEGREE * polynomials * bits) / 8;

const gaussianBytes = (runs: readonly CodedRun[]): number =>
  runs.reduce((sum, { count, code }) => sum + (count * gaussianBits(code)) / 8, STATES_BYTES);

/** The pairs, U and V, of one projection. */
const projectionBytes = (code: number): number => gaussianBytes(runsOfY(code)) + 8;

/** The projections of all parts. */
const projectionsBytes = ({ codeY, ofX }: Projecting, parts = 1): number =>
  parts * (projectionBytes(codeY) + (ofX === undefined ? 0 : projectionBytes(ofX.codeY)));

function messageBytes({ kappa1, cut, w, k, messages }: OrdinaryLevel, number: number): number {
  if (w > 0) return messages.length * quarterBytes(k) + (number === 0 ? bytesOfB32 : 0);
  return packedBytes((number === 0 ? 3 : 2) * kappa1, Q_BITS - cut) + liftsOf(number).bytes;
}

const ordinaryBytes = (level: OrdinaryLevel, number: number): number =>
  REPEATS_BYTES + projectionsBytes(level, level.parts?.count) + messageBytes(level, number);

function tailBytes(tail: TailLevel, number: number): number {
  const { r, kappa, cut, pairs } = tail;
  const t = packedBytes((r - 1) * kappa, Q_BITS - cut);
  const h = packedBytes(pairs - 2, Q_BITS);
  const coded = gaussianBytes(runsOfG(tail)) + gaussianBytes(runsOfLast(tail));
  const rest = projectionsBytes(tail) + liftsOf(number).bytes + 2 * SEAL_BYTES;
  return REPEATS_BYTES + t + h + coded + rest;
}

/**
 * Returns the approximate size of a section in bytes; undefined if no section holds so many items.
 */
export function proofSize(set: ParameterSet, count: number): number | undefined {
  const parameters = parametersFor(set, count);
  if (parameters === undefined) return undefined;
  const { levels, tail } = parameters;
  const bytes = levels.reduce((sum, level, i) => sum + ordinaryBytes(level, i), 0);
  return Math.round(bytes + 4 * FUNCTIONALS + tailBytes(tail, levels.length));
}
