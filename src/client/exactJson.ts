/**
 * JSON with integers of any length. `JSON.parse` rounds integers beyond 2^53, such as ids of 18
 * digits; here they become bigints. Otherwise the results equal those of `JSON.parse`.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a JSON text.
 *
 * @returns the result of `JSON.parse`, but with bigints for integers (digits only, no fraction or
 *   exponent) that a number cannot represent exactly
 * @throws SyntaxError where JSON.parse does
 * @example
 * ```ts
 * parseExactJson('{"id":123456789012345678,"n":1}'); // { id: 123456789012345678n, n: 1 }
 * ```
 */
export function parseExactJson(text: string): unknown {
  // 2^53 has 16 digits. Hex in strings may match as well, which does not change the result.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return TELLS_SOURCE ? parseBySource(text) : parseByReader(text);
}

/** A reviver with its third argument (ECMAScript 2026), which TypeScript does not declare yet. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** True if the engine passes the source of a number to revivers. */
const TELLS_SOURCE: boolean = tellsSource();

function tellsSource(): boolean {
  let told: string | undefined;
  const reviver: Reviver = (_key, value, context) => {
    told = context?.source;
    return value;
  };
  JSON.parse('1.0', reviver);
  return told === '1.0';
}

/** Parses with the engine's parser. */
export function parseBySource(text: string): unknown {
  const reviver: Reviver = (_key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value)
      ? exactNumber(context!.source!)
      : value;
  return JSON.parse(text, reviver);
}

/** Parses on engines that do not pass the source to revivers. */
export function parseByReader(text: string): unknown {
  JSON.parse(text); // throws if it is not JSON; the reader does not check
  return new Reader(text).value();
}

/** Converts a token: to a bigint if it is an integer that a number cannot represent exactly. */
function exactNumber(token: string): number | bigint {
  const number = Number(token);
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(number) ? BigInt(token) : number;
}

/** A parser for valid JSON. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    this.#blanks();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        this.#at += 4;
        return true;
      case 'f':
        this.#at += 5;
        return false;
      case 'n':
        this.#at += 4;
        return null;
      default:
        return this.#number();
    }
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at++;
    while (!this.#closes('}')) {
      const name = this.#string();
      this.#blanks();
      this.#at++; // the colon
      const value = this.value();
      // Assigning to `__proto__` would set the prototype.
      Object.defineProperty(object, name, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return object;
  }

  #array(): unknown[] {
    const array: unknown[] = [];
    this.#at++;
    while (!this.#closes(']')) array.push(this.value());
    return array;
  }

  /** Skips blanks, an optional comma, and the bracket if it is next. Returns whether it was. */
  #closes(bracket: string): boolean {
    this.#blanks();
    if (this.#text[this.#at] === ',') {
      this.#at++;
      this.#blanks();
    }
    const closes = this.#text[this.#at] === bracket;
    if (closes) this.#at++;
    return closes;
  }

  #string(): string {
    const from = this.#at;
    let end = this.#text.indexOf('"', from + 1);
    while (this.#isEscaped(end, from)) end = this.#text.indexOf('"', end + 1);
    this.#at = end + 1;
    const inner = this.#text.slice(from + 1, end);
    return inner.includes('\\') ? JSON.parse(this.#text.slice(from, end + 1)) : inner;
  }

  #isEscaped(quote: number, from: number): boolean {
    let slashes = 0;
    while (quote - 1 - slashes > from && this.#text.charCodeAt(quote - 1 - slashes) === BACKSLASH) {
      slashes++;
    }
    return slashes % 2 === 1 && this.#text.charCodeAt(quote) === QUOTE;
  }

  #number(): number | bigint {
    const token = /[-+.\dEe]+/y;
    token.lastIndex = this.#at;
    const [digits] = token.exec(this.#text)!;
    this.#at += digits.length;
    return exactNumber(digits);
  }

  #blanks(): void {
    const blank = /[ \t\n\r]*/y;
    blank.lastIndex = this.#at;
    blank.exec(this.#text);
    this.#at = blank.lastIndex;
  }
}
