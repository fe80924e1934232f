/**
 * The projection as integers (docs/protocol.md, 5.3 and 11.1): the form in which it is sent, and
 * its bound.
 */
import { PROJECTION_FACTOR, PROJECTIONS } from './constants.ts';
import type { Values } from './ring.ts';

/** y in the form that is sent: y'_j = y_j - floor(y_264 / 2), then y_264; all are below 2^53. */
export function sentOf(y: Values): number[] {
  const half = y[PROJECTIONS]! >> 1n;
  return Array.from(y, (value, j) => Number(j < PROJECTIONS ? value - half : value));
}

/** y, from the form that is sent. */
export function projectionOf(sent: ArrayLike<number>): number[] {
  const sum = sent[PROJECTIONS]!;
  const half = Math.floor(sum / 2);
  return Array.from(sent, (value, j) => (j < PROJECTIONS ? value + half : sum));
}

/**
 * Whether the projection by signs, x_j = 2 y_j - y_264, is short enough. Exact while the sum of its
 * squares is below 2^53.
 */
export function isShortProjection(sent: ArrayLike<number>, inSq: number): boolean {
  const odd = sent[PROJECTIONS]! & 1;
  let sum = 0;
  for (let j = 0; j < PROJECTIONS; j++) sum += (2 * sent[j]! - odd) ** 2;
  return sum <= PROJECTION_FACTOR * inSq;
}
