/**
 * Quarters of rows of the key matrix: coefficients 0, 4, ..., 60 of the products of its first rows
 * with the digits of a hidden message.
 */
import { DEGREE, Q_BITS } from './constants.ts';

/** The coefficients that are sent of each row. */
export const QUARTER: readonly number[] = Object.freeze(
  Array.from({ length: DEGREE / 4 }, (_, c) => 4 * c),
);

/** Bytes of k rows. */
export const quarterBytes = (k: number): number => (QUARTER.length * k * Q_BITS) / 8;

/** Equations over the field of q^2 elements per row. */
export const EQUATIONS_OF_ROW = QUARTER.length / 2;
