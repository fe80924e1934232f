/** A part of a merged proof (docs/merged.md, 1.2): its transcript, and its claim. */
import type { Profile } from '../../../falcon/index.ts';
import type { MergedParameters } from '../../parameters/rows.ts';
import type { Labrador } from '../../wasm.ts';
import type { Claim } from '../claim.ts';
import { isShortProjection } from '../projection.ts';
import { type Values, valuesOfVec } from '../ring.ts';
import { Transcript } from '../transcript.ts';
import type { FoldedItems, StatedItem } from './foldItems.ts';
import type { ItemsInput, ResultHere } from './folds.ts';
import type { ParsedOrdinary } from './parse.ts';
import { reduceLevelZero } from './reduceLevelZero.ts';
import { replayPart } from './replay.ts';

/** A part as sent, and its items. */
export interface PartToVerify {
  readonly parameters: MergedParameters;
  readonly profile: Profile;
  /** as absorbed */
  readonly header: Uint8Array;
  readonly fields: ParsedOrdinary;
  readonly count: number;
  /** all items; undefined if they are folded in blocks */
  readonly items: readonly StatedItem[] | undefined;
}

/** A part whose transcript is known. */
export interface BegunPart {
  readonly fields: ParsedOrdinary;
  /** of its folds: see `planItems` */
  readonly input: ItemsInput;
  /** the state after `u2` */
  readonly st: Uint8Array;
}

/** What a merge needs of a part, without handles of a module. */
export interface PartClaim {
  readonly claim: Claim & { readonly phi: Values };
  readonly st: Uint8Array;
}

/** Performs the cheap steps. @returns undefined if the norm of the projection is too large */
export function beginPart({
  parameters,
  profile,
  header,
  fields,
  count,
  items,
}: PartToVerify): BegunPart | undefined {
  if (!isShortProjection(fields.y, parameters.levels[0]!.inSq)) return undefined;
  const transcript = new Transcript();
  const first = replayPart(transcript, parameters, count, header, fields);
  const set = `falcon${parameters.set}` as const;
  const input = { set, profile, parameters, seeds: { first }, count, items };
  return { fields, input, st: transcript.st };
}

/**
 * The claim of a part.
 *
 * @param results of the jobs of `planItems`, in order, from this instance or others
 * @returns undefined if a key, or a functional, is not acceptable
 */
export function claimOfPart(
  lab: Labrador,
  { fields, input, st }: BegunPart,
  results: readonly ResultHere[],
): PartClaim | undefined {
  if (results.includes(undefined)) return undefined;
  const { parameters, seeds } = input;
  const folded = results as readonly FoldedItems[];
  const claim = reduceLevelZero(lab, parameters, folded, fields, seeds.first);
  if (claim === undefined) return undefined;
  const { phi } = claim;
  return { claim: { ...claim, phi: 'kind' in phi ? valuesOfVec(lab, phi) : phi }, st };
}
