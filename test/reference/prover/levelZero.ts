/** Section 7 of docs/protocol.md: the level whose rows hold the signatures. */
import { alpha, eta, psi, rho, tau, thetas } from './challenges.ts';
import type { Base, Output } from './combine.ts';
import type { Context } from './context.ts';
import { commitRows, finishLevel, outerBlock, type Started } from './level.ts';
import { type ExtraForm, placeKey } from './lift.ts';
import { type Levels, type Ordinary, pairIndex, placeOf } from './parameters.ts';
import {
  add,
  BETA_SQ,
  constant,
  FALCON_Q,
  multiply,
  multiplyZ,
  type Poly,
  reduce,
  scale,
  sigma,
  ZERO,
} from './ring.ts';
import { type Cut, cutIntoRows, digitMajor, garbageOf, project } from './steps.ts';
import type { Constraint, Witness0 } from './trace.ts';
import { type Decoded, dot, functionalOnS2, strideParts, witnessOf } from './witness.ts';

const FUNCTIONALS = 10;
const W_BASE = 1n << 13n;

/** One functional of an item: its coefficients on s1 and s2, and its parts. */
interface Functional {
  readonly onS1: readonly bigint[];
  readonly onS2: readonly bigint[];
  /** by t: rho^(j)[i, t] */
  readonly parts: readonly Poly[];
}

function functionalsOf(seed: Uint8Array, items: readonly Decoded[], n: number): Functional[][] {
  return Array.from({ length: FUNCTIONALS }, (_, j) =>
    items.map(({ h }, i) => {
      const onS1 = rho(seed, 0, j, i, n);
      const onS2 = functionalOnS2(onS1, h);
      return { onS1, onS2, parts: [...strideParts(onS1), ...strideParts(onS2), ZERO] };
    }),
  );
}

/** A part of the whole bucket; missing items are padding. */
function inBucket(bucket: number, items: readonly (readonly Poly[])[]): (Poly | undefined)[] {
  const width = items[0]!.length;
  const out = new Array<Poly | undefined>(bucket * width).fill(undefined);
  for (const [i, list] of items.entries()) {
    for (const [t, poly] of list.entries()) out[width * i + t] = poly;
  }
  return out;
}

/** The parts of level 0 as lists of the bucket. */
interface WitnessParts {
  readonly S: (Poly | undefined)[];
  readonly W: (Poly | undefined)[];
}

function partsOf(bucket: number, { S, W }: Witness0): WitnessParts {
  const norms = new Array<Poly | undefined>(2 * bucket).fill(undefined);
  for (const [i, [low, high]] of W.entries()) {
    norms[i] = low;
    norms[bucket + i] = high;
  }
  return { S: inBucket(bucket, S), W: norms };
}

/** Everything up to u_B: the rows, and the commitments to them. */
function commitLevelZero(
  context: Context,
  { levels, bucket }: Levels,
  witness: Witness0,
  items: readonly Decoded[],
) {
  const params = levels[0]!;
  const { fg, bg, pieces } = params;
  const yRow = firstRowOfY(params);
  const { S, W } = partsOf(bucket, witness);

  // The rows of Y are zero until alpha is known.
  const first = cutIntoRows(params, [S, W, S.map(() => undefined)]);
  const rowsSW = context.use('rows', first.rows.slice(0, yRow));
  const ofSW = commitRows(context, params, rowsSW);
  const blockA = outerBlock(context, 'uA', params, ofSW.vT, pieces.t);

  const alphaSeed = context.transcript.seed('alpha');
  const drawn = items.map((_, i) => alpha(alphaSeed, 0, i));
  const alphas = context.use('alpha', drawn);
  const twisted = witness.S.map((list, i) => list.map((s) => multiplyZ(alphas[i]!, sigma(s))));
  const Y = context.use('Y', twisted);
  const all = cutIntoRows(params, [S, W, inBucket(bucket, Y)]);
  const rowsY = context.use('rowsY', all.rows.slice(yRow));
  const cut = { rows: [...rowsSW, ...rowsY], padding: all.padding } as Cut;
  const ofY = commitRows(context, params, rowsY);
  const g = context.use('g', garbageOf(cut.rows));
  const vG = digitMajor(g, fg, bg);
  const behindA = pieces.t + ofSW.vT.length;
  const blockB = outerBlock(context, 'uB', params, [...ofY.vT, ...vG], behindA);
  const t = [...ofSW.t, ...ofY.t];
  const vT = [...ofSW.vT, ...ofY.vT];
  const e = [...ofSW.e, ...ofY.e];
  const committed = { cut, t, vT, e, extended: cut.rows, g, vG };
  return { ...committed, blocks: [blockA, blockB], alphas, Y };
}

