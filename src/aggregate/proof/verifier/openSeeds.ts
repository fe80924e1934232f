/** The seeds of a level in the module's memory, and the challenges that fold its rows and lifts. */
import type { Forms, Labrador } from '../../wasm.ts';
import { fillRowChallenges, Seed, shortForms } from '../challenges.ts';
import { liftsOf } from '../lifts.ts';
import { SHORT } from '../transcript.ts';
import type { LevelSeeds } from './replay.ts';

/** The challenges that fold a level, in NTT form. */
export interface FoldingChallenges {
  /** c_a of every row */
  readonly c: Forms;
  /** beta_k of every lift */
  readonly beta: Forms;
}

export interface OpenSeeds extends FoldingChallenges {
  readonly jl: Seed;
  readonly lift: Seed;
  readonly combine: Seed;
}

/**
 * Opens the seeds of level `number`, which has `rows` rows. They are valid until the scope ends.
 */
export function openSeeds(
  lab: Labrador,
  seeds: LevelSeeds,
  number: number,
  rows: number,
): OpenSeeds {
  const [jl, lift, combine] = [seeds.jl, seeds.lift, seeds.combine].map(
    (bytes) => new Seed(lab, bytes, number),
  ) as [Seed, Seed, Seed];
  const c = lab.forms(rows);
  lab.scope(() => fillRowChallenges(lab, new Seed(lab, seeds.amortise, number), c));
  return {
    jl,
    lift,
    combine,
    c,
    beta: shortForms(lab, combine, SHORT.lift, 0, liftsOf(number).count),
  };
}
