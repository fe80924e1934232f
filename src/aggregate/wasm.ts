/**
 * Labrador's module: creates an instance, allocates in its arena, and calls its kernels on the
 * allocations, which are opaque handles.
 *
 *   Smalls   i16[n][64]      small coefficients: digits, signatures, challenges
 *   Coefs    i64[n][64]      polynomials mod q, centred
 *   Forms    i16[n][6][64]   individual NTT forms
 *   Sums     i32[n][6][64]   sums of products of NTT forms
 *   Vecs     rows of columns in NTT form, interleaved for products
 *
 * A handle is valid until the scope that allocated it ends. Any allocation may grow the memory,
 * after which the views returned by `i16`, `i64` and `bytes` are stale. Everything in this memory
 * is public.
 */

import { CodedError } from '../shared/errors.ts';
import type { WasmModule } from '../shared/hostTypes.ts';
import { bestModule, type ModuleName, moduleLoader } from '../shared/wasmLoader.ts';
import { EDITS } from './labrador.relaxed.wasm.gen.ts';
import { type LabradorExports, MODULE } from './labrador.wasm.gen.ts';

export { bestModule, type ModuleName } from '../shared/wasmLoader.ts';

interface Region {
  readonly at: number;
  /** Number of polynomials. */
  readonly count: number;
}
export interface Smalls extends Region {
  readonly kind: 'smalls';
}
export interface Coefs extends Region {
  readonly kind: 'coefs';
}
export interface Forms extends Region {
  readonly kind: 'forms';
}
export interface Sums extends Region {
  readonly kind: 'sums';
}
export interface Vecs {
  readonly kind: 'vecs';
  readonly at: number;
  readonly rows: number;
  readonly columns: number;
  /** Number of blocks of 32 columns in a row. */
  readonly blocks: number;
  /** Distance between rows in bytes. */
  readonly stride: number;
}

/** Bytes of one polynomial of each kind. */
export const SMALL_BYTES = 128;
export const COEFS_BYTES = 512;
export const FORM_BYTES = 768;
export const SUM_BYTES = 1536;
/** Columns in a block of a row, and the block's bytes. */
export const BLOCK_COLUMNS = 32;
export const BLOCK_BYTES = BLOCK_COLUMNS * FORM_BYTES;
/** Maximum number of rows in one call of the module's `combine`. */
const MAX_COMBINED = 32;
/** Bytes of the prepared coefficients of two rows. */
const COEFFICIENT_PAIR_BYTES = 4 * FORM_BYTES;

const loader = /* @__PURE__ */ moduleLoader({
  plain: MODULE,
  relaxed: EDITS,
  file: 'falconry/labrador.wasm',
  setter: 'useLabradorModule',
  landmark: 'xofStart',
});

/** Implements `useLabradorModule` of index.ts. */
export const useModule = (module: WasmModule): void => loader.use(module);

/** An instance and its arena. Threads do not share it, and its calls never overlap. */
export class Labrador {
  /** The kernels; pass the `at` of handles as arguments. */
  readonly kernels: LabradorExports;
  readonly #rowsAt: number;
  #peak = 0;

  constructor(name: ModuleName = bestModule()) {
    const { exports } = loader.instantiate(name);
    this.kernels = exports as unknown as LabradorExports;
    this.#rowsAt = this.kernels.ROWS.value;
  }

  /** Size of the memory in bytes. Memory never shrinks. */
  get memoryBytes(): number {
    return this.kernels.memory.buffer.byteLength;
  }

  /** Maximum number of bytes in use since `beginCount`. */
  get peakBytes(): number {
    return this.#peak;
  }

  beginCount(): void {
    this.#peak = this.kernels.mark() >>> 0;
  }

  /**
   * Reserves `bytes` more with a single growth of memory, because each growth costs a garbage
   * collection.
   *
   * @throws CodedError `OUT_OF_MEMORY` when memory cannot grow
   */
  reserve(bytes: number): void {
    const mark = this.kernels.mark();
    if (this.kernels.alloc(bytes) === 0) throw new CodedError('OUT_OF_MEMORY');
    this.kernels.reset(mark);
  }

  /** Runs `body`, then frees everything that it allocated. @returns the result of `body` */
  scope<T>(body: () => T): T {
    const mark = this.kernels.mark();
    try {
      return body();
    } finally {
      this.kernels.reset(mark);
    }
  }

  /**
   * Allocates `bytes` bytes, which are zero if `zeroed`. @returns their address
   * @throws CodedError `OUT_OF_MEMORY` when memory cannot grow
   */
  room(bytes: number, zeroed = false): number {
    const at = zeroed ? this.kernels.allocZero(bytes) : this.kernels.alloc(bytes);
    if (at === 0) throw new CodedError('OUT_OF_MEMORY');
    const from = at >>> 0;
    this.#peak = Math.max(this.#peak, from + bytes);
    return from;
  }

  smalls(count: number): Smalls {
    return { kind: 'smalls', at: this.room(SMALL_BYTES * count), count };
  }

  coefs(count: number): Coefs {
    return { kind: 'coefs', at: this.room(COEFS_BYTES * count), count };
  }

  forms(count: number): Forms {
    return { kind: 'forms', at: this.room(FORM_BYTES * count), count };
  }

