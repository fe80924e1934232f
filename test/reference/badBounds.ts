/**
 * Wrong proofs of provers that break one bound, or one comparison, and keep to all others: a
 * verifier that leaves out this check accepts them. `verifiers/python/checks.py` shows it.
 */
import { aggregateOf, type Case, list } from './cases.ts';
import { bad, proved, spliced, withNumber } from './changes.ts';
import { headerOf, type SetName, type SignedItem, signedItem } from './items.ts';
import { keyMatrix } from './prover/challenges.ts';
import { frequencies, gaussianField } from './prover/gaussian.ts';
import { quartersOf } from './prover/hidden.ts';
import {
  type MessageName,
  type Ordinary,
  placeOf,
  readParameters,
  type Shape,
  type Tail,
} from './prover/parameters.ts';
import { centred, inner, mod, normSq, type Poly, Q, timesX } from './prover/ring.ts';
import type { Rows } from './prover/steps.ts';
import type { Faults, FaultValues, Place } from './prover/trace.ts';
import { withSmallState } from './states.ts';
import { nearSubset } from './subsets.ts';
import { tableRow } from './table.ts';

/** A projection has 272 numbers; the bound is for 288. */
const [PROJECTED, BOUND] = [272n, 288n];
/** of a challenge c */
const NORM_C = 94n;

const levelsOf = (set: SetName, count: number): readonly (Ordinary | Tail)[] => {
  const { levels, tail } = readParameters(tableRow(set, count));
  return [...levels, tail];
};

/**
 * Longer digits of the same numbers: a carry of `base` where it makes the low digits longer, until
 * their squares have grown by `more`.
 */
function longer(
  low: readonly Poly[],
  high: readonly Poly[],
  base: bigint,
  more: bigint,
): { low: Poly[]; high: Poly[] } {
  let left = more;
  const carries = low.map((poly) =>
    poly.map((x) => {
      if (left <= 0n) return 0n;
      const sign = x < 0n ? 1n : -1n;
      left -= (x + sign * base) ** 2n - x ** 2n;
      return sign;
    }),
  );
  if (left > 0n) throw new RangeError('no digits left to carry from');
  return {
    low: low.map((poly, i) => poly.map((x, c) => x + base * carries[i]![c]!)),
    high: high.map((poly, i) => poly.map((x, c) => x - carries[i]![c]!)),
  };
}

/** The squares of all e_a of a level, about: digits of cut bits are spread evenly. */
function normSqOfE(shape: Ordinary | Tail): number {
  const isTail = 'tE' in shape;
  const bits = isTail ? shape.cut : shape.ct;
  if (bits === 0) return 0;
  return ((isTail ? shape.r - 1 : shape.r) * shape.kappa * 64 * 4 ** bits) / 12;
}

/** Rows of this squared norm, with their e_a, whose z_0 and z_1 stand for the same z. */
function stretched(
  shape: Ordinary | Tail,
  before: Ordinary,
  rows: Rows,
  normSqOfAll: bigint,
): Rows {
  const out = rows.map((row) => [...row]);
  const places = Array.from({ length: before.n }, (_, i) => i);
  const at = (part: number, i: number) => placeOf(shape as Shape, part, i);
  const of = (part: number) => places.map((i) => out[at(part, i).row]![at(part, i).column]!);
  const more = normSqOfAll - normSq(rows.flat()) - BigInt(Math.round(normSqOfE(shape)));
  const { low, high } = longer(of(0), of(1), 1n << BigInt(before.b), more);
  for (const [part, polys] of [low, high].entries()) {
    for (const i of places) out[at(part, i).row]![at(part, i).column] = polys[i]!;
  }
  return out;
}

/** Takes the first projection at this level that is too long, by a 32nd at most. */
const takesTooLong =
  (level: number, of: 'all' | 'x') =>
  (value: FaultValues['taken'], place: Place): FaultValues['taken'] => {
    if (place.level !== level || value.of !== of) return value;
    const bound = BOUND * BigInt(value.bound);
    return { ...value, isTaken: bound < value.normSq && value.normSq < bound + bound / 32n };
  };

/** A witness of this level whose projection is taken although it is too long. */
function longProjection(levels: readonly (Ordinary | Tail)[], level: number): Faults {
  const taken = takesTooLong(level, 'all');
  if (level === 0) return { taken };
  const target = (BigInt(levels[level]!.inSq) * BOUND * 65n) / (PROJECTED * 64n);
  // what such a level hands on may be longer than an honest one's, and still pass one level on
  const ignore = (reason: string, place: Place): boolean =>
    reason === 'norm' && place.level === level && level < levels.length - 1;
  return { taken, ignore, rows: stretchedAt(levels, level, target) };
}

