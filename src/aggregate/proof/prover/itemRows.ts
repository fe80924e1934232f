/**
 * Some columns of level 0 (docs/protocol.md, 7): S, W and Y of the items with places there, and the
 * contributions of the functionals and N1 to their linear forms.
 */
import {
  FORM_BYTES,
  type Forms,
  type Labrador,
  SMALL_BYTES,
  type Smalls,
  type Vecs,
} from '../../wasm.ts';
import { Seed, sampleAlphas } from '../challenges.ts';
import {
  type Columns,
  type Placed,
  placesOfSegment,
  placesWithin,
  runsWithin,
} from '../columns.ts';
import { FUNCTIONALS, NORM_DIGIT_BITS } from '../constants.ts';
import { formAt, formsOf, writeConstant } from '../forms.ts';
import { Functionals, partsBytes } from '../functionals.ts';
import { type ItemsShape, itemsWithin, owns } from '../itemColumns.ts';
import { degreeOf, firstRowOfY, firstRows, PART, runsOf } from '../shapes.ts';
import { type Decoded, normDigits, smallsOfItems } from './witness.ts';

export class ItemRows {
  readonly shape: ItemsShape;
  /** places of S in the columns */
  readonly placesS: readonly Placed[];
  /** W_i0, W_i1 of the items that these columns own, one item after the other */
  readonly digits: Int16Array<ArrayBuffer>;
  readonly #lab: Labrador;
  readonly #columns: Columns;
  /** the items with places in these columns */
  readonly items: readonly number[];
  /** the index of each item among them */
  readonly #places = new Map<number, number>();
  readonly #decoded: readonly Decoded[];
  readonly #S: Smalls;
  readonly #alphas: Forms;
  #parts = 0;

  /** @param decoded the items of `itemsWithin`, in order */
  constructor(lab: Labrador, shape: ItemsShape, columns: Columns, decoded: readonly Decoded[]) {
    const { set, level, width, count } = shape;
    this.#lab = lab;
    this.shape = shape;
    this.#columns = columns;
    this.#decoded = decoded;
    this.items = itemsWithin(shape, columns);
    for (const [place, item] of this.items.entries()) this.#places.set(item, place);
    this.#alphas = lab.forms(count);
    this.#S = smallsOfItems(lab, set, decoded, width);
    this.placesS = placesWithin(placesOfSegment(level, PART.S, width * count, 0), columns).map(
      (placed) => ({
        ...placed,
        at: this.#addressOf(placed.number),
      }),
    );
    const owned = this.items.filter((item) => owns(shape, columns, item));
    const { at } = this.#S;
    this.digits = normDigits(
      lab,
      set,
      owned.map((item) => at + SMALL_BYTES * width * this.placeOf(item)),
      width,
    );
  }

