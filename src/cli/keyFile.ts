/**
 * Keys and signatures in files: JSON with `public_key`, `secret_key` or `signature`, or the hex
 * text alone, or the bare bytes as other programs write them.
 */
import { CodedError } from '../errors.ts';
import { type Falcon, falcon512, falcon1024 } from '../falcon/index.ts';
import { decodeWireHex, encodeWireHex } from '../wire/hex.ts';

export type FieldName = 'public_key' | 'secret_key' | 'signature' | 'seed';

const MAX_BYTES = 4096;
const OPEN_BRACE = 0x7b;

/** The object whose public key, or secret key, has this length. */
export function falconOf(field: 'public_key' | 'secret_key', key: Uint8Array): Falcon | undefined {
  const property = field === 'public_key' ? 'publicKey' : 'secretKey';
  return [falcon512, falcon1024].find((falcon) => falcon.lengths[property] === key.length);
}

/**
 * The bytes of a field, from a file in any of the three forms.
 *
 * @param what names the file in messages
 * @throws CodedError `BAD_KEY_FILE` if the file does not hold the field
 */
export function parseField(file: Uint8Array, field: FieldName, what: string): Uint8Array {
  const text = asText(file);
  if (text === undefined) return file;
  let value: unknown = text;
  if (file[0] === OPEN_BRACE) {
    try {
      value = (JSON.parse(text) as Record<string, unknown>)[field];
    } catch (cause) {
      throw new CodedError('BAD_KEY_FILE', { message: `${what} is not valid JSON`, cause });
    }
  } else if (!text.startsWith('0x')) {
    return file;
  }
  const bytes = decodeWireHex(value, MAX_BYTES);
  if (typeof bytes === 'string') {
    throw new CodedError('BAD_KEY_FILE', { message: `${what} does not hold a ${field} in hex` });
  }
  return bytes;
}

/** A key file: the public part alone when there is no secret key. */
export function formatKeyFile(
  falcon: Falcon,
  publicKey: Uint8Array,
  secretKey?: Uint8Array,
): string {
  return `${JSON.stringify({
    parameter_set: falcon.name,
    public_key: encodeWireHex(publicKey),
    secret_key: secretKey && encodeWireHex(secretKey),
  })}\n`;
}

/** The trimmed text, if the bytes are ASCII. */
function asText(file: Uint8Array): string | undefined {
  if (file.some((byte) => byte > 126)) return undefined;
  return new TextDecoder().decode(file).trim();
}
