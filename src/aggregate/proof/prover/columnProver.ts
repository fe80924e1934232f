/**
 * The prover's work on some columns of a level (docs/protocol.md, 6 to 10). Column provers are
 * independent of each other and of the transcript; the transcript's thread adds up their sums.
 *
 *   level 0:  openItems, commitItems, commitTwisted, functionals, project, lift, combine, amortise
 *   others:   openRows, project, lift, carryAmortised, combine, amortise
 *
 * Steps return plain data. Long ones are generators, which yield their progress wherever the thread
 * may do other work.
 */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import { bestModule, FORM_BYTES, SMALL_BYTES, type Vecs } from '../../wasm.ts';
import { expandKeys, fillRowChallenges, Seed, shortForms } from '../challenges.ts';
import {
  type Columns,
  filledBy,
  filledWithin,
  type Placed,
  placesOfForms,
  placesOfRows,
  placesWithin,
} from '../columns.ts';
import { FUNCTIONALS } from '../constants.ts';
import { foldKeys } from '../foldKeys.ts';
import { rowBytes, vecsToFill } from '../forms.ts';
import { partsBytes } from '../functionals.ts';
import { keepInstance, takeInstance } from '../instances.ts';
import { filledByItems, type ItemsShape } from '../itemColumns.ts';
import { liftsOf, scalarsBehind } from '../lifts.ts';
import { PROJECTION_LENGTH } from '../projection.ts';
import { sumOfLists, type Values, valuesOf, vecOfBlocks } from '../ring.ts';
import { degreeOf, firstRowOfY, type Run } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { combinePadding, liftCoefficients } from './combine.ts';
import { carryAmortised, writeForms } from './constraintsBehind.ts';
import { ItemRows } from './itemRows.ts';
import { KeyStore } from './keyStore.ts';
import { combineItems, liftsOfItems, liftsOfLinks } from './liftsOfItems.ts';
import {
  type Covered,
  collapse,
  coveredBy,
  numbersOfX,
  type Projected,
  project,
} from './project.ts';
import { scalarsOfPart } from './scalars.ts';
import {
  amortised,
  coefsOfSums,
  innerCommitments,
  liftsOfRows,
  linearGarbage,
  quadraticGarbage,
  rowRange,
} from './steps.ts';
import { type Decoded, decodeItem, type SectionItem } from './witness.ts';

/** Bytes that steps use for sums and other temporary values. */
const SCRATCH_BYTES = 1 << 20;
/** Bytes of keys kept between levels; keys of a level that need more are not kept. */
const STORE_BYTES = 18 << 20;

/** A step in parts; yields its progress, from 0 to 1. */
export type Step<T> = Generator<number, T>;

/** Rows and columns of an inner key. */
export interface KeySize {
  readonly rows: number;
  readonly columns: number;
}

interface Opened {
  readonly number: number;
  readonly params: OrdinaryLevel;
  readonly columns: Columns;
  readonly s: Vecs;
  readonly places: readonly Placed[];
  /** the same, as covered by the projection */
  readonly covered: readonly Covered[];
  /** number of scalars of the lifts before those of the parts, two words each */
  readonly words: number;
  /** bits of a digit of the level before */
  readonly bits: number;
  readonly items?: ItemRows;
}

export class ColumnProver {
  readonly #lab = takeInstance(bestModule(), 'columns');
  readonly #start = this.#lab.kernels.mark();
  /** the keys shared by the levels of the proof */
  #keys: KeyStore | undefined;
  /** the mark of the memory after them */
  #afterKeys = this.#start;
  #opened: Opened | undefined;
  /** the inner key, and the mark of the memory before it */
  #A: Vecs | undefined;
  #beforeA = 0;
  #F: readonly Vecs[] = [];
  #phi: Vecs | undefined;
  #lift: Seed | undefined;

  /** Peak bytes of the module's memory in use. */
  get memoryBytes(): number {
    return this.#lab.peakBytes;
  }

