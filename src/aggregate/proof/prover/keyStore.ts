/**
 * The part of the matrix of commitment keys (docs/protocol.md, 6.1) that the levels of a proof
 * share, in NTT form: each block of its columns is made when it is first taken, and kept.
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
  /** how many rows of each block of columns are made */
  readonly #made: Uint8Array;

  /** Room for the first rows and columns. Lives as long as the scope in which it is made. */
  constructor(lab: Labrador, rows: number, columns: number) {
    this.#lab = lab;
    this.#rows = rows;
    this.#columns = columns;
    this.#at = lab.room(rows * rowBytes(columns));
    this.#made = new Uint8Array(Math.ceil(columns / BLOCK_COLUMNS));
  }

  /**
   * Columns `from` (a multiple of 32) to `to - 1` of the first rows. The last block goes on with
   * keys beyond `to`.
   *
   * @returns undefined if there is no room for that many
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
