/**
 * Wrong proofs of nine items of Falcon-512, by the smallest row with hidden levels and cut inner
 * commitments. Its levels 0 and 1 are hidden, 2 is open; 1 and 2 cut their inner commitments.
 */
import { aggregateOf, type Case, list } from './cases.ts';
import {
  bad,
  both,
  type Field,
  flippedBitsOf,
  type Proved,
  proved,
  spliced,
  withNumber,
} from './changes.ts';
import { type MessageName, type Ordinary, readParameters } from './prover/parameters.ts';
import { mod, type Poly, Q, ZERO } from './prover/ring.ts';
import type { Faults, Place } from './prover/trace.ts';
import { tableRow } from './table.ts';

const BATCH = '9 items, ';
const items = () => list('falcon512', 9);
/** What a proof has of a hidden level, and of the level behind one. */
const HIDDEN_FIELDS = ['pA', 'pB', 'p1', 'pb', 'b32', 'p2', 'yx', 'UVx'];

function field({ fields }: Proved, level: number, name: string): Field {
  const found = fields.find((one) => one.level === level && one.name === name);
  if (found === undefined) throw new Error(`level ${level} has no ${name}`);
  return found;
}

/** Numbers at q and above, and one at q - 1, which is none too large. */
function* largeNumbers(honest: Proved): Generator<Case> {
  const numbers = [
    ['q as the first number of p_A', 0, 'pA', 0, Q],
    ['q as the last number of p_B', 0, 'pB', -1, Q],
    ['2^44 - 1 as the last number of p_1', 1, 'p1', -1, 2n ** 44n - 1n],
    ['q as the first number of p_b', 1, 'pb', 0, Q],
    ['q as a middle number of p_2', 1, 'p2', 48, Q],
    ['q as the first number of b_32', 0, 'b32', 0, Q],
    ['q as the last number of b_32', 0, 'b32', -1, Q],
    ['q - 1 as the last number of p_2', 0, 'p2', -1, Q - 1n],
    ['q - 1 as the last number of b_32', 0, 'b32', -1, Q - 1n],
  ] as const;
  for (const [what, level, name, index, value] of numbers) {
    const { at, length } = field(honest, level, name);
    const count = Math.floor((8 * length) / 44);
    const bytes = withNumber(honest.bytes, at, (index + count) % count, value);
    yield bad(`${BATCH}level ${level}: ${what}`, honest.items, bytes);
  }
}

/** Fields that are too short or too long, or in no code. */
function* misshapenFields(honest: Proved): Generator<Case> {
  const edit = (
    what: string,
    [level, name]: readonly [number, string],
    change: (place: Field) => readonly [at: number, remove: number, ...put: number[]],
  ): Case => {
    const [at, remove, ...put] = change(field(honest, level, name));
    const bytes = spliced(honest.bytes, at, remove, ...put);
    return bad(`${BATCH}level ${level}: ${what}`, honest.items, bytes);
  };
  const last = ({ at, length }: Field): number => at + length - 1;
  yield edit('a bit behind b_32 is set', [0, 'b32'], (place) => {
    return [last(place), 1, honest.bytes[last(place)]! | 16];
  });
  yield edit('a state of y_x below 2^32', [1, 'yx'], ({ at }) => [at, 2, 0, 0]);
  yield edit('the other state of y_x below 2^32', [2, 'yx'], ({ at }) => [at + 6, 2, 0, 0]);
  yield edit('y_x without its last byte', [1, 'yx'], (place) => [last(place), 1]);
  yield edit('y_x without the second half', [2, 'yx'], ({ at, length }) => {
    return [at + (length >> 1), length - (length >> 1)];
  });
  yield edit('a byte of p_A is missing', [0, 'pA'], (place) => [last(place), 1]);
  yield edit('a byte too many behind p_1', [1, 'p1'], (place) => [last(place) + 1, 0, 0]);
  yield edit('no b_32', [0, 'b32'], ({ at, length }) => [at, length]);
  yield edit('no p_2', [1, 'p2'], ({ at, length }) => [at, length]);
  yield edit('no y_x, U_x, V_x', [1, 'yx'], ({ at, length }) => [at, length + 8]);
  yield edit('U_x, V_x twice', [2, 'UVx'], ({ at, length }) => {
    return [at, 0, ...honest.bytes.slice(at, at + length)];
  });
  const { bytes } = honest;
  yield bad(`${BATCH}the last byte missing`, honest.items, bytes.slice(0, -1));
  yield bad(`${BATCH}a byte after the end`, honest.items, Uint8Array.of(...bytes, 0));
}

