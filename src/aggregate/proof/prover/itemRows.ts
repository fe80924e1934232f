/**
 * Level 0 in some columns (docs/protocol.md, 7): S, W and Y of the items that have places there, and what the functionals and the
 * relation put on them.
 */
import type { Shape } from '../../parameters/rows.ts';
import type { Forms, Labrador, Smalls, Vecs } from '../../wasm.ts';
import { FORM, formsOf, Seed, SMALL, sampleAlphas } from '../challenges.ts';
import { type Columns, type Placed, placesOfPart, placesWithin, runsWithin } from '../columns.ts';
import { Functionals, partsBytes } from '../functionals.ts';
import { type ItemsShape, itemsWithin, owns } from '../itemColumns.ts';
import { constantForm } from '../ring.ts';
import { degreeOf, FUNCTIONALS, firstRows, runsOf } from '../shapes.ts';
import { type Decoded, normDigits, writeS } from './witness.ts';

export const W_BITS = 13n;

export class ItemRows {
  readonly shape: ItemsShape;
  /** places of S in the columns */
  readonly placesS: readonly Placed[];
  /** W_i0, W_i1 of the items that this share owns, one item after the other */
  readonly digits: Int16Array<ArrayBuffer>;
  readonly #lab: Labrador;
  readonly #columns: Columns;
  /** the items at hand */
  readonly items: readonly number[];
  /** where each stands among them */
  readonly #places = new Map<number, number>();
  readonly #decoded: readonly Decoded[];
  readonly #S: Smalls;
  readonly #alphas: Forms;
  #parts = 0;

  /** @param decoded the items of `itemsWithin` */
  constructor(lab: Labrador, shape: ItemsShape, columns: Columns, decoded: readonly Decoded[]) {
    const { set, level, width, count } = shape;
    this.#lab = lab;
    this.shape = shape;
    this.#columns = columns;
    this.#decoded = decoded;
    this.items = itemsWithin(shape, columns);
    for (const [place, item] of this.items.entries()) this.#places.set(item, place);
    this.#alphas = lab.forms(count);
    this.#S = writeS(lab, set, decoded, width);
    this.placesS = placesWithin(placesOfPart(level, 0, width * count, 0), columns).map(
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
      owned.map((item) => at + SMALL * width * this.placeOf(item)),
      width,
    );
  }

  /** Where a polynomial of S stands. */
  #addressOf(number: number): number {
    const { width } = this.shape;
    const item = Math.floor(number / width);
    return this.#S.at + SMALL * (width * (this.placeOf(item) - item) + number);
  }

  /** S into its rows. */
  writeS(s: Vecs): void {
    const lab = this.#lab;
    for (const { row, column, count, at } of this.placesS) {
      lab.kernels.smallsToVec(lab.row(s, row), column, at, SMALL, count);
    }
  }

  /** W into its rows. @param digits the low ones of all items, then, `bucket` further, the high ones */
  writeW(s: Vecs, digits: Int16Array): void {
    const lab = this.#lab;
    lab.scope(() => {
      const W = lab.smalls(digits.length / 64);
      lab.i16(W).set(digits);
      const places = placesOfPart(this.shape.level, 1, W.count, W.at);
      for (const { row, column, count, at } of placesWithin(places, this.#columns)) {
        lab.kernels.widesToVec(lab.row(s, row), column, at, SMALL, count);
      }
    });
  }

  /** alpha_i sigma(S_it) into the rows of Y. @returns the sum of alpha_i over the items that this share owns */
  writeY(s: Vecs, alpha: Uint8Array): Int32Array<ArrayBuffer> {
    const lab = this.#lab;
    const { shape } = this;
    const sum = new Int32Array(64);
    lab.scope(() => {
      const alphas = sampleAlphas(lab, new Seed(lab, alpha, 0), shape.count);
      const forms = formsOf(lab, alphas);
      lab.bytes(this.#alphas.at, FORM * forms.count).set(lab.bytes(forms.at, FORM * forms.count));
      const values = lab.i16(alphas);
      for (const item of this.items) {
        if (!owns(shape, this.#columns, item)) continue;
        for (let j = 0; j < 64; j++) sum[j]! += values[64 * item + j]!;
      }
    });
    const firstY = firstRows(shape.level)[2]!;
    this.eachItem((item, { row, column, count, at }) => {
      const to = lab.row(s, firstY + row);
      lab.kernels.twistedToVec(to, column, at, SMALL, count, this.alpha(item));
    });
    return sum;
  }

  /** The places of S item by item. */
  eachItem(visit: (item: number, places: Placed, t: number) => void): void {
    for (const placed of this.placesS) for (const run of this.runsOf(placed)) visit(...run);
  }

  /** A run of places cut where items end: number of the item, places, part of the first one. */
  *runsOf({ row, column, count, at, number }: Placed): Generator<[number, Placed, number]> {
    const { width } = this.shape;
    for (let done = 0; done < count; ) {
      const item = Math.floor((number + done) / width);
      const t = number + done - width * item;
      const here = Math.min(width - t, count - done);
      const from = at + SMALL * done;
      yield [item, { row, column: column + done, count: here, at: from, number: number + done }, t];
      done += here;
    }
  }

  /** Where an item stands among `items`. */
  placeOf(item: number): number {
    return this.#places.get(item)!;
  }

  alpha(item: number): number {
    return this.#alphas.at + FORM * item;
  }

  /** sigma of the parts of the item's first functional; the others are `partsStride` behind each other. */
  parts(item: number): number {
    return this.#parts + FUNCTIONALS * this.partsStride * this.placeOf(item);
  }

  /** How far the lifts fill each part; W is cleared first, since padding may stand between its two digits. */
  get filledByLifts(): number[] {
    const { width, count } = this.shape;
    return [width * count, 0, width * count];
  }

  get partsStride(): number {
    return partsBytes(degreeOf(this.shape.set));
  }

  /**
   * The parts of all functionals of the items at hand; they live until the scope ends.
   *
   * @returns the sums of <rho, s1 - c> + <rho', s2> over the items that this share owns
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

  /** N1 on W: -alpha_i on the low digits, -2^13 alpha_i on the high ones. */
  subtractAlphas(phi: Vecs): void {
    const lab = this.#lab;
    const { kernels } = lab;
    lab.scope(() => {
      const form = lab.forms(1);
      const factor = lab.forms(1);
      const term = lab.forms(1);
      for (const digit of [0, 1] as const) {
        constantForm(lab, factor.at, 1n << (W_BITS * BigInt(digit)));
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

  /** Where the low or the high digits of w_i stand, in runs of items; columns count from the share's first one. */
  *placesW(digit: 0 | 1): Generator<{ item: number; row: number; column: number; count: number }> {
    const { level, bucket, count } = this.shape;
    const start = digit * bucket;
    const shape: Shape = level;
    for (const run of runsOf(shape, 1, start, start + count)) {
      const place = (run.row - firstRows(shape)[1]!) * shape.n;
      for (const { row, from, to } of runsWithin([run], this.#columns)) {
        const item = place + from - start;
        yield { item, row, column: from - this.#columns.from, count: to - from };
      }
    }
  }
}
