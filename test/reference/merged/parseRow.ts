/**
 * docs/merged.md, 1.1: part rows and merged rows, and the shapes that follow. Rows
 * are the caller's: one that breaks a rule of 1.1 is an error of the program, not a bad proof.
 */
import { hashOfRow } from '../table.ts';
import type { MergedRow } from '../tableRow.ts';
import {
  lengthsOfZero,
  levelsOf,
  type Ordinary,
  ordinaryOf,
  type Shapes,
  sizesOf,
} from '../verifier/shapes.ts';

/** What the merged level asks of a part. */
export interface Bounds {
  /** squared norm by which block ι is bounded, and the index of the code of its y */
  readonly inP: number;
  readonly tP: number;
  /** the same of x^(ι); 0 if level 0 is open */
  readonly XP: number;
  readonly tXP: number;
}

export interface MergedShapes extends Pick<Shapes, 'set' | 'bucket' | 'K' | 'W' | 'logn' | 'tail'> {
  readonly partHash: Uint8Array;
  readonly mergedHash: Uint8Array;
  readonly zero: Ordinary;
  readonly bounds: Bounds;
  /** P', the largest number of parts */
  readonly most: number;
  /** level 1, whose inSq and tY are unused, and the levels behind it */
  readonly levels: readonly [Ordinary, ...Ordinary[]];
}

const LIMIT = 2 ** 43;
const LAST_CODE = 143;
const MOST_PARTS = 2 ** 16 - 1;

const isFrom = (least: number, x: number, most: number): boolean =>
  Number.isInteger(x) && least <= x && x <= most;

function require(holds: boolean, what: string): void {
  if (!holds) throw new RangeError(what);
}

/** @throws RangeError for a row that is none */
export function mergedShapesOf(row: MergedRow): MergedShapes {
  const [part, most, levelRows] = row;
  const [set, bucket, rowOfZero, [inP, tP, XP, tXP]] = part;
  require(isFrom(1, most, MOST_PARTS), 'P');
  require(levelRows.length >= 2, 'level 1 and the tail');
  const zero = ordinaryOf(rowOfZero, 0, lengthsOfZero(set, bucket));
  const bounds = { inP, tP, XP, tXP };
  requireBounds(bounds, zero);
  const { levels, tail } = levelsOf(levelRows, 1, lengthsOfMerged(zero, most));
  const [first, ...others] = levels;
  requireWhole(first!);
  return {
    ...{ set, bucket, ...sizesOf(set), zero, bounds, most, levels: [first!, ...others], tail },
    ...{ partHash: hashOfRow(part), mergedHash: hashOfRow(row) },
  };
}

/** inP >= outSq, XP >= X, all below 2^43; indices at most 143 */
function requireBounds({ inP, tP, XP, tXP }: Bounds, { outSq, X, w }: Ordinary): void {
  require(isFrom(outSq, inP, LIMIT - 1), 'inP');
  require(isFrom(0, tP, LAST_CODE), 'tP');
  const isHidden = w > 0;
  require(isHidden ? isFrom(X, XP, LIMIT - 1) : XP === 0, 'XP');
  require(isHidden ? isFrom(0, tXP, LAST_CODE) : tXP === 0, 'tXP');
}

/** Level 1 is not cut; its inSq and tY are unused. */
function requireWhole({ inSq, tY, ct }: Ordinary): void {
  require(ct === 0, 'ct of level 1');
  require(inSq === 0, 'inSq of level 1');
  require(tY === 0, 'tY of level 1');
}

/** The segments of level 1: z_0 of every part, …, z_{f-1} of every part, all v as one. */
const lengthsOfMerged = ({ f, n, m }: Ordinary, most: number): number[] => [
  ...new Array<number>(f * most).fill(n),
  most * m,
];

/** Rows of one part row, least P' first. @throws RangeError unless they differ in P' */
export function rowsOfPart(rows: readonly MergedRow[], partHash: Uint8Array): readonly MergedRow[] {
  const found = rows
    .filter(([part]) => Buffer.compare(hashOfRow(part), partHash) === 0)
    .sort(([, a], [, b]) => a - b);
  require(found.every(([, most], i) => most !== found[i + 1]?.[1]), "two rows of one P'");
  return found;
}
