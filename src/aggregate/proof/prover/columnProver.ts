/**
 * A share of the prover's work on a level: all that is done in some of its columns (docs/protocol.md, 6 to 10). Shares know nothing of
 * each other or of the transcript; sums over their columns are added up by whoever has the transcript.
 *
 *   openItems  commitItems  commitTwisted  functionals  project  lift  combine  amortise      level 0
 *   openRows                                            project  lift  combine  amortise      the others
 *
 * Steps return plain data. Long ones are generators: they yield how much of the step is done, where a thread may do something else.
 */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import { bestModule, type Vecs } from '../../wasm.ts';
import {
  COEFS,
  expandKeys,
  FORM,
  Seed,
  SMALL,
  sampleCs,
  vecBytes,
  vecsToFill,
} from '../challenges.ts';
import {
  type Columns,
  filledBy,
  filledWithin,
  type Placed,
  placesOfRows,
  placesWithin,
} from '../columns.ts';
import { foldKey } from '../foldKeys.ts';
import { partsBytes } from '../functionals.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import type { ItemsShape } from '../itemColumns.ts';
import { MATRIX, SHORT } from '../labels.ts';
import { collapse, projected } from '../projection.ts';
import { type Blocks, coefsOf, sumOf, type Values, valuesOf } from '../ring.ts';
import { degreeOf, FUNCTIONALS, firstRows, LIFTS, type Run } from '../shapes.ts';
import { addPadding, combineForms, liftCoefficients } from './combine.ts';
import { ItemRows } from './itemRows.ts';
import { combineItems, liftsOfItems, liftsOfLinks } from './liftsOfItems.ts';
import {
  addLifts,
  amortised,
  coefsOfSums,
  innerCommitments,
  linearGarbage,
  quadraticGarbage,
  rowsOf,
} from './steps.ts';
import { type Decoded, decodeItem, type SectionItem } from './witness.ts';

/** What steps take for sums and the like. */
const SCRATCH_BYTES = 1 << 20;

/** A step in parts: yields how much is done, from 0 to 1. */
export type Step<T> = Generator<number, T>;

interface Opened {
  readonly number: number;
  readonly params: OrdinaryLevel;
  readonly columns: Columns;
  readonly s: Vecs;
  /** what the projection covers */
  readonly places: readonly Placed[];
  readonly items?: ItemRows;
}

export class Share {
  readonly #lab = takeInstance(bestModule(), 'share');
  readonly #start = this.#lab.kernels.mark();
  #opened: Opened | undefined;
  /** the inner key, and where memory was free before it */
  #A: Vecs | undefined;
  #beforeA = 0;
  #F: readonly Vecs[] = [];
  #phi: Vecs | undefined;
  #lift: Seed | undefined;

  /** Most bytes of the module's memory that were in use at a time. */
  get memoryBytes(): number {
    return this.#lab.peakBytes;
  }

