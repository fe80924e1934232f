/**
 * Level 0 (docs/protocol.md, 7): the constraints of the relation as one, folded over the rows, in one pass over the places. S and Y have
 * their places at the same columns: eta is expanded once for both.
 */

import type { Parameters } from '../parameters/rows.ts';
import type { Labrador, Vecs } from '../wasm.ts';
import {
  FORM,
  formsOf,
  prepareOmega,
  prepareTheta,
  Seed,
  sampleAlphas,
  samplePsi,
} from './challenges.ts';
import { Functionals, partsBytes } from './functionals.ts';
import { STREAM } from './labels.ts';
import type { ParsedOrdinary } from './parse.ts';
import type { Claim, QuadraticTerm } from './reduceConstraints.ts';
import {
  addProduct,
  clearRest,
  constantForm,
  Folding,
  formAt,
  rowsOf,
  zeroForm,
} from './reduceFold.ts';
import { claimOf, type OpenSeeds, openChallenges, openSeeds } from './reduceLevel.ts';
import { addLifts, padPlaces, weighted } from './reduceLifts.ts';
import { BETA_SQ, FUNCTIONALS, firstRows, LIFTS, P, PROJECTIONS, pairIndex, Q } from './shapes.ts';
import type { FirstSeeds } from './verifyReplay.ts';

/** What is proved about an item: the key and the point, coefficients in [0, p). */
export interface Item {
  readonly h: Uint16Array;
  readonly c: Uint16Array;
}

/** Columns that are worked on at a time, a multiple of 32. */
const RUN = 64;
/** Parts of the witness. */
const [S, W, Y] = [0, 1, 2] as const;

/** w_i = W_{i,0} + 2^13 W_{i,1}. */
const NORM_DIGIT_BITS = 13n;

/** @returns undefined if a functional is out of its range (7.3) */
export function reduceLevelZero(
  lab: Labrador,
  parameters: Parameters,
  items: readonly Item[],
  fields: ParsedOrdinary,
  seeds: FirstSeeds,
): Claim | undefined {
  const level = parameters.levels[0]!;
  return lab.scope(() => {
    const open = openSeeds(lab, seeds, 0);
    const folding = new Folding(lab, openChallenges(lab, seeds, open, 0, level.r), level.n);
    const alphas = sampleAlphas(lab, new Seed(lab, seeds.alpha, 0), items.length);
    const alphaForms = formsOf(lab, alphas);
    const places = new FirstPlaces(lab, parameters, items, new Seed(lab, seeds.rho, 0));

    const omega = prepareOmega(lab, open.lift);
    const theta = prepareTheta(lab, open.lift);
    for (let row = 0; row < level.rows[S]!; row++) {
      places.foldRow(folding, open, fields.counter, alphaForms.at, row);
    }
    foldNorms(folding, parameters, items.length, open, alphaForms.at);
    foldFirstPadding(folding, parameters, items.length, open);

    const values = places.functionals(fields.w);
    if (values === undefined) return undefined;
    const b = zeroForm(lab);
    const constants = Array.from(
      { length: LIFTS },
      (_, k) =>
        weighted(lab, omega + 8 * PROJECTIONS * k, fields.y) +
        weighted(lab, theta + 8 * FUNCTIONALS * k, values),
    );
    addLifts(lab, b, folding.beta, fields.b, constants);
    const betaSq = BigInt(BETA_SQ[parameters.set]);
    const norms = sumOf(lab.i16(alphas)).map((x) => x * betaSq);
    addProduct(lab, b, constantForm(lab, 1n), norms);
    return claimOf(lab, 0, level, fields, { folding, quadratic: quadraticOf(parameters), b });
  });
}

/** The sum of polynomials, at most 2^20 of them. */
function sumOf(polynomials: Int16Array): BigInt64Array {
  const sum = new Int32Array(64);
  for (let i = 0; i < polynomials.length; i++) sum[i % 64]! += polynomials[i]!;
  return BigInt64Array.from(sum, BigInt);
}

/** N1: the rows of S against the rows of Y. */
function quadraticOf({ levels }: Parameters): QuadraticTerm[] {
  const level = levels[0]!;
  const first = firstRows(level);
  const factor = new BigInt64Array(64);
  factor[0] = 1n;
  return Array.from({ length: level.rows[S]! }, (_, a) => ({
    pair: pairIndex(level.r, a, first[Y]! + a),
    factor,
  }));
}

/** The places of S and Y. Lives as long as the scope in which it is made. */
class FirstPlaces {
  readonly #lab: Labrador;
  readonly #parameters: Parameters;
  readonly #items: readonly Item[];
  readonly #functionals: Functionals;
  /** parts of the functionals of one item */
  readonly #rho: number;
  #item = -1;
  /** F of the three lifts at S, then at Y */
  readonly #staging: Vecs;

