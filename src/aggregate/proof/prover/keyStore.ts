/**
 * The part of the matrix of commitment keys (docs/protocol.md, 6.1) that the levels of a proof
 * share, in NTT form: each block of columns is expanded at its first use, and kept.
 */
import { BLOCK_BYTES, BLOCK_COLUMNS, type Labrador, type Vecs } from '../../wasm.ts';
import { keysSeed } from '../challenges.ts';
import type { Columns } from '../columns.ts';
import { rowBytes } from '../forms.ts';
import { writeKeys } from '../keyCache.ts';

export class KeyStore {
  readonly #lab: Labrador;
  readonly #rows: number;
  readonly #columns: number;
  readonly #at: number;
  /** number of expanded rows of each block of columns */
  readonly #made: Uint8Array;

  /** Allocates room for the first rows and columns. Valid until the enclosing scope ends. */
  constructor(lab: Labrador, rows: number, columns: number) {
    this.#lab = lab;
    this.#rows = rows;
    this.#columns = columns;
    this.#at = lab.room(rows * rowBytes(columns));
    this.#made = new Uint8Array(Math.ceil(columns / BLOCK_COLUMNS));
  }

  /**
   * Returns columns `from` (a multiple of 32) to `to - 1` of the first rows. The last block
   * contains further keys after `to`.
   *
   * @returns undefined if there is not enough room
   */
  take(rows: number, { from, to }: Columns): Vecs | undefined {
    if (rows > this.#rows || to > this.#columns) return undefined;
    const [first, end] = [from / BLOCK_COLUMNS, Math.ceil(to / BLOCK_COLUMNS)];
    this.#make(rows, first, end);
    const stride = rowBytes(this.#columns);
    const at = this.#at + BLOCK_BYTES * first;
    return { kind: 'vecs', at, rows, columns: to - from, blocks: end - first, stride };
  }

  #make(rows: number, first: number, end: number): void {
    const lab = this.#lab;
    const stride = rowBytes(this.#columns);
    lab.scope(() => {
      const keys = keysSeed(lab);
      for (let block = first; block < end; block++) {
        const made = this.#made[block]!;
        if (made >= rows) continue;
        const from = BLOCK_COLUMNS * block;
        const addresses = Array.from({ length: rows }, (_, row) => {
          return this.#at + stride * row + BLOCK_BYTES * block;
        });
        writeKeys(lab, keys, addresses, { from, to: from + BLOCK_COLUMNS }, made);
        this.#made[block] = rows;
      }
    });
  }
}
