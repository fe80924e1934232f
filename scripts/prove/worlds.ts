/**
 * What an observer may know of a run: each value is known, or seen (it depends on nothing but what
 * control flow has revealed), or has bits that may depend on secrets. Globals and memory have such
 * values, too; a byte of memory is a cell.
 */

/** The bounds of a signed number, both included. */
export type Range = readonly [low: bigint, high: bigint];

/** What a comparison has compared. */
export interface Test {
  readonly name: string;
  readonly a: Value;
  readonly b: Value;
}

/** A number that isn't known, and which of its bits may depend on secrets. */
export class Unknown {
  readonly secret: bigint;
  /** Of a number without secrets. */
  readonly range: Range | undefined;
  /** Of the result of a comparison. */
  readonly test: Test | undefined;

  constructor(secret: bigint, range?: Range, test?: Test) {
    this.secret = secret;
    this.range = range;
    this.test = test;
  }
}

export const SEEN = new Unknown(0n);
export const SECRET = new Unknown(-1n);

/** A cell that isn't a known byte. */
export const SEEN_CELL = 256;
export const SECRET_CELL = 257;

/** The 16 cells of a vector. */
export type Cells = readonly number[];
export type Value = bigint | Unknown | Cells;

export const isCells = (value: Value): value is Cells => Array.isArray(value);
export const unknown = (secret: bigint): Unknown => (secret === 0n ? SEEN : new Unknown(secret));

export function rangeOf(value: Value | undefined): Range | undefined {
  return typeof value === 'bigint' ? [value, value] : (value as Partial<Unknown>)?.range;
}

/** The same, as another object: not known to be equal to any other. */
export const fresh = <T extends Value>(value: T): T | Unknown =>
  value instanceof Unknown && value.range !== undefined ? new Unknown(0n, value.range) : value;

/** The same without bounds. */
export const plain = <T extends Value>(value: T): T | Unknown =>
  value instanceof Unknown && value.range !== undefined ? SEEN : value;

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** The bits of a number that may depend on secrets. */
export const secretOf = (value: Value): bigint => (value instanceof Unknown ? value.secret : 0n);

/** Whether some bit may depend on secrets. */
export function isSecret(value: Value): boolean {
  if (typeof value === 'bigint') return false;
  return value instanceof Unknown ? value.secret !== 0n : value.includes(SECRET_CELL);
}

/** The cells of a number of so many bytes, the lowest first. */
export function cellsOf(value: Value, size: number): Cells {
  if (isCells(value)) return value;
  return Array.from({ length: size }, (_, i) => {
    if (typeof value === 'bigint') return Number((value >> BigInt(8 * i)) & 255n);
    return ((value.secret >> BigInt(8 * i)) & 255n) === 0n ? SEEN_CELL : SECRET_CELL;
  });
}

/** The signed number of some cells. */
export function numberOf(cells: Cells): bigint | Unknown {
  if (cells.includes(SECRET_CELL)) return SECRET;
  if (cells.includes(SEEN_CELL)) return SEEN;
  const bits = cells.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  return BigInt.asIntN(8 * cells.length, bits);
}

const joinCells = (a: number, b: number): number => (a === b ? a : Math.max(a, b, SEEN_CELL));

/** What is true of both values, when control flow has revealed which one it is. */
export function join(a: Value, b: Value): Value {
  if (a === b) return a;
  if (isCells(a) && isCells(b)) return a.map((cell, i) => joinCells(cell, b[i]!));
  const [first, second] = [rangeOf(a), rangeOf(b)];
  if (first === undefined || second === undefined) return unknown(secretOf(a) | secretOf(b));
  return new Unknown(0n, [least(first[0], second[0]), most(first[1], second[1])]);
}

export function isEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a instanceof Unknown) {
    const isSameRange = (one: Unknown) =>
      one.range?.[0] === a.range?.[0] && one.range?.[1] === a.range?.[1];
    return b instanceof Unknown && a.secret === b.secret && isSameRange(b);
  }
  return isCells(a) && isCells(b) && a.every((cell, i) => cell === b[i]);
}

const PAGE = 1024;

export interface Page {
  readonly owner: object;
  readonly cells: Uint16Array;
}

/** Memory and globals; copies share the pages that neither of them has written since. */
export class World {
  readonly globals: Value[];
  readonly #pages: Page[];
  #owner = {};
  /** Pages that were read or written, of the innermost call. */
  touched: Set<number>;

