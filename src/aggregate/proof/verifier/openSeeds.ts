/** The seeds of a level in the verifier's module, and the challenges that all its parts fold by. */
import type { Labrador } from '../../wasm.ts';
import { Seed } from '../challenges.ts';
import { type FoldingChallenges, foldingChallenges } from './folding.ts';
import type { LevelSeeds } from './replay.ts';

export interface OpenSeeds {
  readonly jl: Seed;
  readonly lift: Seed;
  readonly combine: Seed;
}

export const openSeeds = (lab: Labrador, seeds: LevelSeeds, number: number): OpenSeeds => ({
  jl: new Seed(lab, seeds.jl, number),
  lift: new Seed(lab, seeds.lift, number),
  combine: new Seed(lab, seeds.combine, number),
});

export const openChallenges = (
  lab: Labrador,
  seeds: LevelSeeds,
  { combine }: OpenSeeds,
  number: number,
  rows: number,
): FoldingChallenges =>
  foldingChallenges(lab, new Seed(lab, seeds.amortise, number), combine, rows);
