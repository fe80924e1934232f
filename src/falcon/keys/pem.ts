/** PEM encoding of keys (RFC 7468, standard form, but with lines of any length). */
import { ascii, concat, wipe } from '../../shared/bytes.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { badKey } from './forms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const BEGIN = ascii('-----BEGIN ');
const DASHES = '-----';
/** Maximum length of the first line; enough for all labels of keys. */
const FIRST_LINE = 48;

/** A decoded PEM text. */
export interface Pem {
  readonly label: string;
  /** Fresh memory. */
  readonly der: Bytes;
}

/** Returns whether the bytes start like a PEM text. */
export const isPem = (bytes: Uint8Array): boolean => BEGIN.every((byte, i) => bytes[i] === byte);

/**
 * Decodes a PEM text of exactly one block, optionally followed by white space.
 *
 * @throws CodedError `BAD_KEY` for any other input
 */
export function decodePem(text: Bytes): Pem {
  const head = String.fromCharCode(...text.subarray(0, FIRST_LINE));
  const [line, label] = /^-----BEGIN ([A-Z0-9 ]+)-----[ \t]*[\r\n]/.exec(head) ?? [];
  if (line === undefined) throw badKey('pem', 'the first line is malformed');
  const footer = ascii(`${DASHES}END ${label}${DASHES}`);
  const end = text.indexOf(0x2d, line.length);
  if (!footer.every((byte, i) => text[end + i] === byte))
    throw badKey('pem', `there is no line END ${label}`);
  if (!text.subarray(end + footer.length).every(isSpace)) {
    throw badKey('pem', 'there is more than one block');
  }
  // Positions of line ends are public; the digits are secret.
  const body = text.subarray(line.length, end).filter((byte) => !isSpace(byte));
  const der = decodeBase64(body, 'standard');
  wipe(body);
  if (der === undefined) throw badKey('pem', 'the text between the lines is not base64');
  return { label: label!, der };
}

const SPACES = new Set([0x09, 0x0a, 0x0d, 0x20]);
const isSpace = (byte: number): boolean => SPACES.has(byte);

/** Encodes one block, in lines of 64 digits. */
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
