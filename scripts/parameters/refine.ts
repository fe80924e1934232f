/**
 * Betters a chain by small changes of one or two levels: simulated annealing from a chain that the
 * beam search found, with a generator of fixed seed so that a search can be repeated.
 */

import { readRow, type TableRow } from '../../src/aggregate/parameters/rows.ts';
import { LOG2_Q } from './constants.ts';
import { digitsOfT } from './hidden.ts';
import { ordinaryLevel, type Pick, tailLevel } from './model.ts';
import { lengthOf, type Part } from './moments.ts';
import { type Chain, costOf, firstLevel, firstParts } from './search.ts';
import { type FirstLevel, rowCount, type Shape, shapeOf } from './shape.ts';

/** Rows are the first part (z_0) or the last one (v) cut into equal pieces. */
interface Cutting {
  readonly ofLast: boolean;
  readonly pieces: number;
}
type Choice = Pick & Cutting;
interface State {
  readonly ordinary: readonly Choice[];
  readonly tail: Cutting & { readonly cut: number };
}
interface Found extends Chain {
  readonly state: State;
  readonly shapes: readonly Shape[];
}

/** xorshift32 in [0, 1) */
function generator(seed: number): () => number {
  let x = seed | 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

const lengthFor = (parts: readonly Part[], { ofLast, pieces }: Cutting): number =>
  Math.ceil(lengthOf(ofLast ? parts.at(-1)! : parts[0]!) / pieces);

/** The cutting of `parts` that gives rows of n, or nearly. */
function cuttingOf(parts: readonly Part[], n: number, ofLast?: boolean): Cutting {
  const of = (last: boolean): Cutting => {
    const length = lengthOf(last ? parts.at(-1)! : parts[0]!);
    return { ofLast: last, pieces: Math.max(1, Math.round(length / n)) };
  };
  if (ofLast !== undefined) return of(ofLast);
  const miss = (cutting: Cutting): number => Math.abs(lengthFor(parts, cutting) - n);
  return miss(of(false)) <= miss(of(true)) ? of(false) : of(true);
}

/**
 * The choices of a row of a table, for any count: a row is a good start for its neighbours, too.
 */
function stateOf(row: TableRow): State {
  const { set, bucket, levels, tail } = readRow(row);
  let parts = firstParts(set, bucket);
  const ordinary: Choice[] = [];
  for (const { n, lengths, f, b, bu, fg, bg, cut, w, ct } of levels) {
    parts = lengths.map((length) => [{ length, variance: 1, mean: 0 }]);
    const most = Math.ceil(LOG2_Q / bg);
    ordinary.push({ ...cuttingOf(parts, n), f, b, bu, fg: Math.min(fg, most), bg, cut, w, ct });
  }
  parts = tail.lengths.map((length) => [{ length, variance: 1, mean: 0 }]);
  return { ordinary, tail: { ...cuttingOf(parts, tail.n), cut: tail.cut } };
}

/**
 * A step that makes the first of its changed levels dearer by more bits than this is given up at
 * once.
 */
const TOO_DEAR = 16_000;

/**
 * The chain of a state. Levels before `from` are those of `known`, and so is the shape of that
 * level if its rows are as long.
 */
function chainOf(
  set: 512 | 1024,
  count: number,
  state: State,
  known?: Found,
  from = 0,
): Found | undefined {
  const levels = known?.levels.slice(0, from) ?? [];
  const shapes = known?.shapes.slice(0, from) ?? [];
  let parts = levels.at(-1)?.parts ?? firstParts(set, count);
  const shapeFor = (n: number, first?: FirstLevel): Shape => {
    const index = levels.length;
    const before = index === from ? known?.shapes[index] : undefined;
    return before !== undefined && before.n === n ? before : shapeOf(parts, n, first);
  };
  for (const choice of state.ordinary.slice(from)) {
    const n = lengthFor(parts, choice);
    if (rowCount(parts, n) > 30) return undefined;
    const index = levels.length;
    const longest = Math.max(...parts.map(lengthOf));
    const first = index === 0 ? firstLevel(set, count, Math.ceil(longest / n)) : undefined;
    const shape = shapeFor(n, first);
    const before = levels.at(-1);
    const level = ordinaryLevel(shape, choice, before?.outSq ?? 0, first, before?.room);
    if (level === undefined) return undefined;
    const old = index === from ? known?.levels[index] : undefined;
    if (old && costOf(level, index, count) > costOf(old, index, count) + TOO_DEAR) return undefined;
    levels.push(level);
    shapes.push(shape);
    parts = level.parts;
  }
  const n = lengthFor(parts, state.tail);
  if (rowCount(parts, n) > 16) return undefined;
  const { outSq, room } = levels.at(-1)!;
  const shape = shapeFor(n);
  const tail = tailLevel(shape, state.tail.cut, outSq, room, { count, levels: levels.length });
  if (tail === undefined) return undefined;
  levels.push(tail);
  shapes.push(shape);
  const bits = levels.reduce((sum, level) => sum + level.bits, 0);
  const cost = levels.reduce((sum, level, index) => sum + costOf(level, index, count), 0);
  return { bits, cost, levels, shapes, state };
}

/** How many kinds of changes of a level there are. */
const CHANGES = 12;

/** A cut one step longer or shorter: none, or 4 to 15 bits. */
function nextCut(cut: number, sign: number): number {
  const next = cut === 0 ? 6 : cut + sign;
  return next < 4 || next > 15 ? 0 : next;
}

function changed(choice: Choice, parts: readonly Part[], n: number, random: () => number): Choice {
  const sign = random() < 0.5 ? -1 : 1;
  const { f, b, bu, fg, bg, cut, w, ct, pieces, ofLast } = choice;
  switch (Math.floor(random() * CHANGES)) {
    case 0:
    case 1:
      return { ...choice, pieces: Math.max(1, pieces + sign) };
    case 2:
      return { ...choice, ...cuttingOf(parts, n, !ofLast) };
    case 3: {
      const next = Math.min(3, Math.max(1, f + sign));
      const bits = Math.round((b * f) / next);
      const top = Math.max(1, Math.round((fg * bg) / bits));
      return { ...choice, f: next, b: bits, bg: bits, fg: top };
    }
    case 4:
      return { ...choice, b: b + sign };
    case 5: {
      const digits = Math.ceil(LOG2_Q / bu) + sign;
      return { ...choice, bu: Math.ceil(LOG2_Q / Math.max(3, digits)) };
    }
    case 6:
      return { ...choice, fg: fg + sign };
    case 7:
      return { ...choice, bg: bg + sign };
    case 8:
      return { ...choice, cut: nextCut(cut, sign) };
    case 9: {
      const next = w === 0 ? 2 : w + sign;
      return { ...choice, w: next < 2 || next > 6 ? 0 : next };
    }
    case 10:
      return { ...choice, ct: nextCut(ct, sign) };
    default: {
      // fewer digits of t: as many bits less as the top digit has
      const top = LOG2_Q - ct - bu * (digitsOfT(bu, ct) - 1);
      const next = sign > 0 ? Math.max(4, ct + top) : ct - bu;
      return { ...choice, ct: next < 4 || next > 15 ? 0 : next };
    }
  }
}

/** Another state near this one, and the first level that differs. */
function neighbour({ levels, state }: Found, first: readonly Part[], random: () => number) {
  const ordinary = [...state.ordinary];
  let { tail } = state;
  let from = ordinary.length;
  const partsOf = (index: number): readonly Part[] =>
    index === 0 ? first : levels[index - 1]!.parts;
  const kind = random();
  if (kind < 0.03 && ordinary.length > 2) {
    from = Math.floor(random() * ordinary.length);
    ordinary.splice(from, 1);
  } else if (kind < 0.06 && ordinary.length < MOST_ORDINARY) {
    from = 1 + Math.floor(random() * ordinary.length);
    ordinary.splice(from, 0, { ...ordinary[Math.min(from, ordinary.length - 1)]! });
  } else {
    const at = Math.floor(random() * (ordinary.length + 1));
    const times = 1 + Math.floor(random() * 3);
    for (let i = 0; i < times; i++) {
      const index = Math.min(ordinary.length, at + (random() < 0.6 ? 0 : 1));
      from = Math.min(from, index);
      if (index < ordinary.length) {
        const n = levels[index]!.n;
        ordinary[index] = changed(ordinary[index]!, partsOf(index), n, random);
      } else {
        const parts = partsOf(index);
        const n = levels[index]!.n;
        const sign = random() < 0.5 ? -1 : 1;
        const move = random();
        if (move < 0.4) tail = { ...tail, cut: tail.cut + sign };
        else if (move < 0.8) tail = { ...tail, pieces: Math.max(1, tail.pieces + sign) };
        else tail = { ...tail, ...cuttingOf(parts, n, !tail.ofLast) };
      }
    }
  }
  return { state: { ordinary, tail }, from };
}

/**
 * What the model says of a row: bytes of a section, and what they and its time are worth together.
 */
export function measured(row: TableRow): { bytes: number; cost: number } {
  const chain = chainOf(row[0], row[1], stateOf(row));
  if (chain === undefined) throw new Error(`no chain with the choices of ${row[0]}:${row[1]}`);
  return { bytes: Math.round(chain.bits / 8), cost: chain.cost / 8 };
}

/**
 * Levels before the tail. A seventh level of a long row would save a kilobyte, and make the
 * extractor of docs/soundness.md 3 to 5 times dearer: r + 1 times.
 */
const MOST_ORDINARY = 5;

/** bits by which a worse chain is taken at first, by turns, and in the end */
const HOT = [800, 4000, 1800];
const COLD = 60;

function anneal(set: 512 | 1024, count: number, start: Found, steps: number, seed: number): Found {
  const first = firstParts(set, count);
  const random = generator(Math.imul(seed, 0x9e3779b1));
  const hot = HOT[seed % HOT.length]!;
  let now = start;
  let best = start;
  for (let step = 0; step < steps; step++) {
    const heat = hot * (COLD / hot) ** (step / steps);
    const { state, from } = neighbour(now, first, random);
    const next = chainOf(set, count, state, now, from);
    if (next === undefined) continue;
    if (next.cost < now.cost || random() < Math.exp((now.cost - next.cost) / heat)) now = next;
    if (now.cost < best.cost) best = now;
  }
  return best;
}

/** A state as it is, and with messages hidden at its first levels. */
const hidden = (state: State): State[] =>
  [0, 2, 3, 4].map((levels) => {
    const ordinary = state.ordinary.map((choice, i) => (i < levels ? { ...choice, w: 2 } : choice));
    return { ...state, ordinary };
  });

/**
 * The cheapest chain that is found from the choices of some rows.
 *
 * @param steps of each of `runs` anneals; every anneal starts from the best so far or from the next
 * best start
 */
export function refine(
  set: 512 | 1024,
  count: number,
  rows: readonly TableRow[],
  options: { steps: number; runs: number; seed: number },
): Chain | undefined {
  const { steps, runs, seed } = options;
  const starts = rows
    .map(stateOf)
    .flatMap(hidden)
    .map((state) => chainOf(set, count, state))
    .filter((found) => found !== undefined)
    .sort((a, b) => a.cost - b.cost);
  let best = starts[0];
  if (best === undefined) return undefined;
  for (let run = 0; run < runs; run++) {
    const start = run % 2 === 1 ? (starts[(run + 1) / 2] ?? best) : best;
    const found = anneal(set, count, start, steps, seed + run);
    if (found.cost < best.cost) best = found;
  }
  return best;
}