  /** Allocates sums, initialised to zero. */
  sums(count: number): Sums {
    return { kind: 'sums', at: this.room(SUM_BYTES * count, true), count };
  }

  /** Allocates rows of zeros. */
  vecs(rows: number, columns: number): Vecs {
    const blocks = Math.ceil(columns / BLOCK_COLUMNS);
    const stride = BLOCK_BYTES * blocks;
    return { kind: 'vecs', at: this.room(stride * rows, true), rows, columns, blocks, stride };
  }

  /** Returns the address of a row. */
  row(vecs: Vecs, row: number): number {
    return vecs.at + row * vecs.stride;
  }

  /** Returns the addresses of all rows. */
  addresses(vecs: Vecs): number[] {
    return Array.from({ length: vecs.rows }, (_, row) => this.row(vecs, row));
  }

  /** Returns the coefficients of small polynomials; stale after the next allocation. */
  i16(smalls: Smalls): Int16Array<ArrayBuffer> {
    return new Int16Array(this.#buffer, smalls.at, 64 * smalls.count);
  }

  /** Returns the coefficients mod q; stale after the next allocation. */
  i64(coefs: Coefs): BigInt64Array<ArrayBuffer> {
    return new BigInt64Array(this.#buffer, coefs.at, 64 * coefs.count);
  }

  /** Returns the bytes at an address; stale after the next allocation. */
  bytes(at: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffer, at, length);
  }

  get #buffer(): ArrayBuffer {
    return this.kernels.memory.buffer;
  }

  /** Copies bytes into memory. @returns their address */
  put(data: Uint8Array): number {
    const at = this.room(data.length);
    this.bytes(at, data.length).set(data);
    return at;
  }

  /** Selects a stream by its key, 32 bytes at an address, and words 13 and 14 of its state. */
  stream(keyAt: number, word13: number, word14: number): void {
    this.kernels.xofStart(keyAt, word13, word14, 0);
  }

  /** sums[i][j] += <x_i, y_j> for all rows of both; there are x.rows * y.rows sums. */
  products(sums: Sums, x: Vecs, y: Vecs): void {
    requireShapes(x.blocks === y.blocks && sums.count === x.rows * y.rows, 'products');
    this.kernels.products(sums.at, x.at, x.rows, x.stride, y.at, y.rows, y.stride, x.blocks);
  }

  /** sums += <s_a, s_b>, a <= b, in the order (0,0), (0,1), ..., (1,1), ... */
  pairProducts(sums: Sums, s: Vecs): void {
    requireShapes(sums.count === (s.rows * (s.rows + 1)) / 2, 'pairProducts');
    this.kernels.pairProducts(sums.at, s.at, s.rows, s.stride, s.blocks);
  }

  /**
   * Row `row` of out = sum of c_a x_a. The x_a are at the addresses `rows` and have the length of
   * that row, which may be one of them only if there are at most 32: the first kernel call
   * overwrites it.
   */
  combine(out: Vecs, row: number, rows: readonly number[], c: Forms): void {
    const isOneCall = rows.length <= MAX_COMBINED;
    requireShapes(rows.length === c.count && rows.length > 0, 'combine');
    requireShapes(isOneCall || !rows.includes(this.row(out, row)), 'combine');
    this.scope(() => {
      const { kernels } = this;
      const extra = this.forms(2); // 0 for a missing partner, 1 for the sum so far
      const one = this.smalls(2);
      this.i16(one).fill(0)[64] = 1;
      kernels.smallsToForms(extra.at, one.at, 2);
      const prepared = this.room(COEFFICIENT_PAIR_BYTES * (MAX_COMBINED / 2));
      const target = this.row(out, row);
      // From the second call onwards, `out` is one of the summands.
      for (let from = 0; from < rows.length; ) {
        const vectors = from === 0 ? [] : [target];
        const forms = from === 0 ? [] : [extra.at + FORM_BYTES];
        for (; vectors.length < MAX_COMBINED && from < rows.length; from++) {
          vectors.push(rows[from]!);
          forms.push(c.at + FORM_BYTES * from);
        }
        if (vectors.length % 2 === 1) {
          vectors.push(vectors[0]!);
          forms.push(extra.at);
        }
        new Uint32Array(this.#buffer, this.#rowsAt, MAX_COMBINED).set(vectors);
        for (const i of Array(forms.length / 2).keys()) {
          const pair = prepared + COEFFICIENT_PAIR_BYTES * i;
          kernels.prepareCoefficients(pair, forms[2 * i]!, forms[2 * i + 1]!);
        }
        kernels.combine(target, vectors.length, prepared, out.blocks);
      }
    });
  }

  /** Returns the exact squared norm of small polynomials. */
  normSq(smalls: Smalls): bigint {
    return this.scope(() => {
      const at = this.room(8);
      this.kernels.normSq(at, smalls.at, smalls.count);
      return new BigInt64Array(this.#buffer, at, 1)[0]!;
    });
  }
}

function requireShapes(holds: boolean, what: string): void {
  if (!holds) {
    throw new CodedError('INTERNAL', { cause: new RangeError(`${what}: shapes do not fit`) });
  }
}