export function proveLevelZero(
  context: Context,
  parameters: Levels,
  items: readonly Decoded[],
): Output {
  const { degree, width } = parameters;
  const params = parameters.levels[0]!;
  const witness = context.use('witness', witnessOf(items, degree));
  const committed = commitLevelZero(context, parameters, witness, items);
  const { alphas, cut } = committed;

  const functionals = functionalsOf(context.transcript.seed('rho'), items, degree);
  const C = functionals.map((list) =>
    list.reduce((sum, { onS1 }, i) => sum + dot(onS1, items[i]!.c), 0n),
  );
  const w = context.use('w', valuesOf(functionals, witness, C));
  const projected = witness.S.flatMap((list, i) =>
    list.map((_, t) => {
      const { row, column } = placeOf(params, 0, width * i + t);
      return { number: width * i + t, poly: cut.rows[row]![column]!, row, column };
    }),
  );
  const projecting = project(context, projected, params, { w });
  return finishLevel(context, {
    params,
    ...committed,
    projected,
    projecting,
    extra: formsOfItems(context, parameters, functionals, alphas),
    base: () => baseOfNorms(context, parameters, alphas),
    w,
    C,
    S: witness.S,
    W: witness.W,
  } as Shown);
}

const firstRowOfY = ({ nu }: Ordinary): number => nu[0]! + nu[1]!;

/** Section 7.6: the forms of F, L and the links. */
function formsOfItems(
  context: Context,
  { levels, bucket, width }: Levels,
  functionals: readonly (readonly Functional[])[],
  alphas: readonly Poly[],
): ExtraForm {
  const weight = (name: Constraint): bigint => (context.omits(name) ? 0n : 1n);
  return (seed, k) => {
    const theta = thetas(seed, 0, k).map((x) => weight('F') * x);
    const out = new Map<string, Poly>();
    const put = (part: number, i: number, poly: Poly): void => {
      const { row, column } = placeOf(levels[0]!, part, i);
      out.set(placeKey(row, column), reduce(poly));
    };
    const ofParts = Array.from({ length: width }, (_, t) =>
      context.omits('tau') ? constant(1n) : tau(seed, 0, t),
    );
    for (const [i, ofAlpha] of alphas.entries()) {
      const ofItem = scale(eta(seed, 0, k, context.omits('eta') ? 0 : i), weight('K'));
      for (const [t, ofPart] of ofParts.entries()) {
        const blind = multiply(ofItem, ofPart);
        let form: Poly = scale(sigma(multiplyZ(blind, ofAlpha)), -1n);
        for (const [j, functional] of functionals.entries()) {
          form = add(form, scale(sigma(functional[i]!.parts[t]!), theta[j]!));
        }
        put(0, width * i + t, form);
        put(2, width * i + t, blind);
      }
      const one = weight('L') * psi(seed, 0, k, i);
      put(1, i, constant(one));
      put(1, bucket + i, constant(W_BASE * one));
    }
    return out;
  };
}

/** Section 7.4: N1. */
function baseOfNorms(
  context: Context,
  { degree, levels, bucket }: Levels,
  alphas: readonly Poly[],
): Base {
  const params = levels[0]!;
  const a = new Map<number, Poly>();
  if (context.omits('N1')) return { a, linear: [], b: ZERO };
  for (let row = 0; row < params.nu[0]!; row++) {
    a.set(pairIndex(params.r, row, row + firstRowOfY(params)), constant(1n));
  }
  const onW = new Array<Poly>(2 * bucket).fill(ZERO);
  let sum = ZERO;
  for (const [i, poly] of alphas.entries()) {
    onW[i] = reduce(scale(poly, -1n));
    onW[bucket + i] = reduce(scale(poly, -W_BASE));
    sum = add(sum, poly);
  }
  return { a, linear: [[], onW, []], b: reduce(scale(sum, BETA_SQ[degree])) };
}

/** Level 0 shows more of itself than other levels. */
type Shown = Started & Record<string, unknown>;

/** w_j of (F). */
function valuesOf(
  functionals: readonly (readonly Functional[])[],
  { S }: Witness0,
  C: readonly bigint[],
): bigint[] {
  return functionals.map((list, j) => {
    let sum = -C[j]!;
    for (const [i, { parts }] of list.entries()) {
      for (const [t, part] of parts.entries()) sum += dot(part, S[i]![t]!);
    }
    // Exact for honest witnesses, rounded for cheating ones.
    return sum / FALCON_Q;
  });
}
