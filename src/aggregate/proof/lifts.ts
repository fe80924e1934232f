/** The lifts of a level, and their encoding (docs/protocol.md, 4, 7.6 and 8.4). */
import type { OrdinaryLevel } from '../parameters/rows.ts';
import { DEGREE, Q_BITS } from './constants.ts';
import { PROJECTION_LENGTH } from './projection.ts';
import { QUARTER } from './quarters.ts';

export interface LiftShape {
  /** number of lifts */
  readonly count: number;
  /** the coefficients of each lift that the verifier knows, and those that are sent */
  readonly known: readonly number[];
  readonly sent: readonly number[];
  /** bytes of the field b */
  readonly bytes: number;
}

function shapeOf(count: number, known: readonly number[]): LiftShape {
  const sent = Array.from({ length: DEGREE }, (_, j) => j).filter((j) => !known.includes(j));
  return Object.freeze({
    count,
    known,
    sent,
    bytes: Math.ceil((Q_BITS * count * sent.length) / 8),
  });
}

const OF_ZERO = shapeOf(3, [0]);
/** Two lifts over the field of q^2 elements suffice: X^32 is its i. */
const OF_OTHERS = shapeOf(2, [0, DEGREE / 2]);

/** Bytes of coefficients 32 of the lifts of level 0, which are sent if the lifts are hidden. */
export const bytesOfB32 = Math.ceil((Q_BITS * OF_ZERO.count) / 8);

/** The lifts of level `number`. */
export const liftsOf = (number: number): LiftShape => (number === 0 ? OF_ZERO : OF_OTHERS);

/** The first word of the scalars of (Q); a row has as many as it has numbers in p. */
export const QUARTERS_AT = 2 * PROJECTION_LENGTH;

/**
 * The words of stream 4 of one lift: the start of the scalars of (T_b), after those of (P), (P_x)
 * and (Q), and their end, where those of the parts of a merged level follow, two words for each
 * (docs/merged.md, 1.4).
 *
 * @param before the previous level, number `number`; after an open one there are only the scalars
 *   of (P)
 */
export function scalarsBehind(
  { w, k, messages }: OrdinaryLevel,
  number: number,
): { readonly lifts: number; readonly end: number } {
  if (w === 0) return { lifts: PROJECTION_LENGTH, end: PROJECTION_LENGTH };
  const lifts = QUARTERS_AT + QUARTER.length * k * messages.length;
  return { lifts, end: lifts + 2 * liftsOf(number).count };
}