/** One more in one coefficient of the first polynomial. */
const oneMore = ([first, ...rest]: readonly Poly[], coefficient: number): Poly[] => [
  first!.with(coefficient, first![coefficient]! + 1n),
  ...rest,
];

/** A change at one level alone. */
const at =
  <T>(level: number, change: (value: T) => T) =>
  (value: T, place: Place): T =>
    place.level === level ? change(value) : value;

/** A change of what belongs to one message. */
const of =
  <T extends { readonly message: MessageName }>(message: MessageName, change: (value: T) => T) =>
  (value: T): T =>
    value.message === message ? change(value) : value;

/** Another digit of a message; p follows from it. */
const anotherX = (level: number, message: MessageName, coefficient: number): Faults => ({
  x: at(
    level,
    of(message, ({ x }) => ({ message, x: oneMore(x, coefficient) })),
  ),
});

/** Digits of the same lifts that are not balanced, so that x is too long. */
function longDigits({ w, messages }: Ordinary): Faults {
  const { polynomials } = messages.find(({ name }) => name === 'b')!;
  const carried = (x: readonly Poly[]): Poly[] =>
    x.map((poly, i) => {
      const more = Math.floor(i / polynomials) % 2 === 0 ? 1n << BigInt(w) : -1n;
      return poly.map((digit) => digit + more);
    });
  return {
    x: at(
      0,
      of('b', ({ message, x }) => ({ message, x: carried(x) })),
    ),
    ignore: (reason) => reason === 'norm of x' || reason === 'projection of x',
  };
}

/**
 * Provers that cheat in what is hidden or cut, and go on as an honest one would. Each breaks one
 * rule: a verifier that leaves it out accepts what a prover makes that leaves it out, too.
 */
function* cheatingProvers(): Generator<Case> {
  const own = items();
  const by = (name: string, faults: Faults): Case =>
    bad(`${BATCH}${name}`, own, aggregateOf(own, { faults }));
  const zero = readParameters(tableRow('falcon512', own.length)).levels[0]!;
  yield by('level 0: another x_A', anotherX(0, 'A', 0));
  // neither coefficient 0 nor 32, which (T_b) reads
  yield by('level 0: another x_b', anotherX(0, 'b', 5));
  yield by('level 1: another x_2', anotherX(1, '2', 63));
  yield by('level 0: x is too long', longDigits(zero));
  let pA: readonly bigint[] = [];
  yield by('level 0: p_B is that of A', {
    p: at(0, ({ message, p }) => {
      if (message === 'A') pA = p;
      return { message, p: message === 'B' ? pA : p };
    }),
  });
  yield by('level 0: b_32 + 1', { b32: at(0, (b32) => b32.with(1, mod(b32[1]! + 1n, Q))) });
  const fill = (bytes: Uint8Array): Uint8Array => bytes.with(-1, bytes.at(-1)! | 128);
  const [sent, absorbed] = [both('b32', fill, 0), both('b', fill, 0)];
  yield by('level 0: the last bit behind b_32 is set', { ...absorbed, field: sent.field! });
  yield by('level 1: another y_x', {
    yX: at(1, ({ y, star }) => ({ y: y.with(7, y[7]! + 1n), star })),
  });
  yield by('level 2: another U_x', {
    yX: at(2, ({ y, star }) => ({ y: y.with(-1, y.at(-1)! + 2n), star })),
  });
  yield by('level 1: e of the inner commitments is zero', {
    e: at(1, (rows) => rows.map((list) => list.map(() => ZERO))),
  });
  yield by("level 2: another t'", {
    tCut: at(2, (rows) => rows.with(0, oneMore(rows[0]!, 0))),
  });
}

export function* badHidden(): Generator<Case> {
  const honest = proved(items());
  for (const one of honest.fields) {
    if (HIDDEN_FIELDS.includes(one.name)) yield* flippedBitsOf(honest, one, BATCH);
  }
  yield* largeNumbers(honest);
  yield* misshapenFields(honest);
  yield* cheatingProvers();
}