  /** Gives the module back, when nothing is to follow. */
  close(): void {
    this.#reset();
    keepInstance(bestModule(), 'share', this.#lab);
  }

  /**
   * Begins level 0.
   *
   * @param items those of `itemsWithin`
   * @returns W_i0, W_i1 of the items that this share owns, in order
   */
  *openItems(input: {
    readonly shape: ItemsShape;
    readonly columns: Columns;
    readonly items: readonly SectionItem[];
  }): Step<Int16Array<ArrayBuffer>> {
    const lab = this.#lab;
    const { shape, columns } = input;
    this.#reset();
    const decoded: Decoded[] = [];
    for (const [i, item] of input.items.entries()) {
      decoded.push(decodeItem(shape.set, item));
      if (i % 16 === 0) yield (0.4 * i) / input.items.length;
    }
    const { level, width, count, bucket } = shape;
    this.#reserve(shape, columns, decoded.length);
    const items = new ItemRows(lab, shape, columns, decoded);
    yield 0.5;
    const filled = filledBy(level, [width * count, 2 * bucket, width * count]);
    const s = this.#rows(columns, filled);
    items.writeS(s);
    yield 0.7;
    this.#opened = { number: 0, params: level, columns, s, places: items.placesS, items };
    yield* this.#expandA();
    return items.digits;
  }

  /** @param input.digits the low ones of all items, then, `bucket` further, the high ones. @returns t of the rows of S and W */
  commitItems(input: { readonly digits: Int16Array }): Values {
    const { s, params, items } = this.#at;
    items!.writeW(s, input.digits);
    return this.#innerCommitments(rowsOf(s, 0, firstRows(params)[2]!));
  }

  /** @returns t of the rows of Y, g, and the sum of alpha_i over the items that this share owns */
  *commitTwisted(input: { readonly alpha: Uint8Array }): Step<{
    readonly t: Values;
    readonly g: Values;
    readonly alphas: Int32Array<ArrayBuffer>;
  }> {
    const { s, params, items } = this.#at;
    const alphas = items!.writeY(s, input.alpha);
    yield 0.3;
    const firstY = firstRows(params)[2]!;
    const t = this.#innerCommitments(rowsOf(s, firstY, params.r - firstY));
    this.#dropA();
    yield 0.6;
    return { t, g: this.#quadraticGarbage(), alphas };
  }

  /** @returns the sums of the ten functionals over the items that this share owns */
  *functionals(input: { readonly rho: Uint8Array }): Step<number[]> {
    return yield* this.#at.items!.functionals(input.rho);
  }

  /**
   * Begins an ordinary level.
   *
   * @param input.rows the polynomials of `placesOfRows` in the columns
   */
  *openRows(input: {
    readonly number: number;
    readonly params: OrdinaryLevel;
    readonly columns: Columns;
    readonly rows: Int16Array;
  }): Step<{ readonly t: Values; readonly g: Values }> {
    const lab = this.#lab;
    const { number, params, columns } = input;
    this.#reset();
    const smalls = lab.smalls(input.rows.length / 64);
    lab.i16(smalls).set(input.rows);
    const s = this.#rows(columns, filledBy(params, params.lengths));
    let { at } = smalls;
    const places = placesWithin(placesOfRows(params), columns).map((placed) => {
      at += SMALL * placed.count;
      return { ...placed, at: at - SMALL * placed.count };
    });
    for (const { row, column, count, at: from } of places) {
      lab.kernels.widesToVec(lab.row(s, row), column, from, SMALL, count);
    }
    this.#opened = { number, params, columns, s, places };
    yield* this.#expandA();
    const t = this.#innerCommitments(s);
    this.#dropA();
    return { t, g: this.#quadraticGarbage() };
  }

  /** @returns y of these columns */
  project(input: { readonly jl: Uint8Array; readonly counter: number }): Values {
    return this.#lab.scope(() =>
      projected(this.#lab, this.#at.places, {
        seed: this.#seed(input.jl),
        counter: input.counter,
      }),
    );
  }

  /** @returns the three lifts of these columns */
  *lift(input: {
    readonly jl: Uint8Array;
    readonly counter: number;
    readonly lift: Uint8Array;
  }): Step<Values> {
    const lab = this.#lab;
    const { params, columns, places, items, s } = this.#at;
    const projection = { seed: this.#seed(input.jl), counter: input.counter };
    const seed = this.#seed(input.lift);
    this.#lift = seed;
    const sums = lab.sums(LIFTS);
    const filled = filledBy(params, items?.filledByLifts ?? params.lengths);
    const used = filled.slice(0, items === undefined ? params.r : firstRows(params)[2]!);
    // behind each other: phi takes the room of all
    this.#F = Array.from({ length: LIFTS }, () => this.#rows(columns, used));
    if (items === undefined) {
      yield* collapse(lab, this.#F, places, projection, seed);
      addLifts(lab, sums, this.#F, s);
    } else yield* liftsOfItems(lab, items, this.#F, s, sums, projection, seed);
    const lifts = lab.scope(() => valuesOf(lab, coefsOfSums(lab, sums)));
    return items === undefined ? lifts : sumOf([lifts, liftsOfLinks(lab, items, s, seed)]);
  }

  /**
   * @param input.padding of the level
   * @param input.base what the level before leaves, as `openRows` has its rows; none at level 0
   * @returns h of these columns
   */
  *combine(input: {
    readonly seed: Uint8Array;
    readonly padding: readonly Run[];
    readonly base?: Values;
  }): Step<Values> {
    const lab = this.#lab;
    const { params, columns, places, items, s } = this.#at;
    const seed = this.#seed(input.seed);
    const coefficients = liftCoefficients(lab, seed);
    const phi = { ...this.#F[0]!, rows: params.r };
    this.#phi = phi;
    if (items === undefined) {
      lab.scope(() => {
        const base = lab.vecs(params.r, columns.to - columns.from);
        let from = 0;
        for (const { row, column, count } of places) {
          const { at } = coefsOf(lab, [input.base!.subarray(64 * from, 64 * (from + count))]);
          lab.kernels.coefsToVec(lab.row(base, row), column, at, COEFS, count);
          from += count;
        }
        combineForms(lab, [...this.#F, base], coefficients);
      });
    } else {
      yield* combineItems(lab, items, this.#F, phi, this.#lift!, coefficients);
      items.subtractAlphas(phi);
    }
    addPadding(lab, seed, params.n, input.padding, columns, phi);
    return lab.scope(() => valuesOf(lab, linearGarbage(lab, phi, s)));
  }

  /** @returns z and phi_z in these columns */
  amortise(input: { readonly seed: Uint8Array }): {
    readonly z: Values;
    readonly phiZ: Values;
  } {
    const lab = this.#lab;
    const { params, s } = this.#at;
    return lab.scope(() => {
      const smalls = sampleCs(lab, this.#seed(input.seed), params.r);
      const c = lab.forms(params.r);
      lab.kernels.smallsToForms(c.at, smalls.at, smalls.count);
      const z = lab.scope(() => valuesOf(lab, amortised(lab, c, s)));
      return { z, phiZ: lab.scope(() => valuesOf(lab, amortised(lab, c, this.#phi!))) };
    });
  }

  /** The inner key of a level, folded by the challenges of the next one. @returns its columns `columns` */
  foldKey(input: {
    readonly number: number;
    readonly kappa: number;
    readonly columns: Columns;
    readonly seed: Uint8Array;
  }): Blocks {
    const { kappa, ...of } = input;
    const by = { short: SHORT.amortised, first: 0, rows: kappa };
    return foldKey(this.#lab, { ...of, matrix: MATRIX.A, ...by });
  }

  get #at(): Opened {
    return this.#opened!;
  }

  #seed(bytes: Uint8Array): Seed {
    return new Seed(this.#lab, bytes, this.#at.number);
  }

  #reset(): void {
    this.#lab.kernels.reset(this.#start);
    this.#opened = undefined;
    this.#A = undefined;
    this.#F = [];
    this.#phi = undefined;
  }

  /** About all the memory that level 0 takes. */
  #reserve({ set, level, width, count }: ItemsShape, columns: Columns, items: number): void {
    const row = vecBytes(columns.to - columns.from);
    const rowsOfF = LIFTS * (firstRows(level)[2]! + 1);
    const parts = FUNCTIONALS * partsBytes(degreeOf(set)) * items;
    const small = FORM * count + SMALL * width * items;
    const late = Math.max(level.kappa * row, parts + rowsOfF * row);
    this.#lab.reserve(small + level.r * row + late + SCRATCH_BYTES);
  }

  #rows(columns: Columns, filled: readonly number[]): Vecs {
    return vecsToFill(this.#lab, columns.to - columns.from, filledWithin(filled, columns));
  }

  *#expandA(): Step<void> {
    const lab = this.#lab;
    const { number, params, columns } = this.#at;
    this.#beforeA = lab.kernels.mark();
    this.#A = expandKeys(lab, number, MATRIX.A, params.kappa, columns);
    yield 0.95;
  }

  #dropA(): void {
    this.#A = undefined;
    this.#lab.kernels.reset(this.#beforeA);
  }

  #innerCommitments(s: Vecs): Values {
    const lab = this.#lab;
    return lab.scope(() => valuesOf(lab, innerCommitments(lab, this.#A!, s)));
  }

  #quadraticGarbage(): Values {
    const lab = this.#lab;
    return lab.scope(() => valuesOf(lab, quadraticGarbage(lab, this.#at.s)));
  }
}
