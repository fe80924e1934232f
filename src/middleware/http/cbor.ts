/**
 * Untrusted CBOR (RFC 8949). The library decodes; what it would take too easily is refused here
 * while it does: depth and number of values, tags, strings that are not UTF-8, misplaced ends of
 * arrays and maps without a length. Such arrays and maps are accepted, such strings are not.
 */
import { decode, encode, Tokenizer, Type } from 'cborg';
import { ProblemError } from '../problems.ts';
import type { JsonLimits } from './strictJson.ts';

/** The limits of a JSON text hold for the same values in CBOR. */
export interface CborLimits extends Pick<JsonLimits, 'maxDepth' | 'maxTokens'> {
  /** The error code for too many values; default `MALFORMED_CBOR`. */
  readonly tooManyCode?: 'MALFORMED_CBOR' | 'TOO_MANY_ITEMS';
}

const malformed = (message: string, cause?: unknown) =>
  new ProblemError('MALFORMED_CBOR', { message, cause });

/**
 * Parses a CBOR item: byte strings become `Uint8Array`, maps objects.
 *
 * @returns the value
 * @throws ProblemError `MALFORMED_CBOR`: not CBOR or more than one item, too deep, a name twice in
 *   a map or one that is not text; `limits.tooManyCode` for more values than allowed
 */
export function parseStrictCbor(bytes: Uint8Array, limits: CborLimits = {}): unknown {
  if (bytes.length === 0) throw malformed('A CBOR body is required');
  try {
    return decode(bytes, {
      allowIndefinite: true,
      allowUndefined: false,
      rejectDuplicateMapKeys: true,
      tokenizer: new BoundedTokens(bytes, limits),
    });
  } catch (cause) {
    if (cause instanceof ProblemError) throw cause;
    // The library's message quotes the text around the fault, so it is only logged.
    const twice = /repeat map key/.test(String(cause));
    const fault = twice ? 'holds a map with the same name twice' : 'is not valid CBOR';
    throw malformed(`The body ${fault}`, cause);
  }
}

/** The bytes of a value; lengths are definite, names sorted, so equal values give equal bytes. */
export function formatCbor(value: unknown): Uint8Array<ArrayBuffer> {
  return encode(value);
}

/**
 * Whether a file is CBOR: it begins as an array, a map or a tag, with a byte that no UTF-8 text
 * begins with, or else with a character that no JSON text begins with.
 */
export function looksLikeCbor(file: Uint8Array): boolean {
  const [first = 0] = file;
  return first >= 0x80 && first <= 0xdf;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An array or a map whose end has not been read. */
interface Open {
  readonly isMap: boolean;
  /** Items to come; a map has two for each entry. Infinity if only a break ends it. */
  left: number;
  /** Items so far. */
  seen: number;
}

/** Hands out one token after another, as long as they keep to the limits. */
class BoundedTokens extends Tokenizer {
  readonly #bytes: Uint8Array;
  readonly #limits: Required<CborLimits>;
  readonly #open: Open[] = [];
  #values = 0;

  constructor(bytes: Uint8Array, limits: CborLimits) {
    super(bytes, { allowUndefined: false });
    this.#bytes = bytes;
    this.#limits = { maxDepth: 16, maxTokens: 40_000, tooManyCode: 'MALFORMED_CBOR', ...limits };
  }

  override next() {
    const token = super.next();
    const { type } = token;
    if (Type.equals(type, Type.break)) this.#close();
    else {
      this.#count();
      if (Type.equals(type, Type.tag)) throw malformed('The body holds a tag');
      if (Type.equals(type, Type.string)) this.#checkText(token.value, token.encodedLength!);
      if (Type.equals(type, Type.array)) this.#enter(false, token.value);
      if (Type.equals(type, Type.map)) this.#enter(true, 2 * token.value);
    }
    while (this.#open.at(-1)?.left === 0) this.#open.pop();
    return token;
  }

  /** Counts an item in what holds it, and against the limit unless it is a name. */
  #count(): void {
    const holder = this.#open.at(-1);
    const isName = holder?.isMap === true && holder.seen % 2 === 0;
    if (holder) {
      holder.seen++;
      holder.left--;
    }
    if (isName) return;
    const { maxTokens, tooManyCode } = this.#limits;
    if (++this.#values > maxTokens) {
      throw new ProblemError(tooManyCode, { message: 'The body holds too many CBOR values' });
    }
  }

  #enter(isMap: boolean, left: number): void {
    this.#open.push({ isMap, left, seen: 0 });
    const { maxDepth } = this.#limits;
    if (this.#open.length > maxDepth) {
      throw malformed(`The body nests deeper than ${maxDepth} levels`);
    }
  }

  #close(): void {
    const ended = this.#open.pop();
    const whole = ended?.left === Number.POSITIVE_INFINITY && !(ended.isMap && ended.seen % 2 > 0);
    if (!whole) throw malformed('The body is not valid CBOR');
  }

  /** The library replaces what is not UTF-8. */
  #checkText(text: string, encodedLength: number): void {
    if (!text.includes('\ufffd')) return;
    const end = this.pos();
    const start = end - encodedLength;
    // The head: a byte whose low five bits are the length, or say in how many bytes it follows.
    const info = this.#bytes[start]! & 31;
    const head = info < 24 ? 1 : 1 + 2 ** (info - 24);
    try {
      utf8.decode(this.#bytes.subarray(start + head, end));
    } catch (cause) {
      throw malformed('The body holds a text that is not valid UTF-8', cause);
    }
  }
}
