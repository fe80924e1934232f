/** Detects the kind of a caller's input: bytes, text, or an object of JSON. */

import {
  isBytes,
  isJsonOfBytes,
  isPlainObject,
  notBytes,
  readBytes,
} from '../../shared/arguments.ts';
import { ascii, wipe } from '../../shared/bytes.ts';
import { hasOwn, parseJson, viewOf } from '../../shared/intrinsics.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import { badKey, MAX_INPUT } from './forms.ts';
import { decodeJwk, type KeyFields, type SecretJwk } from './jwk.ts';
import { decodeKeyFile, type SecretKeyFile } from './keyFile.ts';
import { type Block, findBlocks, hasBlock } from './pem.ts';
import { hasMark, isBraced, isUtf16, symptomOf } from './symptoms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes in any form, PEM or JSON text, or a JSON Web Key or key file as an object. */
export type KeyInput =
  | Uint8Array
  | string
  | Partial<SecretJwk>
  | Partial<SecretKeyFile>
  | Readonly<Record<string, unknown>>;

/** The caller's input, as exactly one of the three kinds, in fresh memory. */
export type Found =
  | { readonly kind: 'binary'; readonly bytes: Bytes }
  | { readonly kind: 'pem'; readonly bytes: Bytes; readonly blocks: readonly Block[] }
  | { readonly kind: 'fields'; readonly fields: KeyFields };

/**
 * Reads an input once and detects its kind.
 *
 * @throws TypeError if it is not bytes, a string or an object of JSON; CodedError `BAD_KEY` if it
 *   is none of the kinds
 */
export function readInput(input: unknown): Found {
  if (typeof input === 'object' && input !== null && !isBytes(input)) return readObject(input);
  const text = typeof input === 'string' ? decodeUtf8(input) : undefined;
  const given = text ?? readBytes('input', input);
  if (given.length > MAX_INPUT) throw badKey(undefined, `it is longer than ${MAX_INPUT} bytes`);
  const bytes = typeof given === 'string' ? ascii(given) : given.copy();
  let handedOn = false;
  try {
    if (isUtf16(bytes)) throw badKey(undefined, 'the text is in UTF-16: save it as UTF-8');
    const body = hasMark(bytes) ? viewOf(bytes, 3) : bytes;
    const blocks = hasBlock(body) ? findBlocks(body) : [];
    if (blocks.length > 0) {
      handedOn = true;
      return { kind: 'pem', bytes: body, blocks };
    }
    if (isBraced(body)) {
      const json = textOf(bytes);
      if (json !== undefined) return { kind: 'fields', fields: parseFields(json) };
    }
    if (text !== undefined) {
      throw badKey(undefined, `the text is neither PEM nor a JWK or key file${symptomOf(bytes)}`);
    }
    handedOn = true;
    return { kind: 'binary', bytes };
  } finally {
    if (!handedOn) wipe(bytes);
  }
}

/** Clears the copy of an input. */
export function wipeFound(found: Found): void {
  if (found.kind !== 'fields') wipe(found.bytes);
  else if (found.fields.secretKey !== undefined) wipe(found.fields.secretKey);
}

function readObject(input: object): Found {
  const isKey = ['kty', 'public_key', 'secret_key'].some((name) => hasOwn(input, name));
  if (isKey || (isPlainObject(input) && !isJsonOfBytes(input))) {
    return { kind: 'fields', fields: readFields(input) };
  }
  throw notBytes('input', input);
}

function readFields(value: object): KeyFields {
  const member = (name: string): unknown =>
    hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  const isFile = hasOwn(value, 'public_key') || hasOwn(value, 'secret_key');
  return isFile && !hasOwn(value, 'kty') ? decodeKeyFile(member) : decodeJwk(member);
}

/** Parses a text that starts with a brace. @throws CodedError `BAD_KEY` */
function parseFields(text: string): KeyFields {
  let value: object;
  try {
    value = parseJson(text);
  } catch {
    // Hides the engine's message, which quotes the text and so might leak a secret.
    throw badKey('jwk', 'it is not valid JSON');
  }
  return readFields(value);
}

/** Returns undefined for bytes that are not UTF-8: a bare key can begin with a brace. */
function textOf(bytes: Bytes): string | undefined {
  try {
    return decodeUtf8(bytes);
  } catch {
    return undefined;
  }
}
