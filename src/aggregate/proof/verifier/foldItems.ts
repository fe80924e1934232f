/**
 * Level 0 for the verifier (docs/protocol.md, 7): the constraints of the relation, combined into
 * one and folded over the rows, in one pass over the places of some columns. Places of S and Y have
 * the same columns. Items may arrive in blocks, and are not needed again.
 */
import { decodePublicKey, hashToPoint } from '../../../falcon/points.ts';
import {
  BLOCK_COLUMNS,
  FORM_BYTES,
  type Forms,
  type Labrador,
  SMALL_BYTES,
  type Vecs,
} from '../../wasm.ts';
import { prepareOmega, prepareTheta, Seed, samplePsi } from '../challenges.ts';
import { type Columns, portionsOf, runsWithin } from '../columns.ts';
import { FALCON_Q, FUNCTIONALS, NORM_DIGIT_BITS } from '../constants.ts';
import { clearRest, constantForm, formAt } from '../forms.ts';
import { Functionals, partsBytes } from '../functionals.ts';
import { type Block, type ItemsShape, itemsWithin } from '../itemColumns.ts';
import { liftsOf } from '../lifts.ts';
import { Links } from '../linkChallenges.ts';
import type { Values } from '../ring.ts';
import {
  degreeOf,
  firstRowOfY,
  firstRows,
  PART,
  paddingOfZero,
  type Run,
  runsOf,
} from '../shapes.ts';
import { STREAM } from '../transcript.ts';
import { Folding } from './folding.ts';
import { type OpenSeeds, openSeeds } from './openSeeds.ts';
import { reducePadding } from './reduceLifts.ts';
import type { FirstSeeds } from './replay.ts';

/** An item as known to the verifier. */
export interface StatedItem {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly salt: Uint8Array;
}

export interface ColumnsOfItems {
  readonly shape: ItemsShape;
  readonly columns: Columns;
  readonly seeds: FirstSeeds;
}

export interface ItemsFold extends ColumnsOfItems {
  /** the items of `itemsWithin` */
  readonly items: readonly StatedItem[];
}

/** @typeParam Phi coefficients for another module, or a vector of this one */
export interface FoldedItems<Phi = Values | Vecs> {
  /** phi_z of these columns */
  readonly phi: Phi;
  /** <rho_j, c>, summed over the items whose first place is here */
  readonly sums: readonly number[];
  /** alpha_i, likewise */
  readonly alphas: Int32Array<ArrayBuffer>;
}

const LIFTS = liftsOf(0).count;

/** Columns processed at the same time, a multiple of 32. */
const RUN = 64;

/**
 * Folds the columns; yields the progress. Valid until the enclosing scope ends.
 *
 * @returns undefined if a key is not a key of this set
 */
export function* foldItems(
  lab: Labrador,
  fold: ItemsFold,
): Generator<number, FoldedItems<Vecs> | undefined> {
  const folder = new ItemsFolder(lab, fold);
  const isFolded = yield* folder.add({ from: 0, to: fold.shape.count }, fold.items);
  return isFolded ? folder.finish() : undefined;
}

/** Folds blocks of items, in order. Valid until the enclosing scope ends. */
export class ItemsFolder {
  readonly #lab: Labrador;
  readonly #of: ColumnsOfItems;
  readonly #seeds: OpenSeeds;
  readonly #alpha: Seed;
  readonly #folding: Folding;
  readonly #places: FirstPlaces;

  constructor(lab: Labrador, of: ColumnsOfItems) {
    const { shape, columns, seeds } = of;
    this.#lab = lab;
    this.#of = of;
    this.#seeds = openSeeds(lab, seeds, 0, shape.level.r);
    this.#folding = new Folding(lab, this.#seeds, columns.to - columns.from);
    this.#alpha = new Seed(lab, seeds.alpha, 0);
    this.#places = new FirstPlaces(lab, of, new Seed(lab, seeds.rho, 0), this.#seeds.lift);
  }