  constructor(lab: Labrador, parameters: Parameters, items: readonly Item[], rho: Seed) {
    this.#lab = lab;
    this.#parameters = parameters;
    this.#items = items;
    this.#functionals = new Functionals(lab, rho, parameters.set);
    this.#rho = lab.room(FUNCTIONALS * partsBytes(parameters.set));
    this.#staging = lab.vecs(2 * LIFTS, RUN);
  }

  /** p w_j + C_j once all rows are folded. @returns undefined if one is out of range */
  functionals(w: Int32Array): bigint[] | undefined {
    const values = this.#functionals
      .sums()
      .map((sum, j) => BigInt(P) * BigInt(w[j]!) + BigInt(sum));
    return values.every((x) => x <= Q / 2n && x >= -(Q / 2n)) ? values : undefined;
  }

  /** A row of S, and the row of Y beside it. */
  foldRow(folding: Folding, seeds: OpenSeeds, counter: number, alphas: number, row: number): void {
    const lab = this.#lab;
    const { width } = this.#parameters;
    const { n } = this.#parameters.levels[0]!;
    const first = row * n;
    const used = Math.min(n, width * this.#items.length - first);
    const rowOfY = firstRows(this.#parameters.levels[0]!)[Y]! + row;
    lab.scope(() => {
      const coefficients = [...folding.lifted(row), ...folding.lifted(rowOfY)];
      const vectors = rowsOf(lab, this.#staging);
      this.#startLifts(seeds, counter, vectors);
      for (let from = 0; from < used; from += RUN) {
        const count = Math.min(RUN, used - from);
        clearRest(lab, this.#staging, count);
        for (let column = 0; column < count; ) {
          const item = Math.floor((first + from + column) / width);
          const t = first + from + column - width * item;
          const here = Math.min(width - t, count - column);
          this.#prepareItem(item);
          const alpha = alphas + FORM * item;
          lab.kernels.liftRun(column, first + from + column, t, here, this.#rho, alpha);
          column += here;
        }
        folding.addVectors(vectors, coefficients, from, count);
      }
    });
  }

  /** Tells the module what stays the same over a row. */
  #startLifts({ jl, lift }: OpenSeeds, counter: number, vectors: readonly number[]): void {
    const { kernels } = this.#lab;
    const { width, set } = this.#parameters;
    new Uint32Array(kernels.memory.buffer, kernels.LIFT.value, 12).set([
      ...jl.nonce(STREAM.projection, 0, counter),
      lift.at,
      ...vectors,
      partsBytes(set),
      width - 1,
    ]);
  }

  /** Places come in order, so that every item comes once. */
  #prepareItem(item: number): void {
    if (item === this.#item) return;
    this.#item = item;
    const { h, c } = this.#items[item]!;
    const centred = new Int16Array(c.length);
    for (let i = 0; i < c.length; i++) centred[i] = c[i]! > P >> 1 ? c[i]! - P : c[i]!;
    // the sums become those of <rho_i, c_i>
    this.#functionals.write(item, h, this.#rho, centred);
  }
}

/** W: psi of the lifts, and alpha of the norms. */
function foldNorms(
  folding: Folding,
  { levels, bucket }: Parameters,
  count: number,
  { lift }: OpenSeeds,
  alphas: number,
): void {
  const { lab, beta } = folding;
  const { kernels } = lab;
  const { n } = levels[0]!;
  const firstRow = firstRows(levels[0]!)[W]!;
  lab.scope(() => {
    const psi = lab.coefs(1);
    lab.i64(psi).fill(0n);
    const [sum, form] = [lab.room(FORM), lab.room(FORM)];
    const shift = constantForm(lab, 1n << NORM_DIGIT_BITS);
    const negative = constantForm(lab, -1n);
    for (let i = 0; i < count; i++) {
      kernels.mulForm(sum, alphas + FORM * i, negative);
      for (let k = 0; k < LIFTS; k++) {
        samplePsi(lab, lift, k, i, psi.at);
        kernels.coefsToForm(form, psi.at);
        kernels.mulForm(form, form, formAt(beta, k));
        kernels.addForm(sum, sum, form);
      }
      folding.add(firstRow + Math.floor(i / n), i % n, sum);
      kernels.mulForm(sum, sum, shift);
      const place = bucket + i;
      folding.add(firstRow + Math.floor(place / n), place % n, sum);
    }
  });
}

/** The ends of the rows, and the places of items that are not there. */
function foldFirstPadding(
  folding: Folding,
  { levels, bucket, width }: Parameters,
  count: number,
  { combine }: OpenSeeds,
): void {
  const level = levels[0]!;
  const { n, rows } = level;
  const first = firstRows(level);
  const pad = (part: number, from: number, to: number): void =>
    padPlaces(folding, combine, n, first[part]!, from, to);
  pad(S, width * count, rows[S]! * n);
  pad(W, count, bucket);
  pad(W, bucket + count, rows[W]! * n);
  pad(Y, width * count, rows[Y]! * n);
}
