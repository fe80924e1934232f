/**
 * JSON with integers of any length. `JSON.parse` rounds integers beyond 2^53, such as ids of 18
 * digits; here they become bigints. Otherwise the results equal those of `JSON.parse`.
 */

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
  const reviver: Reviver = (_key, _value, context) => context?.source === '1.0';
  return JSON.parse('1.0', reviver);
}

/** Parses on engines that pass the source to revivers. */
export function parseBySource(text: string): unknown {
  const reviver: Reviver = (_key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value)
      ? exactNumber(context!.source!)
      : value;
  return JSON.parse(text, reviver);
}

/** The tokens of a valid JSON text that matter here: escapes, quotes and numbers. */
const TOKENS = /\\.|"|-?\d[\w.+-]*/g;

/**
 * Parses on other engines. Puts the numbers that are not safe integers into a list, and replaces
 * each in the text by its index and a half. In the changed text, only they are fractions.
 */
export function parseByReader(text: string): unknown {
  JSON.parse(text); // throws if it is not JSON; the replacement does not check
  const numbers: (number | bigint)[] = [];
  let inString = false;
  const indexed = text.replace(TOKENS, (token) => {
    if (token === '"') inString = !inString;
    if (inString || token === '"' || Number.isSafeInteger(Number(token))) return token;
    return `${numbers.push(exactNumber(token)) - 1}.5`;
  });
  return JSON.parse(indexed, (_key, value) =>
    typeof value === 'number' && !Number.isInteger(value) ? numbers[value - 0.5] : value,
  );
}

/** Converts a token: to a bigint if it is an integer that a number cannot represent exactly. */
function exactNumber(token: string): number | bigint {
  const number = Number(token);
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(number) ? BigInt(token) : number;
}
