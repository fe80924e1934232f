/**
 * Places in a JSON text: where its first fault is, and where the elements of its array begin. Error
 * messages differ between engines, and none says where an element is.
 */

/** A place as in editors, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** @returns line and column of an offset into the text */
export function placeOf(text: string, offset: number): Place {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

/** The places found in a JSON text. */
export interface JsonPlaces {
  /** Offsets at which the elements of the outermost array begin; empty for anything else. */
  readonly elements: readonly number[];
  /** The first fault of syntax. */
  readonly fault?: { readonly offset: number; readonly message: string };
}

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Interrupts a string: its end, an escape, a control character (which JSON forbids). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these
const STOP = /["\\\u0000-\u001f]/g;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
const BLANK = /[ \t\n\r]*/y;

/** The tokens that may come next at the innermost level. */
type Expecting = 'value' | 'valueOrEnd' | 'nameOrEnd' | 'name' | 'colon' | 'commaOrEnd';

/** Walks a text, of any nesting, without recursion. */
export function jsonPlaces(text: string): JsonPlaces {
  const walk = new Walk(text);
  const message = walk.run();
  const { elements, at } = walk;
  return message === null ? { elements } : { elements, fault: { offset: at, message } };
}

class Walk {
  readonly elements: number[] = [];
  /** The current offset; after a fault, that of the fault. */
  at = 0;
  readonly #text: string;
  readonly #open: ('[' | '{')[] = [];
  #expecting: Expecting = 'value';

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns the first fault, or null */
  run(): string | null {
    this.#skipBlanks();
    while (this.at < this.#text.length) {
      const fault = this.#step(this.#text[this.at]!);
      if (fault !== null) return fault;
      this.#skipBlanks();
    }
    if (this.#open.length === 0 && this.#expecting === 'commaOrEnd') return null;
    return this.#text.trim() === '' ? 'the file is empty' : 'the file ends too early';
  }

  #step(char: string): string | null {
    switch (this.#expecting) {
      case 'commaOrEnd':
        return this.#commaOrEnd(char);
      case 'colon':
        return char === ':' ? this.#go('value') : 'expected a colon';
      case 'nameOrEnd':
        if (char === '}') return this.#close();
        return this.#name(char);
      case 'name':
        return this.#name(char);
      case 'valueOrEnd':
        if (char === ']') return this.#close();
        return this.#value(char);
      case 'value':
        return this.#value(char);
    }
  }

  #commaOrEnd(char: string): string | null {
    const inside = this.#open.at(-1);
    if (inside === undefined) return 'nothing may follow the end of the array';
    if (char === ',') return this.#go(inside === '[' ? 'value' : 'name');
    return char === closerOf(inside) ? this.#close() : `expected a comma or ${closerOf(inside)}`;
  }

  #name(char: string): string | null {
    const end = char === '"' ? endOfString(this.#text, this.at) : this.at;
    return end === this.at ? 'expected a name in double quotes' : this.#go('colon', end);
  }

  #value(char: string): string | null {
    if (this.#open.length === 1 && this.#open[0] === '[') this.elements.push(this.at);
    if (char === '[' || char === '{') {
      this.#open.push(char);
      return this.#go(char === '[' ? 'valueOrEnd' : 'nameOrEnd');
    }
    const isString = char === '"';
    const end = isString ? endOfString(this.#text, this.at) : skip(LITERAL, this.#text, this.at);
    if (end > this.at) return this.#go('commaOrEnd', end);
    return isString ? 'this string does not end properly' : 'expected a value';
  }

  #close(): null {
    this.#open.pop();
    return this.#go('commaOrEnd');
  }

  #go(expecting: Expecting, to = this.at + 1): null {
    this.#expecting = expecting;
    this.at = to;
    return null;
  }

  #skipBlanks(): void {
    this.at = skip(BLANK, this.#text, this.at);
  }
}

const closerOf = (open: '[' | '{') => (open === '[' ? ']' : '}');

/** The end of a match that begins at `at`, or `at` itself if there is none. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/**
 * The end of the string that begins at `at`, or `at` itself if it does not end properly. Looks at
 * each character once.
 */
function endOfString(text: string, at: number): number {
  for (let from = at + 1; ; ) {
    STOP.lastIndex = from;
    if (!STOP.test(text)) return at;
    const stop = STOP.lastIndex - 1;
    if (text[stop] === '"') return stop + 1;
    from = text[stop] === '\\' ? skip(ESCAPE, text, stop) : stop;
    if (from === stop) return at;
  }
}
