/**
 * The fields in the Gaussian code (docs/protocol.md, 11.2), and the index of each value. Index t
 * denotes the standard deviation 8 2^(t/8): a value is 2^s h + l with s = floor(t/8) and 0 <= l <
 * 2^s; h is coded with table t mod 8, and the s bits of l are stored uncoded.
 */
import { type CheckWords, HIGH_REACH, highModel, type Model } from '../gaussianCoder.ts';
import type { TailLevel } from '../parameters/rows.ts';
import { DEGREE, PAIRS } from './constants.ts';

/** Consecutive values that share an index; a multiple of eight. */
export interface CodedRun {
  readonly count: number;
  readonly code: number;
}

/** The states of the coder start and end at 2^32. */
export const NO_CHECK: CheckWords = Object.freeze([0, 0]);

const TABLES = 8;

/** s: the number of low bits stored uncoded. */
export const shiftOf = (code: number): number => Math.floor(code / TABLES);

/** The model of h. */
export const modelOfCode = (code: number): Model => highModel(code % TABLES);

/** Returns whether an integer has a code. */
export function hasCode(x: number, code: number): boolean {
  const high = Math.floor(x / 2 ** shiftOf(code));
  return high >= -HIGH_REACH && high < HIGH_REACH;
}

/** y'_0, y*'_0, ..., y*'_135. */
export const runsOfY = (codeY: number): CodedRun[] => [{ count: 2 * PAIRS, code: codeY }];

/** g of every pair except the last. */
export const runsOfG = ({ codesG }: Pick<TailLevel, 'codesG'>): CodedRun[] =>
  codesG.map((code) => ({ count: DEGREE, code }));

/** z, followed by e. */
export const runsOfLast = ({
  codesZ,
  codeE,
  kappa,
}: Pick<TailLevel, 'codesZ' | 'codeE' | 'kappa'>): CodedRun[] => [
  ...codesZ.map(({ columns, code }) => ({ count: DEGREE * columns, code })),
  { count: DEGREE * kappa, code: codeE },
];

/** The number of values in the runs. */
export const countOf = (runs: readonly CodedRun[]): number =>
  runs.reduce((sum, { count }) => sum + count, 0);

/**
 * Bytes of the low bits of all values. They fill whole bytes: runs are multiples of eight values.
 */
export const lowBytes = (runs: readonly CodedRun[]): number =>
  runs.reduce((sum, { count, code }) => sum + (count / 8) * shiftOf(code), 0);
