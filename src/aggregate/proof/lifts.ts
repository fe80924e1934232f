/** The lifts of a level, and their encoding (docs/protocol.md, 4, 7.6 and 8.4). */
import { DEGREE, Q_BITS } from './constants.ts';

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
