/** Textual encoding of keys: RFC 7468, its standard form, with lines of any length. */
import { ascii, concat, wipe } from '../bytes.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { badKey } from './forms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const BEGIN = ascii('-----BEGIN ');
const DASHES = '-----';
const MAX_LABEL = 40;

/** A text that was taken apart. */
export interface Pem {
  readonly label: string;
  /** Fresh memory. */
  readonly der: Bytes;
}

/** Whether bytes start as a PEM text does. */
export const isPem = (bytes: Uint8Array): boolean => BEGIN.every((byte, i) => bytes[i] === byte);

/**
 * Reads the one block of a PEM text; white space may follow it.
 *
 * @throws CodedError `BAD_KEY` for anything else
 */
export function decodePem(text: Bytes): Pem {
  const lineEnd = text.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  const first = lineEnd < 0 ? '' : asText(text.subarray(BEGIN.length, lineEnd)).trimEnd();
  const label = first.slice(0, -DASHES.length);
  if (!first.endsWith(DASHES) || !/^[A-Z0-9]+( [A-Z0-9]+)*$/.test(label)) {
    throw badKey('pem', 'the first line is malformed');
  }
  const footer = ascii(`${DASHES}END ${label}${DASHES}`);
  const end = text.indexOf(0x2d, lineEnd);
  const isClosed = end > 0 && footer.every((byte, i) => text[end + i] === byte);
  if (!isClosed) throw badKey('pem', `there is no line END ${label}`);
  if (!text.subarray(end + footer.length).every(isSpace)) {
    throw badKey('pem', 'there is more than one block');
  }
  // Line ends are public; the digits between them are not.
  const body = text.subarray(lineEnd, end).filter((byte) => !isSpace(byte));
  const der = decodeBase64(body, 'standard');
  wipe(body);
  if (der === undefined) throw badKey('pem', 'the text between the lines is not base64');
  return { label, der };
}

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

const asText = (bytes: Uint8Array): string =>
  String.fromCharCode(...bytes.subarray(0, MAX_LABEL + DASHES.length));

/** The text of one block, in lines of 64 digits. */
export function encodePem(label: string, der: Uint8Array): string {
  const digits = encodeBase64(der, 'standard');
  const lines: Uint8Array[] = [];
  for (let at = 0; at < digits.length; at += 64) {
    lines.push(digits.subarray(at, at + 64), ascii('\n'));
  }
  const body = concat(...lines);
  const text = new TextDecoder().decode(body);
  wipe(digits, body);
  return `${DASHES}BEGIN ${label}${DASHES}\n${text}${DASHES}END ${label}${DASHES}\n`;
}
