/**
 * Replays the transcript (docs/protocol.md, 4): absorbs the sent values in order, and derives the
 * seeds of every level.
 */
import type { MergedParameters, Parameters } from '../../parameters/rows.ts';
import {
  ABSORB,
  dataOfH,
  dataOfMerge,
  dataOfPart,
  dataOfStart,
  dataOfT,
  dataOfY,
  SEED,
  type Transcript,
} from '../transcript.ts';
import type { ParsedMerged, ParsedOrdinary, ParsedSection, ParsedTail } from './parse.ts';

/** The seeds common to all levels. */
export interface LevelSeeds {
  readonly jl: Uint8Array;
  readonly lift: Uint8Array;
  readonly combine: Uint8Array;
  readonly amortise: Uint8Array;
}

export interface FirstSeeds extends LevelSeeds {
  readonly alpha: Uint8Array;
  readonly rho: Uint8Array;
}

export interface TailSeeds extends LevelSeeds {
  /** the state in which the seal of t was made */
  readonly stateOfT: Uint8Array;
  /** the state in which the seal of h was made */
  readonly stateOfH: Uint8Array;
}

/** The seeds of the levels after the first. */
export interface RestSeeds {
  /** levels 1, 2, ... */
  readonly ordinary: readonly LevelSeeds[];
  readonly tail: TailSeeds;
}

export interface SectionSeeds extends RestSeeds {
  readonly first: FirstSeeds;
}

/**
 * Derives all seeds of a section of `count` items. @param rowHash defaults to that of the row
 */
export function replay(
  transcript: Transcript,
  parameters: Parameters,
  count: number,
  header: Uint8Array,
  section: ParsedSection,
  rowHash?: Uint8Array,
): SectionSeeds {
  transcript.absorb(ABSORB.start, dataOfStart(parameters, count, rowHash));
  transcript.absorb(ABSORB.header, header);
  const first = replayLevelZero(transcript, section.levels[0]!);
  return { first, ...replayRest(transcript, section) };
}

/** Derives the seeds of a part of `count` items, and leaves its final state. */
export function replayPart(
  transcript: Transcript,
  parameters: MergedParameters,
  count: number,
  header: Uint8Array,
  fields: ParsedOrdinary,
): FirstSeeds {
  transcript.absorb(ABSORB.part, dataOfPart(parameters, count));
  transcript.absorb(ABSORB.header, header);
  return replayLevelZero(transcript, fields);
}

/** Derives the seeds of the levels that all parts share. @param states final ones of the parts */
export function replayMerge(
  transcript: Transcript,
  parameters: MergedParameters,
  section: ParsedMerged,
  states: readonly Uint8Array[],
): RestSeeds {
  transcript.absorb(ABSORB.merge, dataOfMerge(parameters, section.attempt, states));
  return replayRest(transcript, section);
}

const replayRest = (transcript: Transcript, { levels, tail }: ParsedSection): RestSeeds => ({
  ordinary: levels.slice(1).map((level) => replayLevel(transcript, level)),
  tail: replayTail(transcript, tail),
});

function replayLevelZero(transcript: Transcript, fields: ParsedOrdinary): FirstSeeds {
  transcript.absorb(ABSORB.retry, Uint8Array.of(fields.retry));
  transcript.absorb(ABSORB.uA, fields.first[0]!);
  const alpha = transcript.seed(SEED.alpha);
  transcript.absorb(ABSORB.uB, fields.first[1]!);
  const rho = transcript.seed(SEED.rho);
  return { alpha, rho, ...replayEnd(transcript, fields) };
}

function replayLevel(transcript: Transcript, fields: ParsedOrdinary): LevelSeeds {
  transcript.absorb(ABSORB.retry, Uint8Array.of(fields.retry));
  transcript.absorb(ABSORB.u1, fields.first[0]!);
  return replayEnd(transcript, fields);
}

function replayEnd(transcript: Transcript, fields: ParsedOrdinary): LevelSeeds {
  const jl = replayCounter(transcript, fields);
  transcript.absorb(ABSORB.y, dataOfY(fields));
  const lift = transcript.seed(SEED.lift);
  transcript.absorb(ABSORB.b, fields.b);
  const combine = transcript.seed(SEED.combine);
  transcript.absorb(ABSORB.u2, fields.second);
  return { jl, lift, combine, amortise: transcript.seed(SEED.amortise) };
}

/** Every counter has a different seed: one seed determines one matrix. */
function replayCounter(transcript: Transcript, { counter }: { counter: number }): Uint8Array {
  transcript.absorb(ABSORB.counter, Uint8Array.of(counter));
  return transcript.seed(SEED.jl);
}

function replayTail(transcript: Transcript, fields: ParsedTail): TailSeeds {
  transcript.absorb(ABSORB.retry, Uint8Array.of(fields.retry));
  const stateOfT = transcript.st;
  transcript.absorb(ABSORB.t, dataOfT(fields));
  const jl = replayCounter(transcript, fields);
  transcript.absorb(ABSORB.y, dataOfY(fields));
  const lift = transcript.seed(SEED.lift);
  transcript.absorb(ABSORB.b, fields.b);
  const combine = transcript.seed(SEED.combine);
  const stateOfH = transcript.st;
  transcript.absorb(ABSORB.h, dataOfH(fields));
  return { jl, lift, combine, amortise: transcript.seed(SEED.amortise), stateOfT, stateOfH };
}