  constructor(globals: readonly Value[], pages: readonly Page[], touched = new Set<number>()) {
    this.globals = [...globals];
    this.#pages = [...pages];
    this.touched = touched;
  }

  /** A world of these cells. */
  static of(globals: readonly Value[], cells: Uint16Array): World {
    const owner = {};
    const pages = Array.from({ length: cells.length / PAGE }, (_, i) => ({
      ...{ owner, cells: cells.subarray(PAGE * i, PAGE * i + PAGE) },
    }));
    return new World(globals, pages);
  }

  copy(): World {
    this.#owner = {};
    return new World(this.globals, this.#pages, this.touched);
  }

  #page(at: number): Page {
    const page = this.#pages[Math.floor(at / PAGE)];
    if (page === undefined) throw new Error(`address ${at} is out of bounds`);
    this.touched.add(Math.floor(at / PAGE));
    return page;
  }

  load(at: number, size: number): Cells {
    return Array.from({ length: size }, (_, i) => this.#page(at + i).cells[(at + i) % PAGE]!);
  }

  store(at: number, cells: Cells): void {
    cells.forEach((cell, i) => {
      let page = this.#page(at + i);
      if (page.owner !== this.#owner) {
        page = { owner: this.#owner, cells: page.cells.slice() };
        this.#pages[Math.floor((at + i) / PAGE)] = page;
      }
      page.cells[(at + i) % PAGE] = cell;
    });
  }

  /** The cells from one address to another that may have been replaced by some. */
  blur(from: number, to: number, by: Cells): void {
    const cell = by.includes(SECRET_CELL) ? SECRET_CELL : SEEN_CELL;
    for (let at = from; at < to; at++) {
      const old = this.#page(at).cells[at % PAGE]!;
      if (old < cell) this.store(at, [cell]);
    }
  }

  /** What is from one address to another is revealed. */
  reveal(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      if (this.#page(at).cells[at % PAGE] === SECRET_CELL) this.store(at, [SEEN_CELL]);
    }
  }

  /** Whether a cell from one address to another may depend on secrets. */
  isSecret(from: number, to: number): boolean {
    for (let at = from; at < to; at++) {
      if (this.#page(at).cells[at % PAGE] === SECRET_CELL) return true;
    }
    return false;
  }

  /** Those of the pages that were touched that differ: other pages are shared. */
  #differences(other: World): number[] {
    return [...this.touched].filter((number) =>
      differ(this.#pages[number]!, other.#pages[number]!),
    );
  }

  /** Whether two worlds of the same call are the same. */
  isEqual(other: World): boolean {
    return areEqual(this.globals, other.globals) && this.#differences(other).length === 0;
  }

  /** Joins another world of the same call into this one. */
  join(other: World): void {
    other.globals.forEach((value, i) => {
      this.globals[i] = plain(join(this.globals[i]!, value));
    });
    for (const number of this.#differences(other)) {
      const { cells } = other.#pages[number]!;
      const joined = this.#pages[number]!.cells.map((cell, i) => joinCells(cell, cells[i]!));
      this.#pages[number] = { owner: this.#owner, cells: joined };
    }
  }

  /** Globals and some pages, as they are now. */
  part(among: Iterable<number>): Part {
    this.#owner = {};
    const pages = [...among].map((number): [number, Page] => [number, this.#pages[number]!]);
    return { globals: [...this.globals], pages };
  }

  /** Whether a part is the same here. */
  has({ globals, pages }: Part): boolean {
    const isSame = ([number, page]: readonly [number, Page]) => !differ(page, this.#pages[number]!);
    return areEqual(globals, this.globals) && pages.every(isSame);
  }

  /** Takes a part over. */
  adopt({ globals, pages }: Part): void {
    this.globals.splice(0, globals.length, ...globals);
    for (const [number, page] of pages) {
      this.touched.add(number);
      this.#pages[number] = page;
    }
  }
}

const differ = (a: Page, b: Page): boolean =>
  a !== b && a.cells.some((cell, i) => cell !== b.cells[i]);

/** Whether two lists of values are the same. */
export const areEqual = (a: readonly Value[], b: readonly Value[]): boolean =>
  a.every((value, i) => isEqual(value, b[i]!));

/** Of a world. */
export interface Part {
  readonly globals: readonly Value[];
  readonly pages: readonly (readonly [number: number, page: Page])[];
}

/** The addresses of a page. */
export const addressesOf = (page: number): number[] =>
  Array.from({ length: PAGE }, (_, i) => PAGE * page + i);
