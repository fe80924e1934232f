/**
 * Places in a JSON text: where it stops being JSON, and where the elements of its array begin. Engines word their own
 * messages differently and count differently, and none says where an element is.
 */

/** A place as editors count it, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** @returns line and column of an offset into the text. */
export function placeOf(text: string, offset: number): Place {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

/** What a walk over a JSON text found. */
export interface JsonPlaces {
  /** Offsets at which the elements of the outermost array begin; none if it is no array. */
  readonly elements: readonly number[];
  /** The first fault of syntax. */
  readonly fault?: { readonly offset: number; readonly message: string };
}

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** What a string cannot just go on over: its end, an escape, a control character (which JSON forbids). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these
const STOP = /["\\\u0000-\u001f]/g;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
const BLANK = /[ \t\n\r]*/y;

/** What may come next at the innermost level. */
type Expecting = 'value' | 'valueOrEnd' | 'nameOrEnd' | 'name' | 'colon' | 'commaOrEnd';

/** Walks a text, of any nesting, without recursion. */
export function jsonPlaces(text: string): JsonPlaces {
  const elements: number[] = [];
  const open: ('[' | '{')[] = [];
  let expecting = 'value' as Expecting;
  let at = skip(BLANK, text, 0);
  const fault = (message: string): JsonPlaces => ({ elements, fault: { offset: at, message } });

  while (at < text.length) {
    const char = text[at]!;
    const inside = open.at(-1);
    if (expecting === 'commaOrEnd') {
      if (inside === undefined) return fault('nothing may follow the end of the array');
      if (char === ',') {
        expecting = inside === '[' ? 'value' : 'name';
        at++;
      } else if (char === closerOf(inside)) {
        open.pop();
        expecting = 'commaOrEnd';
        at++;
      } else return fault(`a comma or ${closerOf(inside)} is expected here`);
    } else if (expecting === 'colon') {
      if (char !== ':') return fault('a colon is expected here');
      expecting = 'value';
      at++;
    } else if (expecting === 'name' || expecting === 'nameOrEnd') {
      if (char === '}' && expecting === 'nameOrEnd') {
        open.pop();
        expecting = 'commaOrEnd';
        at++;
      } else {
        const end = char === '"' ? endOfString(text, at) : at;
        if (end === at) return fault('a name in double quotes is expected here');
        expecting = 'colon';
        at = end;
      }
    } else if (char === ']' && expecting === 'valueOrEnd') {
      open.pop();
      expecting = 'commaOrEnd';
      at++;
    } else {
      if (open.length === 1 && inside === '[') elements.push(at);
      if (char === '[' || char === '{') {
        open.push(char);
        expecting = char === '[' ? 'valueOrEnd' : 'nameOrEnd';
        at++;
      } else {
        const end = char === '"' ? endOfString(text, at) : skip(LITERAL, text, at);
        if (end === at) {
          return fault(
            char === '"' ? 'this string does not end properly' : 'a value is expected here',
          );
        }
        expecting = 'commaOrEnd';
        at = end;
      }
    }
    at = skip(BLANK, text, at);
  }
  if (open.length > 0 || expecting !== 'commaOrEnd') {
    return fault(text.trim() === '' ? 'the file is empty' : 'the file ends too early');
  }
  return { elements };
}

const closerOf = (open: '[' | '{') => (open === '[' ? ']' : '}');

/** Where a match that begins at `at` ends; `at` itself if there is none. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Where the string that begins at `at` ends; `at` itself if it does not. Looks at each character once. */
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