  /** Returns the module to the pool. No further calls are allowed. */
  close(): void {
    this.#reset();
    this.#lab.kernels.reset(this.#start);
    keepInstance(bestModule(), 'columns', this.#lab);
  }

  /**
   * Begins level 0.
   *
   * @param input.items the items of `itemsWithin`
   * @param input.keys for every level the rows and columns of its inner key
   * @returns W_i0, W_i1 of the items that these columns own, in order
   */
  *openItems(input: {
    readonly shape: ItemsShape;
    readonly columns: Columns;
    readonly items: readonly SectionItem[];
    readonly keys: readonly KeySize[];
  }): Step<Int16Array<ArrayBuffer>> {
    const lab = this.#lab;
    const { shape, columns } = input;
    this.#reset();
    this.#openStore(input.keys);
    const decoded: Decoded[] = [];
    for (const [i, item] of input.items.entries()) {
      decoded.push(decodeItem(shape.set, shape.profile, item));
      if (i % 16 === 0) yield (0.4 * i) / input.items.length;
    }
    this.#reserve(shape, columns, decoded.length);
    const items = new ItemRows(lab, shape, columns, decoded);
    yield 0.5;
    const s = this.#rows(columns, filledByItems(shape));
    items.writeS(s);
    yield 0.7;
    const { placesS: places } = items;
    const covered = coveredBy(places);
    const words = PROJECTION_LENGTH;
    this.#opened = {
      number: 0,
      params: shape.level,
      columns,
      s,
      places,
      covered,
      words,
      bits: 0,
      items,
    };
    yield* this.#expandA();
    return items.digits;
  }

  /**
   * @param input.digits the low digits of all items, followed, at offset `bucket`, by the high ones
   * @returns t of the rows of S and W
   */
  commitItems(input: { readonly digits: Int16Array }): Values {
    const { s, params, items } = this.#at;
    items!.writeW(s, input.digits);
    return this.#innerCommitments(rowRange(s, 0, firstRowOfY(params)));
  }