  /**
   * Folds the next block; yields the progress. Between blocks, others may use the kernels.
   *
   * @param items those of `itemsWithin`
   * @returns false if a key is not a key of this set
   */
  *add(block: Block, items: readonly StatedItem[]): Generator<number, boolean> {
    const { shape, columns } = this.#of;
    const { level, width } = shape;
    const lab = this.#lab;
    const mark = lab.kernels.mark();
    try {
      prepareOmega(lab, this.#seeds.lift);
      prepareTheta(lab, this.#seeds.lift);
      const alphas = new Alphas(lab, this.#alpha, block);
      const numbers = itemsWithin(shape, columns, block);
      this.#places.begin(new Map(numbers.map((item, i) => [item, items[i]!])), alphas);
      const runs = runsOf(level, PART.S, width * block.from, width * block.to);
      const here = runsWithin(runs, columns);
      for (const [i, run] of here.entries()) {
        if (!this.#places.foldRow(this.#folding, this.#seeds, run)) return false;
        yield (i + 1) / (here.length + 1);
      }
      foldNorms(this.#folding, shape, columns, this.#seeds, alphas);
      return true;
    } finally {
      lab.kernels.reset(mark);
    }
  }

  /** Returns the folds of all blocks. */
  finish(): FoldedItems<Vecs> {
    const { shape, columns } = this.#of;
    const { level, bucket, width, count } = shape;
    const padding = runsWithin(paddingOfZero({ levels: [level], bucket, width }, count), columns);
    reducePadding(this.#folding, this.#seeds.combine, level.n, padding, columns.from);
    const { sum: phi } = this.#folding;
    return { phi, sums: this.#places.sums(), alphas: this.#places.alphas };
  }
}

/** alpha_i of a block, each made at its first use. Valid until the enclosing scope ends. */
class Alphas {
  readonly block: Block;
  readonly #lab: Labrador;
  readonly #seed: Seed;
  readonly #forms: number;
  readonly #small: number;
  readonly #isMade: Uint8Array;

  constructor(lab: Labrador, seed: Seed, block: Block) {
    const count = block.to - block.from;
    this.block = block;
    this.#lab = lab;
    this.#seed = seed;
    this.#forms = lab.room(FORM_BYTES * count);
    this.#small = lab.room(SMALL_BYTES);
    this.#isMade = new Uint8Array(count);
  }

  /** The address of the NTT form. */
  form(item: number): number {
    const index = item - this.block.from;
    const at = this.#forms + FORM_BYTES * index;
    if (this.#isMade[index] === 0) {
      this.#sample(item);
      this.#lab.kernels.smallToForm(at, this.#small);
      this.#isMade[index] = 1;
    }
    return at;
  }

  /** sum += alpha_i */
  addTo(sum: Int32Array, item: number): void {
    this.#sample(item);
    const values = new Int16Array(this.#lab.kernels.memory.buffer, this.#small, 64);
    for (const [j, value] of values.entries()) sum[j]! += value;
  }

  #sample(item: number): void {
    this.#seed.start(STREAM.alpha, 0, item);
    this.#lab.kernels.sampleAlpha(this.#small);
  }
}

/** The places of S and Y. Valid until the enclosing scope ends. */
class FirstPlaces {
  /** the sum of alpha_i */
  readonly alphas = new Int32Array(64);
  readonly #lab: Labrador;
  readonly #shape: ItemsShape;
  readonly #columns: Columns;
  #alphas!: Alphas;
  #items!: ReadonlyMap<number, StatedItem>;
  readonly #functionals: Functionals;
  readonly #links: Links;
  /** the links of the current item on Y */
  readonly #onY: number;
  /** the links of the current item on S */
  readonly #onS: number;
  /** the parts of the functionals of the current item */
  readonly #rho: number;
  /** the key of the current item, and its point */
  readonly #h: Uint16Array<ArrayBuffer>;
  readonly #c: Int16Array<ArrayBuffer>;
  #item = -1;
  /** F of the three lifts at S without the links, then the links at S, then those at Y */
  readonly #staging: Vecs;

  constructor(lab: Labrador, { shape, columns }: ColumnsOfItems, rho: Seed, lift: Seed) {
    this.#lab = lab;
    this.#shape = shape;
    this.#columns = columns;
    const n = degreeOf(shape.set);
    this.#h = new Uint16Array(n);
    this.#c = new Int16Array(n);
    this.#functionals = new Functionals(lab, rho, n);
    this.#rho = lab.room(FUNCTIONALS * partsBytes(n));
    this.#links = new Links(lab, lift, shape.width);
    this.#onY = lab.room(FORM_BYTES);
    this.#onS = lab.room(FORM_BYTES);
    this.#staging = lab.vecs(LIFTS + 2, RUN);
  }

  /** @param items those of the block with a place in the columns, by their numbers */
  begin(items: ReadonlyMap<number, StatedItem>, alphas: Alphas): void {
    this.#items = items;
    this.#alphas = alphas;
  }

  /** The sums of <rho, c> so far. */
  sums(): number[] {
    return this.#functionals.sums();
  }

  /**
   * Folds places of a row of S and the corresponding ones of Y.
   *
   * @returns false for a bad key
   */
  foldRow(folding: Folding, seeds: OpenSeeds, { row, from: start, to: end }: Run): boolean {
    const lab = this.#lab;
    const { level, width } = this.#shape;
    const skipped = this.#columns.from;
    const rowOfY = firstRowOfY(level) + row;
    return lab.scope(() => {
      const { c, beta } = folding;
      const coefficients = [...folding.lifted(row), formAt(c, row), formAt(c, rowOfY)];
      const vectors = lab.addresses(this.#staging);
      const [onS, onY] = vectors.slice(LIFTS) as [number, number];
      this.#startLifts(seeds, vectors.slice(0, LIFTS));
      for (const [from, count] of portionsOf(start - (start % BLOCK_COLUMNS), end, RUN)) {
        const before = Math.max(0, start - from);
        // Whole blocks are added; the first and the last one also contain other columns.
        clearRest(lab, this.#staging, before);
        clearRest(lab, this.#staging, count);
        for (let column = before; column < count; ) {
          const place = row * level.n + from + column;
          const item = Math.floor(place / width);
          const t = place - width * item;
          const here = Math.min(width - t, count - column);
          if (!this.#prepareItem(item, t === 0, beta)) return false;
          lab.kernels.liftRun(column, place, t, here, this.#rho);
          const { taus, sigmaTaus } = this.#links;
          lab.kernels.multiplesToVec(onS, column, here, this.#onS, formAt(sigmaTaus, t));
          lab.kernels.multiplesToVec(onY, column, here, this.#onY, formAt(taus, t));
          column += here;
        }
        folding.addVectors(vectors, coefficients, from - skipped, count);
      }
      return true;
    });
  }

  /** Passes the values that are constant within a row to the module. */
  #startLifts({ jl }: OpenSeeds, vectors: readonly number[]): void {
    const { kernels } = this.#lab;
    const { set, width } = this.#shape;
    new Uint32Array(kernels.memory.buffer, kernels.LIFT.value, 8).set([
      ...jl.nonce(STREAM.projection, 0, 0),
      ...vectors,
      partsBytes(degreeOf(set)),
      width - 1,
    ]);
  }

  /**
   * Prepares the links and functionals of an item. The item enters the sums only at its first
   * place, and hence once.
   */
  #prepareItem(item: number, isFirst: boolean, beta: Forms): boolean {
    if (item === this.#item) return true;
    this.#item = item;
    const { set, profile } = this.#shape;
    const { publicKey, message, salt } = this.#items.get(item)!;
    if (typeof decodePublicKey(set, publicKey, this.#h) === 'string') return false;
    if (isFirst) this.#alphas.addTo(this.alphas, item);
    // The sums are those of <rho_i, c_i>.
    const c = this.#c.fill(0);
    if (isFirst) centre(hashToPoint(set, salt, message, profile, new Uint16Array(c.buffer)));
    this.#functionals.write(item, this.#h, this.#rho, c);
    this.#links.combined(item, this.#alphas.form(item), beta, this.#onY, this.#onS);
    return true;
  }
}

/** Turns residues mod p into the words of integers from -(p - 1)/2 to (p - 1)/2. */
function centre(words: Uint16Array): void {
  for (const [i, word] of words.entries()) if (word > FALCON_Q >> 1) words[i] = word - FALCON_Q;
}

/** Folds W at a block: psi of the lifts and -alpha of N1, at both digits of w_i. */
function foldNorms(
  folding: Folding,
  { level, bucket }: ItemsShape,
  columns: Columns,
  { lift }: OpenSeeds,
  alphas: Alphas,
): void {
  const { lab, beta } = folding;
  const { kernels } = lab;
  const { n } = level;
  const firstRow = firstRows(level)[PART.W]!;
  const isHere = (place: number): boolean => place % n >= columns.from && place % n < columns.to;
  const add = (place: number, form: number): void =>
    folding.add(firstRow + Math.floor(place / n), (place % n) - columns.from, form);
  lab.scope(() => {
    const psi = lab.coefs(1);
    lab.i64(psi).fill(0n);
    const [sum, form] = [lab.room(FORM_BYTES), lab.room(FORM_BYTES)];
    const shift = constantForm(lab, 1n << BigInt(NORM_DIGIT_BITS));
    const negative = constantForm(lab, -1n);
    for (let i = alphas.block.from; i < alphas.block.to; i++) {
      const [low, high] = [isHere(i), isHere(bucket + i)];
      if (!low && !high) continue;
      kernels.mulForm(sum, alphas.form(i), negative);
      for (let k = 0; k < LIFTS; k++) {
        samplePsi(lab, lift, k, i, psi.at);
        kernels.coefsToForm(form, psi.at);
        kernels.mulForm(form, form, formAt(beta, k));
        kernels.addForm(sum, sum, form);
      }
      if (low) add(i, sum);
      if (!high) continue;
      kernels.mulForm(sum, sum, shift);
      add(bucket + i, sum);
    }
  });
}
