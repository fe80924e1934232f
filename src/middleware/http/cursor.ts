/**
 * Cursors of lists: the last id and the order, with a checksum under the service's key that binds
 * them to the client. Opaque to clients; forged, altered or foreign ones are refused.
 */
import { equal } from '../../shared/bytes.ts';
import { hmacSha256 } from '../../shared/hash.ts';

export interface Position {
  readonly afterId: number;
  readonly order: 'asc' | 'desc';
}

/*  byte  0        8       9            17
 *        │ id u64 │ order │ checksum   │      base64url: 23 characters */
const ORDER_AT = 8;
const CHECKSUM_AT = 9;
const CURSOR_BYTES = 17;

export function encodeCursor(secret: Uint8Array, clientId: number, position: Position): string {
  const bytes = Buffer.alloc(CURSOR_BYTES);
  bytes.writeBigUInt64BE(BigInt(position.afterId), 0);
  bytes[ORDER_AT] = position.order === 'asc' ? 0 : 1;
  checksum(secret, clientId, bytes).copy(bytes, CHECKSUM_AT);
  return bytes.toString('base64url');
}

/** @returns null for anything but a cursor that this client was given */
export function decodeCursor(secret: Uint8Array, clientId: number, text: string): Position | null {
  if (!/^[\w-]{23}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== CURSOR_BYTES || bytes.toString('base64url') !== text) return null;
  const given = bytes.subarray(CHECKSUM_AT);
  if (!equal(given, checksum(secret, clientId, bytes))) return null;
  const afterId = Number(bytes.readBigUInt64BE(0));
  return { afterId, order: bytes[ORDER_AT] === 0 ? 'asc' : 'desc' };
}

function checksum(secret: Uint8Array, clientId: number, bytes: Buffer): Buffer {
  const text = `falconry cursor 1\n${clientId}\n`;
  const mac = hmacSha256(secret, text, bytes.subarray(0, CHECKSUM_AT));
  return mac.subarray(0, CURSOR_BYTES - CHECKSUM_AT);
}
