/**
 * Finds the first syntax error of a JSON text, and the offsets of its array's elements. Engines
 * report errors differently, and none reports where an element begins.
 */

/** @returns line and column of an offset into the text, from 1 as in editors */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

interface JsonPlaces {
  /** Offsets at which the elements of the outermost array begin; empty for anything else. */
  readonly elements: readonly number[];
  /** The first syntax error. */
  readonly fault?: { readonly offset: number; readonly message: string };
}

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Ends or interrupts a string: a quote, an escape, a control character (invalid in JSON). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these
const STOP = /["\\\u0000-\u001f]/g;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
const BLANK = /[ \t\n\r]*/y;

/** Walks a text, of any nesting, without recursion. */
export function jsonPlaces(text: string): JsonPlaces {
  const elements: number[] = [];
  const open: ('[' | '{')[] = [];
  let expected: 'value' | 'name' | 'colon' | 'comma' = 'value';
  /** True if the innermost array or object may end here. */
  let mayEnd = false;
  let at = skip(BLANK, text, 0);
  const fail = (message: string) => ({ elements, fault: { offset: at, message } });
  while (at < text.length) {
    const char = text[at]!;
    const inside = open.at(-1);
    const closer = inside === '[' ? ']' : '}';
    let end = at + 1;
    if (mayEnd && inside !== undefined && char === closer) {
      open.pop();
      expected = 'comma';
    } else if (expected === 'comma') {
      if (inside === undefined) return fail('nothing may follow the end of the array');
      if (char !== ',') return fail(`expected a comma or ${closer}`);
      expected = inside === '[' ? 'value' : 'name';
      mayEnd = false;
    } else if (expected === 'colon') {
      if (char !== ':') return fail('expected a colon');
      expected = 'value';
    } else if (expected === 'name') {
      end = char === '"' ? endOfString(text, at) : at;
      if (end === at) return fail('expected a name in double quotes');
      expected = 'colon';
      mayEnd = false;
    } else {
      if (open.length === 1 && inside === '[') elements.push(at);
      mayEnd = true;
      if (char === '[' || char === '{') {
        open.push(char);
        expected = char === '[' ? 'value' : 'name';
      } else {
        end = char === '"' ? endOfString(text, at) : skip(LITERAL, text, at);
        if (end === at)
          return fail(char === '"' ? 'this string does not end properly' : 'expected a value');
        expected = 'comma';
      }
    }
    at = skip(BLANK, text, end);
  }
  if (open.length === 0 && expected === 'comma') return { elements };
  return fail(text.trim() === '' ? 'the file is empty' : 'the file ends too early');
}

/** Returns the end of the match at `at`, or `at` if there is none. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Returns the end of the string at `at`, or `at` if it is malformed. Linear, without a stack. */
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
