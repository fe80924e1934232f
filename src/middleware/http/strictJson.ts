/**
 * Parses untrusted JSON. `JSON.parse` alone takes the last of two equal names, allows any depth,
 * and turns 32 MiB of `{},{},…` into almost a gigabyte of objects. So the bytes are scanned first:
 * a byte search skips strings, which are nearly all of our bodies, and the rest is counted. Only
 * what passes is decoded and parsed, and the long hex strings of a batch are not even decoded.
 */

import { ascii, concatAll } from '../../shared/bytes.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import { type BytesForm, HEX_FORM } from '../../wire/taskFile.ts';
import { ProblemError } from './problems.ts';

export interface JsonLimits {
  /** Deepest nesting of arrays and objects; default 16. */
  readonly maxDepth?: number;
  /** Most commas and brackets together; default 40,000 (1722 triples have 7,000). */
  readonly maxTokens?: number;
  /** The error code for too many tokens; default `MALFORMED_JSON`. */
  readonly tooManyCode?: 'MALFORMED_JSON' | 'TOO_MANY_ITEMS';
}

/** Allowed tokens of a batch: a triple has 4; the rest is for unknown fields. */
export const tokensOfBatch = (triples: number): number => 16 * triples + 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const encoder = new TextEncoder();

const malformed = (message: string, cause?: unknown) =>
  new ProblemError('MALFORMED_JSON', { message, cause });

/**
 * Parses a JSON text in UTF-8; a byte order mark is skipped.
 *
 * @returns the value
 * @throws ProblemError `MALFORMED_JSON`: not UTF-8, not JSON, too deep, a name twice in an object;
 *   `limits.tooManyCode` for more tokens than allowed
 */
export function parseStrictJson(bytes: Uint8Array, limits: JsonLimits = {}): unknown {
  walk(bytes, limits);
  return parsePlain(bytes);
}

/** Shorter strings are parsed as usual. */
const MIN_LEFT_CHARACTERS = 64;

/** A JSON text without its long hex strings. */
export interface SlimJson {
  /** The value, with unguessable names in place of the long strings. */
  readonly value: unknown;
  /** Those strings by their names: `0x` and hex digits only, as views of the body. */
  readonly left: ReadonlyMap<string, Uint8Array>;
}

/**
 * Parses a JSON text whose long `0x` hex strings stay where they are. The text of 32 MiB of
 * signatures and its strings would take 64 MiB more.
 *
 * @throws ProblemError the same for the same text as `parseStrictJson`
 */
export function parseSlimJson(bytes: Uint8Array, limits: JsonLimits = {}): SlimJson {
  const left = new Map<string, Uint8Array>();
  const parts: Uint8Array[] = [];
  const secret = crypto.randomUUID();
  let at = 0;
  walk(bytes, limits, (from, to) => {
    if (to - from < MIN_LEFT_CHARACTERS || !isHex(bytes, from, to)) return;
    const name = `${secret}/${left.size}`;
    left.set(name, bytes.subarray(from, to));
    parts.push(bytes.subarray(at, from), encoder.encode(name));
    at = to;
  });
  parts.push(bytes.subarray(at));
  return { value: parsePlain(concatAll(parts)), left };
}

/** Parses what `walk` let pass. */
function parsePlain(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decodeUtf8(bytes);
  } catch (cause) {
    throw malformed('The body is not valid UTF-8', cause);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The engine's message quotes the text around the fault, so it is only logged.
    throw malformed('The body is not valid JSON', cause);
  }
}

/** Whether `bytes[from..to)` is `0x` and hex digits. */
function isHex(bytes: Uint8Array, from: number, to: number): boolean {
  if (bytes[from] !== 0x30 || bytes[from + 1] !== 0x78) return false;
  let digits = 1;
  for (let i = from + 2; i < to; i++) digits &= IS_HEX_DIGIT[bytes[i]!]!;
  return digits === 1;
}

const IS_HEX_DIGIT = new Uint8Array(256);
for (const digit of ascii('0123456789abcdefABCDEF')) IS_HEX_DIGIT[digit] = 1;

/**
 * Checks only what JSON.parse does not; leaves all other faults to it.
 *
 * @param onText told where the characters of a string begin and end that is not a name
 */
function walk(
  bytes: Uint8Array,
  limits: JsonLimits,
  onText: (from: number, to: number) => void = () => {},
): void {
  if (bytes.length === 0) throw malformed('A JSON body is required');
  const { maxDepth = 16, maxTokens = 40_000, tooManyCode = 'MALFORMED_JSON' } = limits;
  /** For each open bracket: the names seen in an object, null for an array. */
  const open: (Set<string> | null)[] = [];
  let tokens = 0;
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE: {
        const end = endOfString(bytes, i + 1);
        if (end < 0) throw malformed('The body is not valid JSON');
        const names = open.at(-1);
        if (names && nextNonSpace(bytes, end + 1) === COLON) {
          noteName(names, bytes.subarray(i, end + 1));
        } else {
          onText(i + 1, end);
        }
        i = end;
        break;
      }
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        open.push(bytes[i] === OPEN_OBJECT ? new Set() : null);
        if (open.length > maxDepth)
          throw malformed(`The body nests deeper than ${maxDepth} levels`);
        tokens++;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        open.pop();
        break;
      case COMMA:
        tokens++;
        break;
    }
    if (tokens > maxTokens) {
      throw new ProblemError(tooManyCode, { message: 'The body holds too many JSON values' });
    }
  }
}

/** Index of the closing quote of a string whose text starts at `from`, or -1. */
function endOfString(bytes: Uint8Array, from: number): number {
  let end = bytes.indexOf(QUOTE, from);
  while (end >= 0) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === BACKSLASH && end - 1 - slashes >= from) slashes++;
    if (slashes % 2 === 0) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return -1;
}

function nextNonSpace(bytes: Uint8Array, from: number): number {
  let i = from;
  while (bytes[i] === 0x20 || bytes[i] === 0x0a || bytes[i] === 0x0d || bytes[i] === 0x09) i++;
  return bytes[i] ?? 0;
}

const MAX_NAME_BYTES = 256;

function noteName(names: Set<string>, quoted: Uint8Array): void {
  if (quoted.length > MAX_NAME_BYTES) throw malformed('The body holds a name that is too long');
  let name: string;
  try {
    name = JSON.parse(decodeUtf8(quoted));
  } catch (cause) {
    throw malformed('The body is not valid JSON', cause);
  }
  if (names.has(name)) throw malformed('The body holds an object with the same name twice');
  names.add(name);
}

const invalidBody = (path: string, code: string, message: string) =>
  new ProblemError('INVALID_BODY', { errors: [{ path, code, message }] });

/**
 * Returns the value of a body that must be an object.
 *
 * @throws ProblemError `INVALID_BODY`
 */
export function requireObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalidBody('', 'invalid_type', 'must be an object');
}

/**
 * Returns the bytes of a member that must be hex.
 *
 * @param path the JSON pointer to the member
 * @throws ProblemError `INVALID_BODY`
 */
export function requireHex(
  given: unknown,
  path: string,
  maxBytes: number,
  form: BytesForm = HEX_FORM,
): Uint8Array {
  const bytes = form.decode(given, maxBytes);
  if (typeof bytes !== 'string') return bytes;
  const code = bytes === 'missing' || bytes === 'type' ? 'invalid_type' : bytes;
  throw invalidBody(path, code, form.describe(bytes, maxBytes));
}
