/**
 * docs/merged.md, 1.3 to 1.6: level 1 of a merged proof, on the claims of all parts. What it shares
 * with level 1 of docs/protocol.md (p.) is the code of ../verifier, part by part.
 */
import { formsOnX, type Scalars, scalarsOf, valuesOfLifts } from '../verifier/behind.ts';
import { type Pair, scalars } from '../verifier/challenges.ts';
import { type Checks, Refused } from '../verifier/checks.ts';
import { type Claim, claimOf } from '../verifier/claim.ts';
import { type Combined, combineClaim, quadraticOf } from '../verifier/constraints.ts';
import { projectionPhi } from '../verifier/level.ts';
import {
  amortisers,
  betasOf,
  Folding,
  liftsOf,
  projectionNormSq,
  type SentProjection,
  SHORT,
  shortOf,
} from '../verifier/lifts.ts';
import type { Seeds } from '../verifier/replay.ts';
import { add, mod, multiply, type Poly, zero } from '../verifier/ring.ts';
import { forEachPlace, type Layout, type Ordinary } from '../verifier/shapes.ts';
import { STREAM, stream } from '../verifier/streams.ts';
import type { MergedLevelMessage } from './parseProof.ts';
import type { MergedShapes } from './parseRow.ts';
import type { Flaws } from './verifier.ts';

const LEVEL = 1;
/** 1.5: kind of the short challenges χ */
const CHI = 8;

/** Takes φ of a place: a row, a column of s. */
export interface Sink {
  add(row: number, column: number, phi: Poly): void;
}

export interface MergedInput {
  readonly shapes: MergedShapes;
  /** what level 0 of every part leaves */
  readonly claims: readonly Claim[];
  readonly message: MergedLevelMessage;
  readonly seeds: Seeds;
  readonly flaws: Flaws;
  readonly checks: Readonly<Checks>;
}

/** The constraints of level 1 as one, without its lifts. */
export interface MergedConstraints {
  readonly quadratic: Map<number, Poly>;
  readonly b: Poly;
  readonly beta: readonly Poly[];
  /** D of every lift */
  readonly values: readonly Pair[];
}

/** What level 1 leaves to level 2, which is as in p. 10.1. */
export function verifyMergedLevel(input: MergedInput): Claim {
  const { shapes, message, seeds, flaws } = input;
  const shape = shapes.levels[0];
  checkNorms(shapes, message, flaws);
  const c = amortisers(seeds.amortise, LEVEL, shape.r);
  const folding = new Folding(c, shape.n);
  const constraints = addMergedConstraints(folding, input);
  return claimOf(shape, message, { ...constraints, c, phi: folding.result() });
}

/** 1.3: every block and every x^(ι) against the bound of its kind */
export function checkNorms(
  { bounds, most }: Pick<MergedShapes, 'bounds' | 'most'>,
  { blocks }: Pick<MergedLevelMessage, 'blocks'>,
  flaws: Flaws,
): void {
  const inAll = most * bounds.inP;
  const check = (name: string, y: SentProjection, mostSq: number, where: string): void => {
    const bound = flaws.has('boundOfRow') ? inAll : mostSq;
    if (projectionNormSq(y) > 288n * BigInt(bound)) throw new Refused(`${name}: ${where}`);
  };
  if (flaws.has('oneBound')) {
    const sum = blocks.reduce((normSq, { y }) => normSq + projectionNormSq(y), 0n);
    if (sum > 288n * BigInt(inAll)) throw new Refused('normOfAll');
  }
  for (const [i, { y, yOfX }] of blocks.entries()) {
    const where = `part ${i + 1}`;
    if (!flaws.has('oneBound')) check('normOfBlock', y, bounds.inP, where);
    if (yOfX === undefined || flaws.has('noNormOfX')) continue;
    check('normOfXOfBlock', yOfX, bounds.XP, where);
  }
}

/** 1.4, 1.5: the sum of all constraints; φ goes into the sink. */
export function addMergedConstraints(sink: Sink, input: MergedInput): MergedConstraints {
  const { shapes, claims, seeds, flaws, checks } = input;
  const beta = betasOf(seeds.combine, LEVEL, shapes.levels[0].w > 0, checks);
  const weights = weightsOf(input);
  const combined = claims.map((claim, part) =>
    times(combineClaim(claim, seeds.combine, checks), chiOf(seeds.combine, part, flaws)),
  );
  addPlaces(sink, input, weights, combined, beta);
  return {
    quadratic: quadraticOfParts(shapes, combined),
    b: combined.reduce((sum, { b }) => add(sum, b), zero()),
    beta,
    values: valuesOfMerged(input, weights),
  };
}

/** 1.5: χ_ι. @param part from 0 */
function chiOf(combine: Uint8Array, part: number, flaws: Flaws): Poly {
  return shortOf(combine, LEVEL, CHI, flaws.has('oneChi') ? 0 : part);
}

/** The constraint of a part, times χ_ι. */
const times = ({ parts, delta, b }: Combined, chi: Poly): Combined => ({
  parts: parts.map((forms) => forms.map((phi) => multiply(phi, chi))),
  delta: multiply(delta, chi),
  b: multiply(b, chi),
});

/** Scalars of the equations, by part and lift, times υ. */
type Weights = readonly (readonly Scalars[])[];

