/**
 * The verifier of one proof over many parts (docs/merged.md, 1.7), after its headers. As that of a
 * section, it does not throw or block for any input bytes. It holds phi_z of all parts, 4.5 MB each
 * at the largest row.
 */
import type { Profile } from '../../../falcon/index.ts';
import type { MergedParameters } from '../../parameters/rows.ts';
import { bestModule, type Labrador } from '../../wasm.ts';
import { onInstance } from '../instances.ts';
import { Transcript } from '../transcript.ts';
import type { ItemsFolder, StatedItem } from './foldItems.ts';
import {
  type FoldJob,
  type FoldResult,
  foldHere,
  type MergedPlan,
  planMerged,
  type ResultHere,
} from './folds.ts';
import { type ParsedMerged, parseMerged } from './parse.ts';
import {
  type BegunPart,
  beginPart,
  claimOfPart,
  type PartClaim,
  type PartToVerify,
} from './part.ts';
import { replayMerge } from './replay.ts';
import { folderOf, HeldInstance, normsHold, type RestToReduce, reduceRest } from './verify.ts';

/** A merged proof whose format and norms are valid, but for the bounds of level 0. */
export interface MergedToVerify {
  readonly parameters: MergedParameters;
  readonly profile: Profile;
  readonly fields: ParsedMerged;
  readonly parts: readonly Pick<PartToVerify, 'header' | 'count' | 'items'>[];
}

/**
 * Checks the format of the bytes from `at` to their end, and the norms of all levels but the first.
 *
 * @returns undefined if they are rejected
 */
export function openMerged(
  parameters: MergedParameters,
  bytes: Uint8Array,
  at: number,
): ParsedMerged | undefined {
  const fields = parseMerged(parameters, bytes, at);
  return fields?.end === bytes.length && normsHold(parameters, fields) ? fields : undefined;
}

/** A merged proof whose transcripts are known, and the plan of its folds. */
interface Begun extends RestToReduce {
  readonly parts: readonly BegunPart[];
  readonly plan: MergedPlan;
}

/** @param jobs approximate number of jobs */
function beginMerged(proof: MergedToVerify, jobs: number): Begun | undefined {
  const { parameters, profile, fields: section } = proof;
  const parts: BegunPart[] = [];
  for (const [i, part] of proof.parts.entries()) {
    const begun = beginPart({ parameters, profile, fields: section.zeros[i]!, ...part });
    if (begun === undefined) return undefined;
    parts.push(begun);
  }
  const transcript = new Transcript();
  const states = parts.map(({ st }) => st);
  const seeds = replayMerge(transcript, parameters, section, states);
  const inputs = parts.map(({ input }) => input);
  const plan = planMerged(inputs, parameters, seeds, jobs);
  return { parameters, section, seeds, transcript, parts, plan };
}

/** Returns whether every item of every part has a signature. */
export function verifyMerged(proof: MergedToVerify): boolean {
  const begun = beginMerged(proof, 1);
  if (begun === undefined) return false;
  return concluded(begun, (lab, jobs) => jobs.map((job) => foldHere(lab, job)));
}

/**
 * Like `verifyMerged`, with the work done elsewhere.
 *
 * @param jobs approximate number of jobs
 * @param spread does them, in any order; resolves to the results in the order of the jobs
 */
export async function verifyMergedIn(
  proof: MergedToVerify,
  jobs: number,
  spread: (jobs: readonly FoldJob[]) => Promise<readonly FoldResult[]>,
): Promise<boolean> {
  const begun = beginMerged(proof, jobs);
  if (begun === undefined) return false;
  const { parts, rest } = begun.plan;
  const results = await spread([...parts.flat(), ...rest.jobs]);
  let at = 0;
  return concluded(begun, (_, list) => results.slice(at, (at += list.length)));
}

/** @param fold returns the results of jobs, part by part, and then of those after the parts */
function concluded(
  begun: Begun,
  fold: (lab: Labrador, jobs: readonly FoldJob[]) => readonly ResultHere[],
): boolean {
  const isProved = onInstance(bestModule(), (lab) => {
    const claims: PartClaim[] = [];
    for (const [i, part] of begun.parts.entries()) {
      const jobs = begun.plan.parts[i]!;
      const claim = lab.scope(() => claimOfPart(lab, part, fold(lab, jobs)));
      if (claim === undefined) return false;
      claims.push(claim);
    }
    return lab.scope(() => conclude(lab, begun, claims, fold(lab, begun.plan.rest.jobs)));
  });
  // undefined if the module traps
  return isProved === true;
}

function conclude(
  lab: Labrador,
  begun: Begun,
  claims: readonly PartClaim[],
  results: readonly ResultHere[],
): boolean {
  if (results.includes(undefined)) return false;
  const first = claims.map(({ claim }) => claim);
  return reduceRest(lab, begun, first, begun.plan.rest.assemble(results));
}

/**
 * A merged proof whose items arrive in blocks and are forgotten. Takes an idle instance, which
 * `close` returns.
 */
export class MergedInBlocks {
  readonly #held = new HeldInstance();
  readonly #begun: Begun;
  readonly #claims: PartClaim[] = [];
  #folder: ItemsFolder | undefined;
  #folded = 0;

  private constructor(begun: Begun) {
    this.#begun = begun;
  }

  /** @returns undefined if the proof is rejected */
  static open(proof: MergedToVerify): MergedInBlocks | undefined {
    const begun = beginMerged(proof, 1);
    return begun && new MergedInBlocks(begun);
  }

  /**
   * Folds the next items, which are all of one part; yields the progress.
   *
   * @returns false if a key, or a part, is rejected
   */
  *add(items: readonly StatedItem[]): Generator<number, boolean> {
    return yield* this.#held.guardParts((lab) => this.#fold(lab, items));
  }

  *#fold(lab: Labrador, items: readonly StatedItem[]): Generator<number, boolean> {
    const part = this.#begun.parts[this.#claims.length]!;
    this.#folder ??= folderOf(lab, part.input);
    const from = this.#folded;
    this.#folded += items.length;
    if (!(yield* this.#folder.add({ from, to: this.#folded }, items))) return false;
    return this.#folded < part.input.count || this.#finish(lab, part);
  }

  /** Ends a part, all of whose items have been folded. */
  #finish(lab: Labrador, part: BegunPart): boolean {
    const claim = claimOfPart(lab, part, [this.#folder!.finish()]);
    if (claim === undefined) return false;
    this.#claims.push(claim);
    this.#folder = undefined;
    this.#folded = 0;
    this.#held.reset();
    return true;
  }

  /** Returns whether all parts are proved, after all items. */
  conclude(): boolean {
    const begun = this.#begun;
    const results = (lab: Labrador) => begun.plan.rest.jobs.map((job) => foldHere(lab, job));
    return this.#held.guard((lab) => conclude(lab, begun, this.#claims, results(lab)));
  }

  close(): void {
    this.#held.close();
  }
}
