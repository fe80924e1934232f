/** The verifier's transcript (docs/protocol.md, 4): takes in what was sent, in its order, and gives the seeds of every level. */
import { concat, fromHex } from '../../../bytes.ts';
import type { Parameters } from '../../parameters/rows.ts';
import { TABLE_SHA256 } from '../../parameters/table.ts';
import { packResidues, projectionData } from '../encode.ts';
import { ABSORB, SEED } from '../labels.ts';
import type { Transcript } from '../transcript.ts';
import type { ParsedOrdinary, ParsedSection, ParsedTail } from './parse.ts';

/** Seeds that every level has. */
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

/** With the states under which the tail's two seals were made. */
export interface TailSeeds extends LevelSeeds {
  readonly stateOfT: Uint8Array;
  readonly stateOfH: Uint8Array;
}

export interface SectionSeeds {
  readonly first: FirstSeeds;
  /** levels 1, 2, ... */
  readonly ordinary: readonly LevelSeeds[];
  readonly tail: TailSeeds;
}

/** All seeds of a section of `count` items. */
export function replay(
  transcript: Transcript,
  { set, bucket }: Parameters,
  count: number,
  header: Uint8Array,
  { levels, tail }: ParsedSection,
): SectionSeeds {
  const logn = Math.log2(set);
  const start = concat(fromHex(TABLE_SHA256), Uint8Array.of(logn), u16(bucket), u16(count));
  transcript.absorb(ABSORB.start, start);
  transcript.absorb(ABSORB.header, header);
  return {
    first: replayFirst(transcript, levels[0]!),
    ordinary: levels.slice(1).map((level) => replayOrdinary(transcript, level)),
    tail: replayTail(transcript, tail),
  };
}

const u16 = (x: number): Uint8Array => Uint8Array.of(x & 255, x >> 8);

function replayFirst(transcript: Transcript, fields: ParsedOrdinary): FirstSeeds {
  transcript.absorb(ABSORB.retry, Uint8Array.of(fields.retry));
  transcript.absorb(ABSORB.uA, fields.first[0]!);
  const alpha = transcript.seed(SEED.alpha);
  transcript.absorb(ABSORB.uB, fields.first[1]!);
  const jl = transcript.seed(SEED.jl);
  const rho = transcript.seed(SEED.rho);
  return { alpha, rho, jl, ...replayRest(transcript, fields) };
}

function replayOrdinary(transcript: Transcript, fields: ParsedOrdinary): LevelSeeds {
  transcript.absorb(ABSORB.retry, Uint8Array.of(fields.retry));
  transcript.absorb(ABSORB.u1, fields.first[0]!);
  const jl = transcript.seed(SEED.jl);
  return { jl, ...replayRest(transcript, fields) };
}

function replayRest(transcript: Transcript, fields: ParsedOrdinary): Omit<LevelSeeds, 'jl'> {
  transcript.absorb(ABSORB.y, projectionData(fields.counter, fields.y, fields.w));
  const lift = transcript.seed(SEED.lift);
  transcript.absorb(ABSORB.b, fields.b);
  const combine = transcript.seed(SEED.combine);
  transcript.absorb(ABSORB.u2, fields.second);
  return { lift, combine, amortise: transcript.seed(SEED.amortise) };
}

function replayTail(transcript: Transcript, fields: ParsedTail): TailSeeds {
  transcript.absorb(ABSORB.retry, Uint8Array.of(fields.retry));
  const stateOfT = transcript.st;
  transcript.absorb(ABSORB.t, concat(fields.t, packResidues(fields.g), fields.sealT));
  const jl = transcript.seed(SEED.jl);
  transcript.absorb(ABSORB.y, projectionData(fields.counter, fields.y));
  const lift = transcript.seed(SEED.lift);
  transcript.absorb(ABSORB.b, fields.b);
  const combine = transcript.seed(SEED.combine);
  const stateOfH = transcript.st;
  transcript.absorb(ABSORB.h, concat(fields.h, fields.sealH));
  return { jl, lift, combine, amortise: transcript.seed(SEED.amortise), stateOfT, stateOfH };
}
