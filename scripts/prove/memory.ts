/** Memory of a run: bytes that are known, and cells that belong to a term. Little-endian. */
import type { Segment } from './decode.ts';
import type { Term, Terms } from './terms.ts';

/** Byte number `byte` of a term. */
interface Cell {
  readonly term: Term;
  readonly byte: number;
}

export class Memory {
  readonly bytes: Uint8Array;
  /** Addresses that were written since the last `watch`. */
  written = new Set<number>();
  /** Addresses of known bytes that were read since then. */
  read = new Set<number>();
  /** Those that were ever read. */
  readonly everRead = new Set<number>();
  /** Stores so far. */
  stores = 0;
  /** Refuses accesses. */
  guard: ((at: number, size: number) => void) | undefined;
  readonly #cells = new Map<number, Cell>();
  readonly #terms: Terms;

  constructor(terms: Terms, pages: number, data: readonly Segment[]) {
    this.#terms = terms;
    this.bytes = new Uint8Array(pages * 65536);
    for (const segment of data) this.bytes.set(segment.bytes, segment.at);
  }

  watch(): void {
    this.written = new Set();
    this.read = new Set();
  }

  cell(at: number): Cell | undefined {
    return this.#cells.get(at);
  }

  #check(at: number, size: number): void {
    if (at < 0 || at + size > this.bytes.length) throw new Error(`address ${at} is out of bounds`);
    this.guard?.(at, size);
  }

  store(at: number, term: Term): undefined {
    const size = term.width / 8;
    this.#check(at, size);
    this.stores++;
    for (let i = 0; i < size; i++) {
      this.written.add(at + i);
      if (term.value === undefined) this.#cells.set(at + i, { term, byte: i });
      else {
        this.bytes[at + i] = Number((term.value >> BigInt(8 * i)) & 255n);
        this.#cells.delete(at + i);
      }
    }
  }

  load(at: number, size: number): Term {
    this.#check(at, size);
    const first = this.#cells.get(at);
    let isKnown = first === undefined;
    let isRun = first !== undefined;
    for (let i = 1; i < size && (isKnown || isRun); i++) {
      const cell = this.#cells.get(at + i);
      if (cell !== undefined) isKnown = false;
      if (cell?.term !== first?.term || cell?.byte !== (first?.byte ?? 0) + i) isRun = false;
    }
    if (isKnown) return this.#constant(at, size);
    if (isRun) {
      const { term, byte } = first!;
      return byte === 0 && term.width === 8 * size
        ? term
        : this.#terms.extract(8 * size, term, 8 * byte);
    }
    return this.#terms.concat(this.load(at, size / 2), this.load(at + size / 2, size / 2));
  }

  #constant(at: number, size: number): Term {
    let value = 0n;
    for (let i = size - 1; i >= 0; i--) {
      this.read.add(at + i);
      this.everRead.add(at + i);
      value = (value << 8n) | BigInt(this.bytes[at + i]!);
    }
    return this.#terms.constant(8 * size, value);
  }

  /** The size of the term at an address, at most `limit`: how wide the lanes there are, in bits. */
  widthAt(at: number): number {
    for (let i = 0; i < 16; i++) {
      const cell = this.#cells.get(at + i);
      if (cell !== undefined) return Math.min(64, cell.term.width);
    }
    return 64;
  }

  copy(to: number, from: number, size: number): void {
    if (from < to && to < from + size) throw new Error('an overlapping copy');
    for (let i = 0; i < size; ) {
      const cell = this.#cells.get(from + i);
      const whole = cell !== undefined && cell.byte === 0 && cell.term.width / 8 <= size - i;
      const step = whole ? cell.term.width / 8 : 1;
      this.store(to + i, this.load(from + i, step));
      i += step;
    }
  }
}
