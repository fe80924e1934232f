/** SHA-256 and HMAC-SHA-256 of @noble/hashes, and Node's own where that is faster. */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 as noble } from '@noble/hashes/sha2.js';

type Part = string | Uint8Array;

const utf8 = new TextEncoder();
const bytesOf = (part: Part): Uint8Array => (typeof part === 'string' ? utf8.encode(part) : part);

const native = globalThis.process?.getBuiltinModule?.('node:crypto')?.hash;

/** The SHA-256 of the parts one after the other, 32 bytes; text counts as UTF-8. */
export function sha256(...parts: readonly Part[]): Buffer {
  if (parts.length === 1 && native) return native('sha256', parts[0]!, 'buffer');
  const hash = noble.create();
  for (const part of parts) hash.update(bytesOf(part));
  return Buffer.from(hash.digest().buffer as ArrayBuffer);
}

/** The SHA-256 of pieces as they come, in hex. */
export async function sha256OfPieces(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = noble.create();
  for await (const piece of pieces) hash.update(piece);
  return Buffer.from(hash.digest().buffer as ArrayBuffer).toString('hex');
}

type KeyedHash = ReturnType<typeof hmac.create>;

/** Keyed hashes by their secret: a list signs a url for every task, and a key costs two blocks. */
const KEYED = new WeakMap<Uint8Array, KeyedHash>();

/** The HMAC-SHA-256 of the parts one after the other, 32 bytes. A secret must not be changed. */
export function hmacSha256(secret: Uint8Array, ...parts: readonly Part[]): Buffer {
  let keyed = KEYED.get(secret);
  if (keyed === undefined) KEYED.set(secret, (keyed = hmac.create(noble, secret)));
  const hash = keyed.clone();
  for (const part of parts) hash.update(bytesOf(part));
  return Buffer.from(hash.digest().buffer as ArrayBuffer);
}