const stretchedAt =
  (levels: readonly (Ordinary | Tail)[], level: number, target: bigint) =>
  (rows: Rows, place: Place): Rows =>
    place.level === level
      ? stretched(levels[level]!, levels[level - 1] as Ordinary, rows, target)
      : rows;

/** A tail whose z and e together are too long, by a little, and its projection is not. */
function longMessage(levels: readonly (Ordinary | Tail)[]): Faults {
  const level = levels.length - 1;
  const target = (BigInt(levels[level]!.outSq) * 65n) / (NORM_C * 64n);
  return {
    rows: stretchedAt(levels, level, target),
    ignore: (reason, place) => reason === 'norm' && place.level === level,
  };
}

/** Longer digits of the lifts of a hidden level, and their projection taken one level on. */
function longX(levels: readonly (Ordinary | Tail)[], level: number): Faults {
  const { w, X, messages } = levels[level] as Ordinary;
  const { polynomials } = messages.find(({ name }) => name === 'b')!;
  return {
    taken: takesTooLong(level + 1, 'x'),
    ignore: (reason, place) => reason === 'norm of x' && place.level === level,
    x: (value, place) => {
      if (place.level !== level || value.message !== 'b') return value;
      const isLow = (_: Poly, i: number) => Math.floor(i / polynomials) % 2 === 0;
      const lows = value.x.filter(isLow);
      const highs = value.x.filter((poly, i) => !isLow(poly, i));
      const { low, high } = longer(lows, highs, 1n << BigInt(w), BigInt(X) / 8n);
      const next = { low: low.values(), high: high.values() };
      const x = value.x.map((poly, i) => next[isLow(poly, i) ? 'low' : 'high'].next().value!);
      return { message: 'b', x };
    },
  };
}

/** What coefficient 0 of key X^c is, for every c. */
const constantTerms = (key: Poly): bigint[] => Array.from(key, (_, c) => timesX(key, c)[0]!);

/**
 * Digits of the same polynomials such that their first number under the keys is small: those that
 * carry are chosen among the first 40 of polynomial 0. @returns the digits, and that number
 */
function steered(
  digits: readonly Poly[],
  step: number,
  bits: number,
  range: { least: number; most: number },
): { digits: Poly[]; value: bigint } {
  const base = 1n << BigInt(bits);
  const key = keyMatrix(1, digits.length)[0]!;
  const [low, high] = [constantTerms(key[0]!), constantTerms(key[step]!)];
  const signs = digits[0]!.map((x) => (x < 0n ? 1n : -1n));
  const moves = signs.slice(0, 40).map((sign, c) => sign * (base * low[c]! - high[c]!));
  const now = mod(inner(key, digits)[0]!, Q);
  const chosen = nearSubset(
    moves.map((x) => Number(mod(x, Q))),
    Number(now),
    range,
    Number(Q),
  );
  const carry = signs.map((sign, c) => (chosen.has(c) ? sign : 0n));
  const made = digits.map((poly, i) => {
    if (i === 0) return poly.map((x, c) => x + base * carry[c]!);
    return i === step ? poly.map((x, c) => x - carry[c]!) : poly;
  });
  return { digits: made, value: centred(inner(key, made)[0]!) };
}

/** Digits of a hidden message whose first number p is below 117, and is sent as p + q. */
function largeP(message: MessageName, field: string, absorbed: string): Faults {
  const level0 = levelsOf('falcon512', 9)[0] as Ordinary;
  const { polynomials } = level0.messages.find(({ name }) => name === message)!;
  let p = 0n;
  const above = (bytes: Uint8Array): Uint8Array => withNumber(bytes, 0, 0, p + Q);
  return {
    x: (value, place) => {
      if (place.level !== 0 || value.message !== message) return value;
      const range = { least: 0, most: 116 };
      const { digits } = steered(value.x, polynomials, level0.w, range);
      p = quartersOf(1, digits)[0]!;
      return { message, x: digits };
    },
    field: (value, { level }) =>
      level === 0 && value.name === field ? { ...value, bytes: above(value.bytes) } : value,
    absorb: (value, { level }) =>
      level === 0 && value.label === absorbed ? { ...value, data: above(value.data) } : value,
  };
}

/** Digits of t whose u_A is such that one u'_A above its range stands for it, with a short e. */
function largeU(level0: Ordinary): Faults {
  const { cut, kappa, bu } = level0;
  const above = ((Q - 1n) >> BigInt(cut)) + 1n;
  const hat = (above << BigInt(cut)) + (1n << BigInt(cut - 1));
  let isFirst = true;
  return {
    vT: (vT, { level }) => {
      const isA = level === 0 && isFirst;
      isFirst = !isFirst;
      if (!isA) return vT;
      const near = Number(hat - Q);
      return steered(vT, kappa, bu, { least: near - 400, most: near + 400 }).digits;
    },
    cutU: (value, { level }) => {
      if (level !== 0 || value.name !== 'uA') return value;
      const first = <T>([poly, ...rest]: readonly (readonly T[])[], x: T): T[][] => {
        return [poly!.with(0, x), ...rest.map((one) => [...one])];
      };
      const u = value.hat[0]![0]! - value.e[0]![0]!;
      return {
        name: value.name,
        sent: first(value.sent, above),
        hat: first(value.hat, hat),
        e: first(value.e, centred(hat - u)),
      };
    },
  };
}