  /** The address of a polynomial of S. */
  #addressOf(number: number): number {
    const { width } = this.shape;
    const item = Math.floor(number / width);
    return this.#S.at + SMALL_BYTES * (width * (this.placeOf(item) - item) + number);
  }

  /** Writes S into its rows. */
  writeS(s: Vecs): void {
    const lab = this.#lab;
    for (const { row, column, count, at } of this.placesS) {
      lab.kernels.smallsToVec(lab.row(s, row), column, at, SMALL_BYTES, count);
    }
  }

  /**
   * Writes W into its rows.
   *
   * @param digits the low digits of all items, followed, at offset `bucket`, by the high ones
   */
  writeW(s: Vecs, digits: Int16Array): void {
    const lab = this.#lab;
    lab.scope(() => {
      const W = lab.smalls(digits.length / 64);
      lab.i16(W).set(digits);
      const places = placesOfSegment(this.shape.level, PART.W, W.count, W.at);
      for (const { row, column, count, at } of placesWithin(places, this.#columns)) {
        lab.kernels.widesToVec(lab.row(s, row), column, at, SMALL_BYTES, count);
      }
    });
  }

  /**
   * Writes alpha_i sigma(S_it) into the rows of Y.
   *
   * @returns the sum of alpha_i over the items that these columns own
   */
  writeY(s: Vecs, alpha: Uint8Array): Int32Array<ArrayBuffer> {
    const lab = this.#lab;
    const { shape } = this;
    const sum = new Int32Array(64);
    lab.scope(() => {
      const alphas = sampleAlphas(lab, new Seed(lab, alpha, 0), shape.count);
      const forms = formsOf(lab, alphas);
      lab
        .bytes(this.#alphas.at, FORM_BYTES * forms.count)
        .set(lab.bytes(forms.at, FORM_BYTES * forms.count));
      const values = lab.i16(alphas);
      for (const item of this.items) {
        if (!owns(shape, this.#columns, item)) continue;
        for (let j = 0; j < 64; j++) sum[j]! += values[64 * item + j]!;
      }
    });
    const firstY = firstRowOfY(shape.level);
    this.eachItem((item, { row, column, count, at }) => {
      const to = lab.row(s, firstY + row);
      lab.kernels.twistedToVec(to, column, at, SMALL_BYTES, count, this.alpha(item));
    });
    return sum;
  }

  /** Visits the places of S item by item. */
  eachItem(visit: (item: number, places: Placed, t: number) => void): void {
    for (const placed of this.placesS) for (const run of this.runsOf(placed)) visit(...run);
  }

  /**
   * Splits a run of places at the ends of items.
   *
   * @returns yields the item, its places, and the part of the first one
   */
  *runsOf(placed: Placed): Generator<[number, Placed, number]> {
    const { width } = this.shape;
    for (let done = 0; done < placed.count; ) {
      const number = placed.number + done;
      const item = Math.floor(number / width);
      const t = number - width * item;
      const count = Math.min(width - t, placed.count - done);
      const at = placed.at + SMALL_BYTES * done;
      yield [item, { ...placed, column: placed.column + done, count, at, number }, t];
      done += count;
    }
  }

  /** The index of an item among `items`. */
  placeOf(item: number): number {
    return this.#places.get(item)!;
  }

  /** The address of the NTT form of alpha_i. */
  alpha(item: number): number {
    return formAt(this.#alphas, item);
  }

  /**
   * The address of sigma of the parts of the item's first functional; the others follow,
   * `partsStride` apart.
   */
  parts(item: number): number {
    return this.#parts + FUNCTIONALS * this.partsStride * this.placeOf(item);
  }

  /**
   * The extent that the lifts fill in each part. W is cleared first, because padding may lie
   * between its two digits.
   */
  get filledByLifts(): number[] {
    const { width, count } = this.shape;
    return [width * count, 0, width * count];
  }

  get partsStride(): number {
    return partsBytes(degreeOf(this.shape.set));
  }

  /**
   * Makes the parts of all functionals of the items; they are valid until the scope ends.
   *
   * @returns the sums of <rho, s1 - c> + <rho', s2> over the items that these columns own
   */
  *functionals(seed: Uint8Array): Generator<number, number[]> {
    const lab = this.#lab;
    const n = degreeOf(this.shape.set);
    this.#parts = lab.room(FUNCTIONALS * this.partsStride * this.items.length);
    const mark = lab.kernels.mark();
    const functionals = new Functionals(lab, new Seed(lab, seed, 0), n);
    const difference = new Int16Array(n);
    const nothing = new Int16Array(n);
    for (const [place, item] of this.items.entries()) {
      const { h, c, s1, s2 } = this.#decoded[place]!;
      if (owns(this.shape, this.#columns, item)) {
        for (let j = 0; j < n; j++) difference[j] = s1[j]! - c[j]!;
        functionals.write(item, h, this.parts(item), difference, s2);
      } else {
        functionals.write(item, h, this.parts(item), nothing);
      }
      if (place % 16 === 0) yield place / this.items.length;
    }
    const sums = functionals.sums();
    lab.kernels.reset(mark);
    return sums;
  }

  /** Subtracts N1 on W from phi: alpha_i on the low digits, 2^13 alpha_i on the high ones. */
  subtractAlphas(phi: Vecs): void {
    const lab = this.#lab;
    const { kernels } = lab;
    lab.scope(() => {
      const form = lab.forms(1);
      const factor = lab.forms(1);
      const term = lab.forms(1);
      for (const digit of [0, 1] as const) {
        writeConstant(lab, factor.at, 1n << BigInt(NORM_DIGIT_BITS * digit));
        for (const { item, row, column, count } of this.placesW(digit)) {
          const to = lab.row(phi, row);
          for (let i = 0; i < count; i++) {
            kernels.mulForm(term.at, this.alpha(item + i), factor.at);
            kernels.loadColumn(form.at, to, column + i);
            kernels.subForm(form.at, form.at, term.at);
            kernels.storeColumn(to, column + i, form.at);
          }
        }
      }
    });
  }

  /**
   * The places of the low or of the high digits of w_i, in runs of items; columns are counted from
   * the first one here.
   */
  *placesW(digit: 0 | 1): Generator<{ item: number; row: number; column: number; count: number }> {
    const { level, bucket, count } = this.shape;
    const start = digit * bucket;
    const first = firstRows(level)[PART.W]!;
    for (const run of runsOf(level, PART.W, start, start + count)) {
      const place = (run.row - first) * level.n;
      for (const { row, from, to } of runsWithin([run], this.#columns)) {
        const item = place + from - start;
        yield { item, row, column: from - this.#columns.from, count: to - from };
      }
    }
  }
}
