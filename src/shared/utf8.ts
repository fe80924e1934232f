/**
 * Text as UTF-8, with the engine's functions captured when this module loads: texts can be secret.
 * The one rule for everything that is read: only valid UTF-8, and a byte order mark at the
 * beginning is skipped.
 */
import { charCodeAt, codePointAt, sliceText, uncurry } from './intrinsics.ts';

// Worklets have neither.
const Decoder = globalThis.TextDecoder as typeof TextDecoder | undefined;
const decoder = Decoder && /* @__PURE__ */ new Decoder('utf-8', { fatal: true });
const decode = /* @__PURE__ */ uncurry(decoder?.decode as TextDecoder['decode']);
const Encoder = globalThis.TextEncoder as typeof TextEncoder | undefined;
const encoder = Encoder && /* @__PURE__ */ new Encoder();
const encode = /* @__PURE__ */ uncurry(encoder?.encode as TextEncoder['encode']);

/**
 * Returns the text of a file, without its byte order mark.
 *
 * @param file bytes or text
 * @throws TypeError if the bytes are not valid UTF-8
 */
export function decodeUtf8(file: Uint8Array | string): string {
  if (typeof file !== 'string') return decode(decoder!, file as Uint8Array<ArrayBuffer>);
  return charCodeAt(file, 0) === 0xfeff ? sliceText(file, 1) : file;
}

/** @returns the bytes of a text; undefined if it has half of a surrogate pair */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> | undefined {
  for (let i = 0; i < text.length; i++) {
    const code = codePointAt(text, i)!;
    if (code >= 0xd800 && code < 0xe000) return undefined;
    if (code > 0xffff) i++;
  }
  return encode(encoder!, text) as Uint8Array<ArrayBuffer>;
}