/** 1.4: the scalars of p. 8.5, which all parts share, each times υ_ι */
function weightsOf({ shapes, claims, seeds, flaws, checks }: MergedInput): Weights {
  const levelZero = shapes.zero;
  const before = levelZero.w > 0 ? levelZero : undefined;
  const shared = scalarsOf(seeds.lift, LEVEL, before, checks);
  const upsilons = upsilonsOf(seeds.lift, shared[0]!, claims.length);
  return claims.map((_, part) =>
    shared.map((ofLift, k) =>
      timesUpsilon(ofLift, upsilons[k]![flaws.has('oneUpsilon') ? 0 : part]!),
    ),
  );
}

/** 1.4: υ_1, …, υ_P of every lift, which follow the scalars in stream 4 */
function upsilonsOf(lift: Uint8Array, { ofP, ofPx, ofQ, ofTb }: Scalars, count: number): Pair[][] {
  const before = ofP.length + ofPx.length + ofQ.flat(2).length + ofTb.length;
  return liftsOf(LEVEL).map((sub) => {
    const source = stream(lift, { type: STREAM.omega, level: LEVEL, sub });
    const words = scalars(source, 2 * (before + count)).slice(2 * before);
    return Array.from({ length: count }, (_, i): Pair => [words[2 * i]!, words[2 * i + 1]!]);
  });
}

/** The product in S_q, i² = -1. */
const product = ([a, b]: Pair, [c, d]: Pair): Pair => [mod(a * c - b * d), mod(a * d + b * c)];

function timesUpsilon({ ofP, ofPx, ofQ, ofTb }: Scalars, upsilon: Pair): Scalars {
  const scaled = (list: readonly Pair[]) => list.map((x) => product(x, upsilon));
  return {
    ofP: scaled(ofP),
    ofPx: scaled(ofPx),
    ofQ: ofQ.map((ofMessage) => ofMessage.map(scaled)),
    ofTb: scaled(ofTb),
  };
}

/** A place of level 1: polynomial `place` of segment `segment` of a part, both as at p. 8.1. */
interface PlaceOfPart {
  /** from 0 */
  readonly part: number;
  /** z_0, …, z_{f-1}, v */
  readonly segment: number;
  readonly place: number;
  /** 1.3 */
  readonly POLY: number;
}

/** 1.1, 1.3: whose place it is. */
function placeOf({ f, n, m }: Ordinary, most: number, segment: number, place: number): PlaceOfPart {
  if (segment < f * most) {
    const digit = Math.floor(segment / most);
    return { part: segment % most, segment: digit, place, POLY: digit * n + place };
  }
  const inPart = place % m;
  return { part: Math.floor(place / m), segment: f, place: inPart, POLY: f * n + inPart };
}

/** φ of every place of s; 1.6: those of absent parts are padding, which has no χ */
function addPlaces(
  sink: Sink,
  { shapes, claims, seeds, checks }: MergedInput,
  weights: Weights,
  combined: readonly Combined[],
  beta: readonly Poly[],
): void {
  const { zero: levelZero, most, levels } = shapes;
  const shape = levels[0];
  const liftings = weights.map((ofPart) => ({
    ...{ level: LEVEL, jl: seeds.jl, scalars: ofPart, beta },
    onX: levelZero.w > 0 ? formsOnX(levelZero, ofPart, beta) : [],
  }));
  forEachPlace(shape, (row, column, segmentOfAll, placeOfAll, isRest) => {
    const { part, segment, place, POLY } = placeOf(levelZero, most, segmentOfAll, placeOfAll);
    if (isRest || part >= claims.length) {
      if (!checks.padding) return;
      const index = row * shape.n + column;
      sink.add(row, column, shortOf(seeds.combine, LEVEL, SHORT.padding, index));
      return;
    }
    const { onX, ...lifting } = liftings[part]!;
    const isX = segment === levelZero.f && place < onX.length;
    sink.add(row, column, combined[part]!.parts[segment]![place]!);
    sink.add(row, column, projectionPhi(lifting, POLY, isX));
    if (isX) sink.add(row, column, onX[place]!);
  });
}

/** 1.5: E4 of every part, on its rows of z */
function quadraticOfParts(
  { zero: levelZero, most, levels }: MergedShapes,
  combined: readonly Combined[],
): Map<number, Poly> {
  const quadratic = new Map<number, Poly>();
  for (const [part, { delta }] of combined.entries()) {
    const ofPart = layoutOfPart(levels[0], levelZero.f, most, part);
    for (const [pair, a] of quadraticOf(levelZero, ofPart, delta)) quadratic.set(pair, a);
  }
  return quadratic;
}

/** The layout with the rows of z_0, …, z_{f-1} of one part alone; r is that of all. */
function layoutOfPart(layout: Layout, f: number, most: number, part: number): Layout {
  const ofPart = (list: readonly number[]): number[] =>
    Array.from({ length: f }, (_, digit) => list[digit * most + part]!);
  return {
    ...layout,
    lengths: ofPart(layout.lengths),
    rowsOf: ofPart(layout.rowsOf),
    firstRow: ofPart(layout.firstRow),
  };
}

/** 1.4: D of every lift; the scalars contain υ */
export function valuesOfMerged(input: MergedInput, weights = weightsOf(input)): Pair[] {
  const { claims, message, checks } = input;
  const sums = liftsOf(LEVEL).map((): [bigint, bigint] => [0n, 0n]);
  const plus = (values: readonly Pair[]): void => {
    for (const [k, [real, i]] of values.entries()) {
      sums[k]![0] += real;
      sums[k]![1] += i;
    }
  };
  for (const [part, { y, yOfX }] of message.blocks.entries()) {
    plus(valuesOfLifts(weights[part]!, y, yOfX, claims[part]!.hidden, checks));
  }
  return sums.map(([real, i]): Pair => [mod(real), mod(i)]);
}
