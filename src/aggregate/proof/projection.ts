/**
 * The projection as integers (docs/protocol.md, 5.3 and 11.1): its encoding and its bound. A
 * projection is y_0, y*_0, y_1, y*_1, ..., and at the end y_136 and y*_136, which are U and V.
 */
import { ALL_PAIRS, PAIRS, PROJECTION_FACTOR } from './constants.ts';
import type { Values } from './ring.ts';

/** Values y and y* of a projection, U and V included. */
export const PROJECTION_LENGTH = 2 * ALL_PAIRS;
/** Index of U; V follows it. */
const SUMS_AT = 2 * PAIRS;

/** Converts y to the form that is sent: y'_j, y*'_j, then U and V; all are below 2^53. */
export function sentOf(y: Values): number[] {
  const [u, v] = [y[SUMS_AT]!, y[SUMS_AT + 1]!];
  const halves = [(u + v) >> 1n, (v - u) >> 1n];
  return Array.from(y, (value, i) => Number(i < SUMS_AT ? value - halves[i % 2]! : value));
}

/** Recovers y from the form that is sent. */
export function projectionOf(sent: ArrayLike<number>): number[] {
  const [u, v] = [sent[SUMS_AT]!, sent[SUMS_AT + 1]!];
  const halves = [Math.floor((u + v) / 2), Math.floor((v - u) / 2)];
  return Array.from(sent, (value, i) => (i < SUMS_AT ? value + halves[i % 2]! : value));
}

/**
 * Returns whether the projections by signs, x_j = 2 y_j - (U + V) and x*_j = 2 y*_j - (V - U), are
 * short enough. Every square and the bound are below 2^53, so a sum that is not exact exceeds the
 * bound.
 */
export function isShortProjection(sent: ArrayLike<number>, inSq: number): boolean {
  const odd = (sent[SUMS_AT]! ^ sent[SUMS_AT + 1]!) & 1;
  let sum = 0;
  for (let i = 0; i < SUMS_AT; i++) sum += (2 * sent[i]! - odd) ** 2;
  return sum <= PROJECTION_FACTOR * inSq;
}
