/**
 * The merger's look at a part (docs/merged.md, 1.7), which has fields and an output: the verifier
 * makes the claim of the fields, the prover checks that the output satisfies it. No other file uses
 * both.
 */
import type { Profile } from '../../falcon/index.ts';
import type { MergedParameters } from '../parameters/rows.ts';
import { bestModule } from '../wasm.ts';
import { onInstance } from './instances.ts';
import { type PartOutput, satisfiesClaim } from './prover/partInput.ts';
import type { StatedItem } from './verifier/foldItems.ts';
import {
  costOfItems,
  costOfPart,
  type FoldJob,
  type FoldResult,
  planItems,
} from './verifier/folds.ts';
import { type ParsedOrdinary, parseZero } from './verifier/parse.ts';
import { type BegunPart, beginPart, claimOfPart } from './verifier/part.ts';

/** The fields of a part and its output, in canonical encoding. */
export interface OpenedPart {
  readonly fields: ParsedOrdinary;
  /** offsets of the fields */
  readonly from: number;
  readonly to: number;
  readonly output: Int16Array;
}

/**
 * Reads the fields and the output of a part from `at` to the end of the bytes.
 *
 * @returns undefined unless they are in canonical encoding
 */
export function openPart(
  parameters: MergedParameters,
  bytes: Uint8Array,
  at: number,
): OpenedPart | undefined {
  const zero = parseZero(parameters, bytes, at);
  const { f, n, m } = parameters.levels[0]!;
  if (zero === undefined || bytes.length - zero.end !== 128 * (f * n + m)) return undefined;
  const output = new Int16Array(bytes.slice(zero.end).buffer);
  return { fields: zero.fields, from: at, to: zero.end, output };
}

/** A part with its statements, whose transcript is known. */
export interface CheckingPart {
  readonly begun: BegunPart;
  readonly jobs: readonly FoldJob[];
}

/**
 * Performs the cheap steps of the check of a part.
 *
 * @param header as absorbed
 * @param jobs approximate number of jobs
 * @returns undefined if the part is refused
 */
export function jobsOfPart(
  parameters: MergedParameters,
  { fields }: OpenedPart,
  header: Uint8Array,
  profile: Profile,
  items: readonly StatedItem[],
  jobs: number,
): CheckingPart | undefined {
  const count = items.length;
  const begun = beginPart({ parameters, profile, header, fields, count, items });
  if (begun === undefined) return undefined;
  const wanted = costOfPart([costOfItems(begun.input)], jobs);
  return { begun, jobs: planItems(begun.input, wanted) };
}

/**
 * Concludes the check of a part, so that a merge can take it.
 *
 * @param results of its jobs, in order
 * @returns undefined if the part is refused
 */
export const verifiedPart = (
  parameters: MergedParameters,
  { begun }: CheckingPart,
  { output }: OpenedPart,
  results: readonly FoldResult[],
): PartOutput | undefined =>
  onInstance(bestModule(), (lab) =>
    lab.scope(() => {
      const claim = claimOfPart(lab, begun, results);
      const part = claim && { ...claim, output };
      return part !== undefined && satisfiesClaim(lab, parameters, part) ? part : undefined;
    }),
  );