const flipped = (bytes: Uint8Array): Uint8Array => bytes.with(0, bytes[0]! ^ 1);

/** Seals of other values, absorbed as they are sent. */
const wrongSeal = (label: string): Faults => ({
  seal: (value) => (value.label === label ? { label, seal: flipped(value.seal) } : value),
});

/** Proofs of lists of both sets in which the proof of one set is wrong. */
function* wrongSections(): Generator<Case> {
  const items = [
    signedItem('falcon512', 0),
    signedItem('falcon1024', 0),
    signedItem('falcon512', 1),
  ];
  for (const set of ['falcon512', 'falcon1024'] as const) {
    const field: Faults['field'] = (value) =>
      value.name === 'sealT' ? { ...value, bytes: flipped(value.bytes) } : value;
    const bytes = aggregateOf(items, { faults: { field }, faultsOf: set });
    yield bad(`2 + 1 items, mixed: the section of ${set} alone is wrong`, items, bytes);
  }
}

/** Proofs over headers that no verifier may read on from, everything behind them made for them. */
function* wrongHeaders(): Generator<Case> {
  const items = list('falcon512', 1);
  const under = (name: string, reason: 'version' | 'profile', at: number, value: number): Case => {
    const header = headerOf(items).with(at, value);
    return bad(`proof for its header: ${name}`, items, aggregateOf(items, { header }), reason);
  };
  yield under('version 2', 'version', 5, 2);
  yield under('profile 1', 'profile', 46, 1);
  const longer = list('falcon512', 2);
  const header = headerOf(items);
  header.set(headerOf(longer).subarray(6, 38), 6);
  const bytes = aggregateOf(items, { header });
  yield bad('a proof of the first of two items', longer, bytes, 'list');
  yield bad('no items, proof', [], headerOf([]), 'header');
}

/** y of level 0 in other bytes of the coder; y is absorbed as values, so nothing else changes. */
function* wrongStates(): Generator<Case> {
  const items = list('falcon512', 1);
  let y: readonly bigint[] = [];
  const honest = proved(items, (sent) => (y = sent));
  const { at, length } = honest.fields.find(({ name }) => name === 'y')!;
  const { tY } = levelsOf('falcon512', 1)[0]!;
  const field = honest.bytes.subarray(at, at + length);
  const others = {
    'a state below 2^32, right otherwise': withSmallState(field, frequencies(tY % 8)),
    'the states end one higher': gaussianField([{ values: y, t: tY }], 2n ** 32n + 1n),
  };
  for (const [name, other] of Object.entries(others)) {
    const bytes = spliced(honest.bytes, at, length, ...other);
    yield bad(`level 0 y: ${name}`, items, bytes, 'bytes');
  }
}

export function* badBounds(): Generator<Case> {
  const by = (name: string, items: readonly SignedItem[], faults: Faults): Case =>
    bad(`prover: ${name}`, items, aggregateOf(items, { faults }));
  const [one, two] = [list('falcon512', 1), list('falcon512', 2)];
  const [five, nine] = [list('falcon1024', 5), list('falcon512', 9)];
  const [ofOne, ofFive] = [levelsOf('falcon512', 1), levelsOf('falcon1024', 5)];
  const ofNine = levelsOf('falcon512', 9);
  yield by('the projection of level 0 is too long', one, longProjection(ofOne, 0));
  yield by('the projection of an ordinary level is too long', five, longProjection(ofFive, 1));
  yield by('the projection behind a hidden level is too long', nine, longProjection(ofNine, 1));
  yield by('the projection of the tail is too long', one, longProjection(ofOne, 1));
  yield by('the projection of x at level 2 is too long', nine, longX(ofNine, 1));
  yield by('z and e are too long', one, longMessage(ofOne));
  yield by('the seal of t is wrong', one, wrongSeal('t'));
  yield by('the seal of h is wrong', one, wrongSeal('h'));
  yield by("u'_A is above its range", two, largeU(levelsOf('falcon512', 2)[0] as Ordinary));
  yield by('p_A has a number not below q', nine, largeP('A', 'pA', 'uA'));
  yield by('p_b has a number not below q', nine, largeP('b', 'pb', 'b'));
  yield* wrongStates();
  yield* wrongSections();
  yield* wrongHeaders();
}