  /**
   * @returns t of the rows of Y, g, and the sum of alpha_i over the items that these columns own
   */
  *commitTwisted(input: { readonly alpha: Uint8Array }): Step<{
    readonly t: Values;
    readonly g: Values;
    readonly alphas: Int32Array<ArrayBuffer>;
  }> {
    const { s, params, items } = this.#at;
    const alphas = items!.writeY(s, input.alpha);
    yield 0.3;
    const firstY = firstRowOfY(params);
    const t = this.#innerCommitments(rowRange(s, firstY, params.r - firstY));
    this.#dropA();
    yield 0.6;
    return { t, g: this.#quadraticGarbage(), alphas };
  }

  /** @returns the sums of the ten functionals over the items that these columns own */
  *functionals(input: { readonly rho: Uint8Array }): Step<number[]> {
    return yield* this.#at.items!.functionals(input.rho);
  }

  /**
   * Begins an ordinary level.
   *
   * @param input.rows the polynomials of `placesOfRows` within the columns
   * @param input.before the level before
   * @param input.keys see `openItems`, if level 0 was not proved before
   * @returns t of all rows, and g
   */
  *openRows(input: {
    readonly number: number;
    readonly params: OrdinaryLevel;
    readonly columns: Columns;
    readonly rows: Int16Array;
    readonly before: OrdinaryLevel;
    readonly keys?: readonly KeySize[];
  }): Step<{ readonly t: Values; readonly g: Values }> {
    const lab = this.#lab;
    const { number, params, columns, before } = input;
    this.#reset();
    if (input.keys !== undefined) this.#openStore(input.keys);
    const smalls = lab.smalls(input.rows.length / 64);
    lab.i16(smalls).set(input.rows);
    const s = this.#rows(columns, filledBy(params, params.lengths));
    let { at } = smalls;
    const places = placesWithin(placesOfRows(params), columns).map((placed) => {
      at += SMALL_BYTES * placed.count;
      return { ...placed, at: at - SMALL_BYTES * placed.count };
    });
    for (const { row, column, count, at: from } of places) {
      lab.kernels.widesToVec(lab.row(s, row), column, from, SMALL_BYTES, count);
    }
    const covered = coveredBy(places, numbersOfX(params, before), params.parts?.count);
    const words = scalarsBehind(before, number - 1).end;
    this.#opened = { number, params, columns, s, places, covered, words, bits: before.b };
    yield* this.#expandA();
    const t = this.#innerCommitments(s);
    this.#dropA();
    return { t, g: this.#quadraticGarbage() };
  }

  /** @returns the projections of these columns, part by part */
  project(input: { readonly jl: Uint8Array }): Projected[] {
    const lab = this.#lab;
    return lab.scope(() => project(lab, this.#at.covered, this.#seed(input.jl)));
  }

  /** @returns the lifts of these columns */
  *lift(input: { readonly jl: Uint8Array; readonly lift: Uint8Array }): Step<Values> {
    const lab = this.#lab;
    const { number, params, columns, covered, words, items, s } = this.#at;
    const jl = this.#seed(input.jl);
    const seed = this.#seed(input.lift);
    this.#lift = seed;
    const { count } = liftsOf(number);
    const filled = filledBy(params, items?.filledByLifts ?? params.lengths);
    const used = filled.slice(0, items === undefined ? params.r : firstRowOfY(params));
    // Contiguous: phi will reuse the room of all of them.
    this.#F = Array.from({ length: count }, () => this.#rows(columns, used));
    if (items === undefined) {
      const isMerged = params.parts !== undefined;
      yield* collapse(lab, this.#F, covered, jl, (part) =>
        scalarsOfPart(lab, seed, words, isMerged ? part : undefined),
      );
      return liftsOfRows(lab, this.#F, s);
    }
    const sums = lab.sums(count);
    yield* liftsOfItems(lab, items, this.#F, s, sums, jl, seed);
    const lifts = lab.scope(() => valuesOf(lab, coefsOfSums(lab, sums)));
    return sumOfLists([lifts, liftsOfLinks(lab, items, s, seed)]);
  }

  /**
   * @param input.padding the padding of the level
   * @param input.base the linear forms that the previous level leaves, those of `placesOfForms`
   *   within the columns; omitted at level 0
   * @returns h of these columns
   */
  *combine(input: {
    readonly seed: Uint8Array;
    readonly padding: readonly Run[];
    readonly base?: Values;
  }): Step<Values> {
    const lab = this.#lab;
    const { params, columns, bits, items, s } = this.#at;
    const seed = this.#seed(input.seed);
    const coefficients = liftCoefficients(lab, seed);
    const phi = { ...this.#F[0]!, rows: params.r };
    this.#phi = phi;
    if (items === undefined) {
      let at = 0;
      const places = placesWithin(placesOfForms(params, 64), columns, 64).map((placed) => {
        at += 64 * placed.count;
        return { ...placed, at: at - 64 * placed.count };
      });
      for (let row = 0; row < phi.rows; row++) {
        lab.scope(() => {
          const base = lab.vecs(1, columns.to - columns.from);
          writeForms(lab, base, params, row, bits, places, input.base!);
          const rows = this.#F.map((vecs) => lab.row(vecs, row));
          lab.combine(phi, row, [...rows, base.at], coefficients);
        });
        yield (0.5 * row) / phi.rows;
      }
    } else {
      yield* combineItems(lab, items, this.#F, phi, this.#lift!, coefficients);
      items.subtractAlphas(phi);
    }
    combinePadding(lab, seed, params.n, input.padding, columns, phi);
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
      const c = fillRowChallenges(lab, this.#seed(input.seed), lab.forms(params.r));
      const z = lab.scope(() => valuesOf(lab, amortised(lab, c, s)));
      return { z, phiZ: lab.scope(() => valuesOf(lab, amortised(lab, c, this.#phi!))) };
    });
  }

  /**
   * @param input.number the level; the key, phi_z and these parameters are those of the previous
   *   level
   * @param input.phiZ phi_z of every part in these columns
   * @param input.isMerged whether the level takes the outputs of parts
   * @returns the linear forms on z_0 that E3 and E5 leave, in these columns, part by part
   */
  carryAmortised(input: {
    readonly number: number;
    readonly params: Pick<OrdinaryLevel, 'kappa'>;
    readonly columns: Columns;
    readonly phiZ: readonly Values[];
    readonly isMerged: boolean;
    readonly seed: Uint8Array;
  }): Values[] {
    const lab = this.#lab;
    return lab.scope(() => {
      const foldedA = this.#foldedA(input);
      const seed = new Seed(lab, input.seed, input.number);
      return input.phiZ.map((phi, part) => {
        const chi = input.isMerged ? shortForms(lab, seed, SHORT.part, part, 1) : undefined;
        return carryAmortised(lab, foldedA, phi, chi);
      });
    });
  }

  /** These columns of the inner key of a level, folded by the challenges of the next one. */
  #foldedA(input: Parameters<ColumnProver['carryAmortised']>[0]): Vecs {
    const lab = this.#lab;
    const { number, seed, columns } = input;
    const rows = input.params.kappa;
    const key = this.#keys?.take(rows, columns);
    if (key === undefined) {
      const use = { number, seed, columns: columns.to, short: SHORT.amortised, first: 0, rows };
      return vecOfBlocks(lab, foldKeys(lab, { columns, uses: [use] })[0]!);
    }
    const out = lab.vecs(1, key.columns);
    const challenges = shortForms(lab, new Seed(lab, seed, number), SHORT.amortised, 0, rows);
    lab.combine(out, 0, lab.addresses(key), challenges);
    return out;
  }

  get #at(): Opened {
    return this.#opened!;
  }

  #seed(bytes: Uint8Array): Seed {
    return new Seed(this.#lab, bytes, this.#at.number);
  }

  #reset(): void {
    this.#lab.kernels.reset(this.#afterKeys);
    this.#opened = undefined;
    this.#A = undefined;
    this.#F = [];
    this.#phi = undefined;
  }

  /** Allocates room for the keys of as many levels as fit, counted from the last one. */
  #openStore(keys: readonly KeySize[]): void {
    if (this.#keys !== undefined) return;
    const lab = this.#lab;
    for (const first of keys.keys()) {
      const rows = Math.max(...keys.slice(first).map((key) => key.rows));
      const columns = Math.max(...keys.slice(first).map((key) => key.columns));
      if (rows * rowBytes(columns) > STORE_BYTES) continue;
      this.#keys = new KeyStore(lab, rows, columns);
      this.#afterKeys = lab.kernels.mark();
      return;
    }
  }

  /** Grows memory once, by about the needs of level 0. */
  #reserve({ set, level, width, count }: ItemsShape, columns: Columns, items: number): void {
    const row = rowBytes(columns.to - columns.from);
    const rowsOfF = liftsOf(0).count * (firstRowOfY(level) + 1);
    const parts = FUNCTIONALS * partsBytes(degreeOf(set)) * items;
    const small = FORM_BYTES * count + SMALL_BYTES * width * items;
    const late = Math.max(level.kappa * row, parts + rowsOfF * row);
    this.#lab.reserve(small + level.r * row + late + SCRATCH_BYTES);
  }

  #rows(columns: Columns, filled: readonly number[]): Vecs {
    return vecsToFill(this.#lab, columns.to - columns.from, filledWithin(filled, columns));
  }

  *#expandA(): Step<void> {
    const lab = this.#lab;
    const { params, columns } = this.#at;
    this.#beforeA = lab.kernels.mark();
    this.#A = this.#keys?.take(params.kappa, columns) ?? expandKeys(lab, params.kappa, columns);
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
