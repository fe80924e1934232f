/**
 * Stores one build of a module as its differences from another. The builds differ in a few hundred
 * places, so the second one needs a few kilobytes instead of its full size.
 *
 * Each edit consists of three LEB128 numbers (bytes to keep, to drop, to insert) and the bytes to
 * insert. The module ends with the last edit.
 */

/**
 * @param base the module to edit
 * @param edits the edits that `scripts/moduleEdits.ts` wrote for it
 * @returns the other module
 */
export function applyEdits(base: Uint8Array, edits: Uint8Array): Uint8Array<ArrayBuffer> {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = edits[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const parts: Uint8Array[] = [];
  let length = 0;
  const put = (part: Uint8Array): void => {
    parts.push(part);
    length += part.length;
  };
  for (let from = 0; at < edits.length; ) {
    const [keep, drop, insert] = [number(), number(), number()];
    put(base.subarray(from, from + keep));
    put(edits.subarray(at, at + insert));
    from += keep + drop;
    at += insert;
  }
  const out = new Uint8Array(length);
  let end = 0;
  for (const part of parts) {
    out.set(part, end);
    end += part.length;
  }
  return out;
}

/**
 * @param plain the plain build, in base64, or a function that unpacks it
 * @param edits the edits that produce the wanted build, in base64; absent for the plain build
 */
export function moduleBytes(plain: EmbeddedModule, edits?: string): Uint8Array<ArrayBuffer> {
  const base = typeof plain === 'string' ? fromBase64(plain) : plain();
  return edits === undefined ? base : applyEdits(base, fromBase64(edits));
}

/** A module in base64, or a function that unpacks it. */
export type EmbeddedModule = string | (() => Uint8Array<ArrayBuffer>);

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes internal, valid base64. Does not use `atob`, which bare realms lack. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let i = 0; i < DIGITS.length; i++) values[DIGITS.charCodeAt(i)] = i;
  const digit = (at: number): number => values[text.charCodeAt(at)]!;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const out = new Uint8Array((text.length / 4) * 3 - padding);
  for (let i = 0, at = 0; at < out.length; i += 4) {
    const word = (digit(i) << 18) | (digit(i + 1) << 12) | (digit(i + 2) << 6) | digit(i + 3);
    out[at++] = word >> 16;
    out[at++] = word >> 8;
    out[at++] = word;
  }
  return out;
}
