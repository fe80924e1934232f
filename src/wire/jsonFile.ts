/** JSON parsing shared by task files and result files. */
import { CodedError } from '../shared/errors.ts';

/**
 * Parses a JSON file.
 *
 * @param file UTF-8 bytes, or text
 * @param name name of the file in errors
 * @throws CodedError `BODY_TOO_LARGE` or `MALFORMED_JSON`
 */
export function parseJsonFile(file: Uint8Array | string, name: string, maxBytes: number): unknown {
  if (file.length > maxBytes) {
    throw new CodedError('BODY_TOO_LARGE', {
      message: `The ${name} is larger than ${maxBytes} bytes`,
    });
  }
  try {
    return JSON.parse(
      typeof file === 'string' ? file : new TextDecoder('utf-8', { fatal: true }).decode(file),
    );
  } catch (cause) {
    throw new CodedError('MALFORMED_JSON', { message: `The ${name} is not valid JSON`, cause });
  }
}
