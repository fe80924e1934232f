/**
 * Text as UTF-8, with the engine's functions captured when this module loads: texts can be secret.
 * The one rule for everything that is read: only valid UTF-8, and a byte order mark at the
 * beginning is skipped.
 */
import {
  charCodeAt,
  codePointAt,
  fill,
  lengthOf,
  slice,
  sliceText,
  uncurry,
} from './intrinsics.ts';

// Worklets and some test environments have neither.
const Decoder = globalThis.TextDecoder as typeof TextDecoder | undefined;
const decoder = Decoder && /* @__PURE__ */ new Decoder('utf-8', { fatal: true });
const decode = /* @__PURE__ */ uncurry(decoder?.decode as TextDecoder['decode']);
const Encoder = globalThis.TextEncoder as typeof TextEncoder | undefined;
const encoder = Encoder && /* @__PURE__ */ new Encoder();
const encode = /* @__PURE__ */ uncurry(encoder?.encode as TextEncoder['encode']);
const { fromCodePoint } = String;

/**
 * Returns the text of a file, without its byte order mark.
 *
 * @param file bytes or text
 * @throws TypeError if the bytes are not valid UTF-8
 */
export function decodeUtf8(file: Uint8Array | string): string {
  if (typeof file !== 'string') {
    return decoder ? decode(decoder, file as Uint8Array<ArrayBuffer>) : decodePlainly(file);
  }
  return charCodeAt(file, 0) === 0xfeff ? sliceText(file, 1) : file;
}

/** @returns the bytes of a text; undefined if it has half of a surrogate pair */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> | undefined {
  for (let i = 0; i < text.length; i++) {
    const code = codePointAt(text, i)!;
    if (code >= 0xd800 && code < 0xe000) return undefined;
    if (code > 0xffff) i++;
  }
  return encoder ? (encode(encoder, text) as Uint8Array<ArrayBuffer>) : encodePlainly(text);
}

/** Decodes without the host's help (Unicode 16, table 3-7). @throws TypeError */
function decodePlainly(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < lengthOf(bytes); ) {
    const first = bytes[at++]!;
    const more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    let code = more === 0 ? first : first & (0x3f >> more);
    for (let i = 0; i < more; i++) {
      const next = bytes[at++] ?? 0;
      if (next >> 6 !== 2) throw new TypeError('the bytes are not UTF-8');
      code = (code << 6) | (next & 0x3f);
    }
    const least = [0, 0x80, 0x800, 0x10000][more]!;
    const isPart = more > 0 && (first < 0xc0 || first > 0xf7);
    if (isPart || code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      throw new TypeError('the bytes are not UTF-8');
    }
    if (code !== 0xfeff || text !== '' || at !== 3) text += fromCodePoint(code);
  }
  return text;
}

function encodePlainly(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(3 * text.length);
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const code = codePointAt(text, i)!;
    if (code > 0xffff) i++;
    const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes[at++] = [0, 0xc0, 0xe0, 0xf0][more]! | (code >> (6 * more));
    for (let left = more - 1; left >= 0; left--) bytes[at++] = 0x80 | ((code >> (6 * left)) & 0x3f);
  }
  const whole = slice(bytes, 0, at);
  fill(bytes, 0);
  return whole;
}
