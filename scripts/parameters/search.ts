/** Beam search for the chain of levels with the fewest bytes. */
import { ALPHA_SQ, BETA_SQ, D } from './constants.ts';
import {
  type Before,
  gaussBits,
  type Level,
  ordinaryLevel,
  type Pick,
  tailLevel,
} from './model.ts';
import { lengthOf, lowDigitsOfLifts, type Part } from './moments.ts';
import { type FirstLevel, type Shape, shapeOf, varianceOfZ } from './shape.ts';

export interface Chain {
  readonly bits: number;
  readonly cost: number;
  readonly levels: readonly Level[];
}

/**
 * What a polynomial of a level's input may save in bits of proof, since it costs both sides time:
 * the verifier about 3 microseconds, so that at 1722 items three hundredths of its time are worth
 * one of the bytes.
 */
export const TIME_BITS = 1;
/**
 * What a polynomial of the key of level 0 may save: expanding and transforming it takes a sixth of
 * that.
 */
const KEY_BITS = 0.15;

/**
 * What a product of polynomials for every polynomial of level 0 may save, at 1722 items. The prover
 * makes kappa of them for t, r/2 for g and r for h.
 */
const WORK_BITS = 150;

export const workBits = (kappa: number, r: number, count: number): number =>
  (WORK_BITS * (kappa + 1.5 * r) * count) / 1722;

/** Bits of a level, and what its time is worth. */
export function costOf(level: Level, index: number, count: number): number {
  const { bits } = level;
  if (level.tail) return bits;
  const output = level.f * level.n + level.m;
  if (index > 0) return bits + TIME_BITS * output;
  const { kappa, r, n } = level;
  return bits + TIME_BITS * output + KEY_BITS * kappa * n + workBits(kappa, r, count);
}

export function firstParts(n: 512 | 1024, count: number): Part[] {
  const width = n / 32 + 1;
  const perItem = BETA_SQ[n] / (width * D);
  const y = perItem * ALPHA_SQ;
  const w1 = BETA_SQ[n] ** 2 / (width * D) / 4 ** 13 + 1 / 12;
  return [
    [{ length: width * count, variance: perItem, mean: 0 }],
    [lowDigitsOfLifts(count, 13), { length: count, variance: w1, mean: 0 }],
    [{ length: width * count, variance: y, mean: 0, excess: y * y }],
  ];
}

export function firstLevel(n: 512 | 1024, count: number, cuts: number): FirstLevel {
  return {
    jlSq: count * BETA_SQ[n],
    peakSY: BETA_SQ[n] * Math.sqrt((ALPHA_SQ * count) / (cuts * D)),
    count,
  };
}

/** Lengths of a row that cut some part into equal rows, the longest into at most `most`. */
function rowLengths(parts: readonly Part[], most: number): number[] {
  const lengths = parts.map(lengthOf);
  const longest = Math.max(...lengths);
  const all = new Set<number>();
  for (const length of lengths) {
    for (let k = 1; k <= most; k++) {
      const n = Math.ceil(length / k);
      if (Math.ceil(longest / n) <= most) all.add(n);
    }
  }
  return [...all].sort((a, b) => a - b);
}

/**
 * The choices worth trying for rows of a given length. None of them hides messages or cuts inner
 * commitments: refine.ts does that.
 */
function* picks(shape: Shape): Generator<Pick> {
  for (let f = 1; f <= 3; f++) {
    const centre = Math.round((0.5 * Math.log2(12 * varianceOfZ(shape))) / f);
    for (let b = centre - 1; b <= centre + 1; b++) {
      const whole = Math.ceil((Math.log2(12) + Math.log2(shape.maxVarG)) / (2 * b));
      for (let bu = Math.max(3, b - 1); bu <= b + 3; bu++) {
        // more digits than the next smaller base needs: never better
        if (Math.ceil(44 / bu) === Math.ceil(44 / (bu - 1)) && bu > b) continue;
        for (const fg of [whole, whole - 1]) {
          for (const cut of CUTS) yield { f, b, bu, fg, bg: b, cut, w: 0, ct: 0 };
        }
      }
    }
  }
}
const CUTS = [0, 6, 8, 10, 12];

export function* candidates(
  parts: readonly Part[],
  bound: number,
  first?: { n: 512 | 1024; count: number },
): Generator<Level> {
  const longest = Math.max(...parts.map(lengthOf));
  for (const n of rowLengths(parts, first ? 24 : 14)) {
    const info = first && firstLevel(first.n, first.count, Math.ceil(longest / n));
    const shape = shapeOf(parts, n, info);
    if (shape.r > 30) continue;
    for (const pick of picks(shape)) {
      const level = ordinaryLevel(shape, pick, bound, info);
      if (level) yield level;
    }
  }
}

export function bestTail(
  parts: readonly Part[],
  bound: number,
  room: number,
  before: Before,
): Level | undefined {
  let best: Level | undefined;
  for (const n of rowLengths(parts, 8)) {
    const shape = shapeOf(parts, n);
    if (shape.r > 16) continue;
    for (let cut = 5; cut <= 14; cut++) {
      const level = tailLevel(shape, cut, bound, room, before);
      if (!level) continue;
      if (!best || level.bits < best.bits) best = level;
    }
  }
  return best;
}

interface State {
  readonly bits: number;
  /** bytes, and what the time for the inputs is worth */
  readonly cost: number;
  readonly levels: Level[];
  readonly bound: number;
  readonly parts: readonly Part[];
}

/** States that are as long and as large as each other compete; the cheaper one stays. */
function binOf(level: Level): string {
  const length = level.parts.reduce((s, p) => s + lengthOf(p), 0);
  return `${Math.round(8 * Math.log2(length))},${Math.round(Math.log2(level.outSq))},${level.f}`;
}

/** bits the output would take in clear: how much is left to do */
const leftBits = (parts: readonly Part[]): number =>
  parts.reduce((s, p) => s + p.reduce((t, r) => t + r.length * gaussBits(r.variance), 0), 0) * D;

export function search(n: 512 | 1024, count: number, width = 10, depth = 6): Chain | undefined {
  let states: State[] = [{ bits: 0, cost: 0, levels: [], bound: 0, parts: firstParts(n, count) }];
  let best: Chain | undefined;
  for (let at = 0; at < depth; at++) {
    const bins = new Map<string, State>();
    for (const state of states) {
      const first = at === 0 ? { n, count } : undefined;
      for (const level of candidates(state.parts, state.bound, first)) {
        const bits = state.bits + level.bits;
        const cost = state.cost + costOf(level, at, count);
        const bin = binOf(level);
        const known = bins.get(bin);
        if (known === undefined || cost < known.cost) {
          const levels = [...state.levels, level];
          bins.set(bin, { bits, cost, levels, bound: level.outSq, parts: level.parts });
        }
      }
    }
    const ranked = [...bins.values()].map((state) => {
      const { room } = state.levels.at(-1)!;
      const tail = bestTail(state.parts, state.bound, room, { count, levels: at + 1 });
      const rest = tail?.bits ?? Number.POSITIVE_INFINITY;
      const done = state.cost + rest;
      if (tail && (!best || done < best.cost)) {
        best = { bits: state.bits + rest, cost: done, levels: [...state.levels, tail] };
      }
      return { state, done, soft: state.cost + 0.25 * leftBits(state.parts) };
    });
    const keep = new Set<State>();
    for (const x of ranked.sort((a, b) => a.done - b.done).slice(0, width)) keep.add(x.state);
    for (const x of ranked.sort((a, b) => a.soft - b.soft).slice(0, width)) keep.add(x.state);
    states = [...keep];
  }
  return best;
}
