/**
 * F of both lifts at every place of x (docs/protocol.md, 8.5), from the definition alone: that of
 * the library's verifier and of both references is the same, and would be another one if any single
 * equation were left out of either lift. No attack shows an equation that is asked in one lift only
 * and passes with 2^-88.
 */
import { expect, test } from 'vitest';
import { type Parameters, readRow, type TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { SHORT, STREAM, Transcript } from '../../../src/aggregate/proof/transcript.ts';
import { planFolds, runFold } from '../../../src/aggregate/proof/verifier/folds.ts';
import { openSeeds } from '../../../src/aggregate/proof/verifier/openSeeds.ts';
import { parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { reduceLevel, reduceRows } from '../../../src/aggregate/proof/verifier/reduceLevel.ts';
import { reduceLevelZero } from '../../../src/aggregate/proof/verifier/reduceLevelZero.ts';
import { replay, type SectionSeeds } from '../../../src/aggregate/proof/verifier/replay.ts';
import { Labrador } from '../../../src/aggregate/wasm.ts';
import { HIDDEN_TWICE } from '../../reference/hiddenRows.ts';
import { keyRow } from '../../reference/prover/challenges.ts';
import { multiplyZ } from '../../reference/prover/ring.ts';
import { formsOnX, scalarsOf, weightsAtX } from '../../reference/verifier/behind.ts';
import { ALL_CHECKS } from '../../reference/verifier/checks.ts';
import { combineForms, projectionForms } from '../../reference/verifier/lifts.ts';
import { constant, mod } from '../../reference/verifier/ring.ts';
import { shapesOf } from '../../reference/verifier/shapes.ts';
import { type Forged, forged, Seen } from '../adversary/attack.ts';
import { LONG } from '../adversary/hidden.ts';
import {
  BLOCKS,
  chachaStream,
  projectionRow,
  ROWS,
  scalars as scalarsIn,
  turned,
} from '../labrador/chacha.ts';
import { add, type Poly, sigma, zero } from '../labrador/plain.ts';
import { finished } from '../proof/sections.ts';
import { polysOf } from './observed.ts';

/** A place of x: where it stands, in which message, and what it is there. */
interface Place {
  readonly row: number;
  readonly column: number;
  /** POLY */
  readonly number: number;
  readonly message: number;
  /** its column of M */
  readonly col: number;
  /** the digit and the lift of a message of lifts */
  readonly digit: number;
  readonly lift: number | undefined;
}

type Pair = readonly [bigint, bigint];
/** One for each equation: (P), (P_x), then (Q) by message, row and j, then (T_b). */
type Scalars = readonly Pair[];

interface Level {
  readonly number: number;
  readonly k: number;
  readonly w: number;
  readonly places: readonly Place[];
  readonly messages: number;
  readonly lifts: number;
}

/** The places of x and what they are, by sections 3, 6.4 and 8.3. */
function levelOf(row: TableRow, number: number): Level {
  const [, , levels] = row;
  const [n, f, , , , , , , kappa1, cut] = levels[number - 1]! as number[];
  const [w, k] = levels[number - 1]!.slice(13) as [number, number];
  const own = levels[number]![0] as number;
  // z_0, ..., z_(f-1) are before v
  const first = f! * Math.ceil(n! / own);
  const lifts = number === 1 ? 3 : 2;
  const outer = [kappa1!, 44 - cut!] as const;
  const messages = [...(number === 1 ? [outer] : []), outer, [lifts, 44] as const, outer];
  const places: Place[] = [];
  for (const [message, [polynomials, bits]] of messages.entries()) {
    const isLifts = message === messages.length - 2;
    for (let col = 0; col < polynomials * Math.ceil(bits / w); col++) {
      const at = places.length;
      const [line, column] = [first + Math.floor(at / own), at % own];
      places.push({
        row: line,
        column,
        number: line * own + column,
        message,
        col,
        digit: Math.floor(col / polynomials),
        lift: isLifts ? col % polynomials : undefined,
      });
    }
  }
  return { number, k, w, places, messages: messages.length, lifts };
}

/** Stream 4 of a lift. */
function drawn({ number, k, messages, lifts }: Level, seed: Uint8Array, lift: number): Scalars {
  const count = 2 * ROWS + 8 * k * messages + lifts;
  const nonce = [4 + 256 * number + 65_536 * lift, 0, 0];
  const stream = chachaStream(seed, nonce, 0, 12 * messages + 60);
  const words = scalarsIn(stream, 2 * count);
  return Array.from({ length: count }, (_, i): Pair => [words[2 * i]!, words[2 * i + 1]!]);
}

/** (a + b X^32) times a polynomial. */
const timesPair = ([a, b]: Pair, poly: Poly): Poly =>
  add(
    poly.map((x) => a * x),
    turned(poly).map((x) => b * x),
  );

/** X^(-4 j) times a polynomial. */
function back(poly: Poly, j: number): Poly {
  return poly.map((_, i) => (i + 4 * j < 64 ? poly[i + 4 * j]! : -poly[i + 4 * j - 64]!));
}

const isZero = (pairs: Scalars): boolean => pairs.every(([a, b]) => a === 0n && b === 0n);
const reduced = (poly: readonly bigint[]): Poly => poly.map((x) => mod(x));

const drawnBits = new Map<string, Uint8Array>();

/** The bits of the projection of a polynomial, drawn once. */
function bitsAt(jl: Uint8Array, level: number, polynomial: number): Uint8Array {
  const name = `${level} ${polynomial} ${jl}`;
  const bits =
    drawnBits.get(name) ?? chachaStream(jl, [2 + 256 * level, 0, 0], BLOCKS * polynomial, BLOCKS);
  drawnBits.set(name, bits);
  return bits;
}

/** F at a place of x, by the sum of 8.5. */
function formAt(level: Level, jl: Uint8Array, place: Place, all: Scalars): Poly {
  const { number, k, w, messages } = level;
  let form = zero();
  for (let j = 0; j < ROWS; j++) {
    const [p, x] = [all[j]!, all[ROWS + j]!];
    const both: Pair = [p[0] + x[0], p[1] + x[1]];
    if (isZero([both])) continue;
    form = add(form, timesPair(both, sigma(projectionRow(bitsAt(jl, number, place.number), j))));
  }
  const ofQ = all.slice(2 * ROWS + 8 * k * place.message);
  for (let line = 0; line < k; line++) {
    const list = ofQ.slice(8 * line, 8 * line + 8);
    if (isZero(list)) continue;
    const factor = list.map((pair, j) => back(timesPair(pair, zero().with(0, 1n)), j)).reduce(add);
    form = add(form, [...multiplyZ(reduced(factor), keyRow(line, place.col + 1)[place.col]!)]);
  }
  if (place.lift !== undefined) {
    const pair = all[2 * ROWS + 8 * k * messages + place.lift]!;
    const power = zero().with(0, 1n << BigInt(w * place.digit));
    form = add(form, timesPair(pair, power));
  }
  return reduced(form);
}

/** A place of x that an equation reads; its number counts them as scalars are. */
function readBy({ k, places, messages }: Level, equation: number): Place {
  const ofQ = equation - 2 * ROWS;
  if (ofQ < 0) return places[equation % places.length]!;
  const lift = ofQ - 8 * k * messages;
  if (lift >= 0) return places.find((place) => place.lift === lift)!;
  return places.find(({ message }) => message === Math.floor(ofQ / (8 * k)))!;
}

/** An instance of the library's module with c and short challenges that are 0 or 1. */
function withChallenges(isOne: (type: number, kind: number, index: number) => boolean): Labrador {
  const lab = new Labrador();
  let asked: [type: number, kind: number, index: number] = [0, 0, 0];
  const stream = lab.stream.bind(lab);
  const sample = (out: number): number => {
    const values = new Int16Array(lab.kernels.memory.buffer, out, 64).fill(0);
    if (isOne(...asked)) values[0] = 1;
    return 0;
  };
  return Object.assign(lab, {
    kernels: { ...lab.kernels, sampleC: sample, sampleShort: sample },
    stream(keyAt: number, word13: number, word14: number) {
      asked = [word13 & 255, word13 >> 16, word14];
      stream(keyAt, word13, word14);
    },
  });
}

interface Opened {
  readonly proof: Forged;
  readonly parameters: Parameters;
  readonly seeds: SectionSeeds;
}

function opened(proof: Forged): Opened {
  const parameters = readRow(proof.row as TableRow);
  const fields = parseSection(parameters, proof.bytes, 0)!;
  const transcript = new Transcript();
  const { header, statements, rowHash } = proof;
  const seeds = replay(transcript, parameters, statements.length, header, fields, rowHash);
  return { proof, parameters, seeds };
}

/**
 * F of a lift in one row, as the library's verifier has it: what is folded if only c of this row,
 * beta of this lift and the coefficient of E5 are 1. (E5 is nowhere in x.)
 */
function formsOfLibrary(opened: Opened, number: number, lift: number, row: number) {
  const { proof, parameters, seeds } = opened;
  const lab = withChallenges((type, kind, index) =>
    type === STREAM.amortise
      ? index === row
      : type === STREAM.short && kind === SHORT.lift && index === lift,
  );
  const { levels, tail } = parameters;
  const fields = parseSection(parameters, proof.bytes, 0)!;
  const items = proof.statements.map(({ publicKey, message }, i) => ({
    publicKey,
    message,
    salt: proof.salts[i]!,
  }));
  const plan = planFolds(
    { set: 'falcon512', profile: 'round3', parameters, seeds, count: items.length, items },
    1,
  );
  const results = plan.jobs.map((job) => finished(runFold(lab, job)));
  const { rows, items: folded } = plan.assemble(results)!;
  let claim = reduceLevelZero(lab, parameters, folded, fields.levels[0]!, seeds.first)!;
  for (let i = 1; i < number; i++) {
    const own = seeds.ordinary[i - 1]!;
    claim = reduceLevel(lab, levels[i]!, [claim], rows[i - 1]!, fields.levels[i]!, own);
  }
  const shape = levels[number] ?? tail;
  const sent = fields.levels[number] ?? fields.tail;
  return lab.scope(() => {
    const open = openSeeds(lab, seeds.ordinary[number - 1] ?? seeds.tail, number, shape.r);
    const folds = rows[number - 1]!;
    const { folding } = reduceRows(lab, shape, [claim], folds, sent, open, number < levels.length);
    const coefs = lab.coefs(shape.n);
    lab.kernels.vecToCoefs(coefs.at, folding.sum.at, 0, shape.n);
    return polysOf(lab.i64(coefs)).map(reduced);
  });
}

/** The same of the slow verifier, at the places of x. */
function formsOfSlowVerifier(
  row: TableRow,
  level: Level,
  jl: Uint8Array,
  seed: Uint8Array,
  lift: number,
) {
  const before = shapesOf(row).levels[level.number - 1]!;
  const scalars = scalarsOf(seed, level.number, before, ALL_CHECKS)[lift]!;
  const one = [constant(1n)];
  const onX = formsOnX(before, [scalars], one);
  return level.places.map(({ number }, i) => {
    const forms = projectionForms(jl, level.number, number, [weightsAtX(scalars)]);
    return reduced(add([...combineForms(forms, one)], [...onX[i]!]));
  });
}

test('F at every place of x', LONG, () => {
  const seen = new Seen();
  const row = HIDDEN_TWICE as TableRow;
  const open = opened(forged({ row, faults: {} }, {}, seen));
  for (const number of [1, 2]) {
    const level = levelOf(row, number);
    const { lift: seed, jl } = open.seeds.ordinary[number - 1] ?? open.seeds.tail;
    const lines = [...new Set(level.places.map((place) => place.row))];
    expect(lines.length).toBe(number === 1 ? 2 : 1);
    for (const lift of [0, 1]) {
      const scalars = drawn(level, seed, lift);
      const expected = level.places.map((place) => formAt(level, jl, place, scalars));
      const library = new Map(
        lines.map((line) => [line, formsOfLibrary(open, number, lift, line)] as const),
      );
      const inLibrary = level.places.map((place) => library.get(place.row)![place.column]!);
      const F = seen.level(number).F[lift]!;
      const inProver = level.places.map((place) => reduced(F[place.row]![place.column]!));
      const inVerifier = formsOfSlowVerifier(row, level, jl, seed, lift);
      for (const forms of [inLibrary, inProver, inVerifier]) {
        expect(forms.map((form, i) => form.every((x, j) => x === expected[i]![j]))).toEqual(
          expected.map(() => true),
        );
      }
      // with the scalar of one equation zero, F would be less by what this scalar gives
      const none = scalars.map((): Pair => [0n, 0n]);
      const silent = scalars.flatMap((scalar, equation) => {
        const alone = none.with(equation, scalar);
        const less = formAt(level, jl, readBy(level, equation), alone);
        return less.some((x) => x !== 0n) ? [] : [equation];
      });
      expect(silent).toEqual([]);
    }
  }
});
