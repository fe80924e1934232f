/**
 * The relations of an honest merge, computed once more from what its parts and its levels show: the
 * names of those that do not hold. Those of parts and of further levels are today's.
 */
import type { Pair } from '../prover/challenges.ts';
import {
  type BeforeShown,
  behindIdentities,
  times,
  valueD,
  valuesD,
} from '../prover/hiddenIdentities.ts';
import {
  claimIdentities,
  ordinaryIdentities,
  outputIdentities,
  projectionIdentities,
  type ShownOrdinary,
  type ShownOutput,
  type ShownTail,
  tailIdentities,
} from '../prover/identities.ts';
import { mod, Q } from '../prover/ring.ts';
import type { LevelView } from '../prover/trace.ts';
import type { MergedRow } from '../tableRow.ts';
import { type MergeFaults, mergedScalars, type ShownMerged } from './level.ts';
import { type Part, readMergedRow } from './prover.ts';

type Equations = Record<string, boolean>;
type ShownOne = ShownOutput & ShownMerged;

/** A part as the level behind it sees it; undefined if its level 0 is open. */
const beforeOf = ({ shown }: Part): BeforeShown | undefined =>
  shown.params.w > 0 ? { shown, D: valuesD(shown, 0, undefined) } : undefined;

/** Section 1.4: D^(1), D^(2) of level 1, for a verifier that may share coefficients. */
function mergedD(
  { liftSeed, projections }: ShownOne,
  parts: readonly Part[],
  shares?: MergeFaults['shares'],
): Pair[] {
  const zero = parts[0]!.shown.params;
  return [0, 1].map((k): Pair => {
    const { ofEquations, upsilons } = mergedScalars(liftSeed, k, zero, parts.length);
    const terms = parts.map((part, i) => {
      const { all: projection, ofX } = projections[i]!;
      const value = valueD({ projection, ...(ofX && { ofX }) }, ofEquations, beforeOf(part));
      return times(upsilons[shares === 'upsilon' ? 0 : i]!, value);
    });
    const [a, b] = terms.reduce(([x, y], [u, v]): Pair => [x + u, y + v]);
    return [mod(a, Q), mod(b, Q)];
  });
}

/** Section 1.3 and p. 8.5: the projections of a part at level 1, and what they prove. */
function blockIdentities(shown: ShownOne, part: Part, index: number, inP: number, XP: number) {
  const { jlSeed: seed, projections, merged } = shown;
  const { list, x } = merged[index]!;
  const { all: projection, ofX } = projections[index]!;
  const projecting = { seed, counter: 0, projection, ...(ofX && { ofX }) };
  const before = beforeOf(part);
  const { params } = part.shown;
  // y_x is held to XP here
  const held = before && { ...before, shown: { ...before.shown, params: { ...params, X: XP } } };
  return {
    ...projectionIdentities({ projected: list, projecting }, inP, 1),
    ...(held && behindIdentities({ projecting, behind: { params, places: x } }, 1, held)),
    places: list.every(({ number, poly }) => part.output.parts.flat()[number] === poly),
  };
}

const named = (equations: Equations): string[] =>
  Object.entries(equations).flatMap(([name, holds]) => (holds ? [] : [name]));

/**
 * What a verifier goes by at level 1, if it may share coefficients: the lifts have the values that
 * it computes of what was sent, and rows satisfy the combined constraint.
 *
 * @returns the names of the relations that do not hold
 */
export function brokenClaims(
  parts: readonly Part[],
  views: readonly LevelView[],
  shares?: MergeFaults['shares'],
): string[] {
  const one = views[1]!.values as ShownOne;
  return named(claimIdentities(one, mergedD(one, parts, shares)));
}

/** @returns the names of the relations that do not hold, each with its part or its level */
export function brokenRelations(
  parts: readonly Part[],
  views: readonly LevelView[],
  row: MergedRow,
): string[] {
  const { merging, further } = readMergedRow(row);
  const { bounds, params } = merging;
  const broken: string[] = [];
  const note = (where: string, equations: Equations): void => {
    broken.push(...named(equations).map((name) => `${where} ${name}`));
  };

  for (const [i, part] of parts.entries()) {
    note(`part ${i + 1}`, ordinaryIdentities(part.shown, 0));
  }
  const one = views[1]!.values as ShownOne;
  for (const [i, part] of parts.entries()) {
    note(`block ${i + 1}`, blockIdentities(one, part, i, bounds.inP, bounds.XP));
  }
  const D = mergedD(one, parts);
  note('level 1', { ...claimIdentities(one, D), ...outputIdentities(one) });
  let before: BeforeShown | undefined = params.w > 0 ? { shown: one, D } : undefined;
  for (const [i] of further.entries()) {
    const shown = views[i + 2]!.values as ShownOrdinary;
    note(`level ${i + 2}`, ordinaryIdentities(shown, i + 2, before));
    before = shown.params.w > 0 ? { shown, D: valuesD(shown, i + 2, before) } : undefined;
  }
  const level = further.length + 2;
  note('tail', tailIdentities(views[level]!.values as ShownTail, level, before));
  return broken;
}
