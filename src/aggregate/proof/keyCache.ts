/**
 * A cache of transformed commitment keys, kept between proofs. The matrix of keys
 * (docs/protocol.md, 6.1) is the same for all proofs, so expanded keys need only be copied. A
 * thread keeps the blocks of 32 columns that it encounters first, up to its limit; the next proof
 * encounters them in the same order. Without a holder the limit is 0.
 */
import { BLOCK_BYTES, BLOCK_COLUMNS, type Labrador } from '../wasm.ts';
import type { Columns } from './columns.ts';
import { STREAM } from './transcript.ts';

/** The seed of the matrix. */
interface KeysSeed {
  start(type: number, sub: number, index: number): void;
}

/** Exceeds the number of blocks in a row of any matrix. */
const ROW = 65_536;

const kept = new Map<number, Uint8Array>();
let limit = 0;

/**
 * Raises the limit of this thread by a number of bytes of keys.
 *
 * @returns a function that reverts this; only its first call counts
 */
export function holdKeys(bytes: number): () => void {
  limit += bytes;
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    limit -= bytes;
    if (keptKeyBytes() > limit) kept.clear();
  };
}

/** Bytes of keys that this thread currently keeps. */
export const keptKeyBytes = (): number => BLOCK_BYTES * kept.size;

/**
 * Writes columns `from` (a multiple of 32) to `to - 1` of the first rows of the matrix of keys, in
 * NTT form, starting at column 0 of each of the rows at the addresses. All keys are made here.
 *
 * @param first the first row to write; the rows before it have been written
 */
export function writeKeys(
  lab: Labrador,
  keys: KeysSeed,
  rows: readonly number[],
  columns: Columns,
  first = 0,
): void {
  for (let row = first; row < rows.length; row++) writeRow(lab, keys, row, columns, rows[row]!);
}

function writeRow(
  lab: Labrador,
  keys: KeysSeed,
  row: number,
  { from, to }: Columns,
  at: number,
): void {
  const expand = (first: number, end: number): void => {
    keys.start(STREAM.keys, 0, row);
    // The kernel writes column c of the stream as column c.
    lab.kernels.expandKey(at - BLOCK_BYTES * (from / BLOCK_COLUMNS), first, end - first);
  };
  const address = (column: number): number => at + (BLOCK_BYTES * (column - from)) / BLOCK_COLUMNS;
  let missing = from;
  for (let column = from; column + BLOCK_COLUMNS <= to; column += BLOCK_COLUMNS) {
    const block = kept.get(ROW * row + column / BLOCK_COLUMNS);
    if (block === undefined) continue;
    expand(missing, column);
    keep(lab, row, missing, column, address);
    lab.bytes(address(column), BLOCK_BYTES).set(block);
    missing = column + BLOCK_COLUMNS;
  }
  expand(missing, to);
  keep(lab, row, missing, to, address);
}

/** Keeps the whole blocks among these columns while there is room. */
function keep(
  lab: Labrador,
  row: number,
  from: number,
  to: number,
  address: (column: number) => number,
): void {
  for (let column = from; column + BLOCK_COLUMNS <= to; column += BLOCK_COLUMNS) {
    if (keptKeyBytes() + BLOCK_BYTES > limit) return;
    kept.set(ROW * row + column / BLOCK_COLUMNS, lab.bytes(address(column), BLOCK_BYTES).slice());
  }
}
