/** Detects the kind of a caller's input: bytes, text, or a JSON Web Key. Does not decode it. */
import { readBytes } from '../../shared/arguments.ts';
import { ascii, wipe } from '../../shared/bytes.ts';
import { badKey, MAX_INPUT } from './forms.ts';
import { decodeJwk, type JwkParts, parseJwk, type SecretJwk } from './jwk.ts';
import { decodePem, isPem, type Pem } from './pem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes in any form, PEM or JSON text, or a JSON Web Key as an object. */
export type KeyInput = Uint8Array | string | Partial<SecretJwk> | Readonly<Record<string, unknown>>;

/** The caller's input, as exactly one of the three kinds, in fresh memory. */
export type Found =
  | { readonly kind: 'binary'; readonly bytes: Bytes }
  | { readonly kind: 'pem'; readonly pem: Pem }
  | { readonly kind: 'jwk'; readonly jwk: JwkParts };

const OPEN_BRACE = 0x7b;

/**
 * Reads an input once and detects its kind.
 *
 * @throws TypeError if it is not bytes, a string or an object; CodedError `BAD_KEY` if it is none
 *   of the kinds
 */
export function readInput(input: unknown): Found {
  if (typeof input === 'object' && input !== null && !ArrayBuffer.isView(input)) {
    return { kind: 'jwk', jwk: decodeJwk(input) };
  }
  const bytes = typeof input === 'string' ? readText(input) : readBinary(input);
  let handedOn = false;
  try {
    const start = bytes.findIndex((byte) => byte > 0x20);
    const text = bytes.subarray(start); // white space only: its last byte
    if (isPem(text)) return { kind: 'pem', pem: decodePem(text) };
    if (text[0] === OPEN_BRACE && text.every((byte) => byte < 0x80)) {
      return { kind: 'jwk', jwk: parseJwk(new TextDecoder().decode(text)) };
    }
    if (typeof input === 'string') throw badKey(undefined, 'the text is neither PEM nor a JWK');
    handedOn = true;
    return { kind: 'binary', bytes };
  } finally {
    if (!handedOn) wipe(bytes);
  }
}

function readText(text: string): Bytes {
  if (text.length > MAX_INPUT) throw tooLong();
  return ascii(text.replaceAll(/[^\0-\x7f]/g, '\x7f'));
}

function readBinary(value: unknown): Bytes {
  const input = readBytes('input', value);
  if (input.length > MAX_INPUT) throw tooLong();
  return input.copy();
}

const tooLong = () => badKey(undefined, `it is longer than ${MAX_INPUT} bytes`);
