/**
 * PEM encoding of keys (RFC 7468, standard form, but with lines of any length). Text around the
 * blocks is ignored (section 2), as OpenSSL does.
 */

import { ascii, wipe } from '../../shared/bytes.ts';
import { lengthOf, viewOf } from '../../shared/intrinsics.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { badKey } from './forms.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const BEGIN = ascii('-----BEGIN ');
const DASHES = '-----';
const DASH = 0x2d;
const COLON = 0x3a;
const PROC_TYPE = ascii('Proc-Type:');
/** Longest label; enough for all labels of keys. */
const MAX_LABEL = 40;

/**
 * Returns whether the bytes hold `-----BEGIN ` anywhere. They can be a key, so no branch depends on
 * them.
 */
export function hasBlock(bytes: Bytes): boolean {
  let found = 0;
  for (const i of Array(lengthOf(bytes)).keys()) {
    let difference = 0;
    for (let j = 0; j < BEGIN.length; j++) difference |= bytes[i + j]! ^ BEGIN[j]!;
    found |= difference - 1;
  }
  return found < 0;
}

/** A block of a PEM text: its label, and the bounds of the lines between its first and last. */
export interface Block {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;
const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;

/**
 * Finds all blocks. Lines end with LF, CR or both.
 *
 * @returns an empty list if no line begins with `-----BEGIN `
 * @throws CodedError `BAD_KEY` for a malformed first line, or a block without its last line
 */
export function findBlocks(text: Bytes): Block[] {
  const length = lengthOf(text);
  const blocks: Block[] = [];
  let open: { readonly label: string; readonly from: number } | undefined;
  let end = 0;
  for (let at = 0; at < length; at = end + 1) {
    for (end = at; end < length && !isLineEnd(text[end]); ) end++;
    let from = at;
    let to = end;
    while (isSpace(text[from])) from++;
    while (isSpace(text[to - 1])) to--;
    if (open === undefined) {
      const isFirst = isAt(text, from, BEGIN) && isAt(text, to - DASHES.length, ascii(DASHES));
      if (isFirst) open = { label: readLabel(text, from, to), from: end };
    } else if (text[from] === DASH) {
      const footer = ascii(`${DASHES}END ${open.label}${DASHES}`);
      if (to - from !== footer.length || !isAt(text, from, footer)) break;
      blocks.push({ ...open, to: at - 1 });
      open = undefined;
    }
  }
  if (open !== undefined) throw badKey('pem', `there is no line END ${open.label}`);
  return blocks;
}

/** Returns whether the text has these bytes at this index. */
function isAt(text: Bytes, at: number, what: Uint8Array): boolean {
  for (let i = 0; i < what.length; i++) if (text[at + i] !== what[i]) return false;
  return true;
}

/** Returns the label in the line [from, to), `-----BEGIN label-----`. */
function readLabel(text: Bytes, from: number, to: number): string {
  const start = from + BEGIN.length;
  const end = to - DASHES.length;
  let isLabel = end > start && end - start <= MAX_LABEL;
  // Anything else could be a part of the key, and labels are quoted in errors.
  for (let i = start; i < end && isLabel; i++) isLabel = isLabelCharacter(text[i]!);
  if (isLabel) return decodeUtf8(viewOf(text, start, end));
  throw badKey('pem', 'a line BEGIN is malformed');
}

/** Letters, digits, and the signs of labels in use: space, #, full stop, underscore. */
const isLabelCharacter = (code: number): boolean =>
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x20 ||
  code === 0x23 ||
  code === 0x2e ||
  code === 0x5f;

/**
 * Decodes the only block with a label.
 *
 * @param blocks those of `text`
 * @returns fresh memory
 * @throws CodedError `BAD_KEY` if there is none, or more than one; for a block with headers, or not
 *   of base64
 */
export function decodeBlock(text: Bytes, blocks: readonly Block[], label: string): Bytes {
  const fitting = blocks.filter((block) => block.label === label);
  if (fitting.length !== 1) throw badKey('pem', misfit(blocks, label, fitting.length));
  const { from, to } = fitting[0]!;
  const digits = new Uint8Array(to - from);
  let count = 0;
  let start = from;
  let hasHeader = false;
  // Positions of line ends are public; the digits are secret.
  for (const offset of Array(to - from).keys()) {
    const i = from + offset;
    const byte = text[i]!;
    if (byte === COLON) hasHeader = true;
    if (isSpace(byte) || isLineEnd(byte)) continue;
    if (count === 0) start = i;
    digits[count++] = byte;
  }
  if (hasHeader) {
    wipe(digits);
    const what = isAt(text, start, PROC_TYPE) ? 'the header Proc-Type' : 'header lines';
    throw badKey('pem', `it has ${what}, of RFC 1421: convert it with openssl pkcs8 -topk8`);
  }
  const der = decodeBase64(viewOf(digits, 0, count), 'standard');
  wipe(digits);
  if (der === undefined) throw badKey('pem', 'the text between the lines is not base64');
  return der;
}

function misfit(blocks: readonly Block[], wanted: string, count: number): string {
  if (count !== 0) return `there are ${count} blocks ${wanted}: give the one that is meant`;
  const found = [...new Set(blocks.map(({ label }) => label))];
  const article = /^[AE]/.test(wanted) ? 'an' : 'a';
  if (found.length > 1) return `it holds ${found.join(', ')}, and no ${wanted}`;
  const isSecret = wanted === 'PUBLIC KEY' && found[0]!.endsWith('PRIVATE KEY');
  return `it is a ${isSecret ? 'secret key' : found[0]}, not ${article} ${wanted}`;
}

/** Encodes one block, in lines of 64 digits. */
export function encodePem(label: string, der: Bytes): string {
  const digits = encodeBase64(der, 'standard');
  const length = lengthOf(digits);
  const body = new Uint8Array(length + Math.ceil(length / 64));
  let at = 0;
  for (const i of Array(length).keys()) {
    body[at++] = digits[i]!;
    if (i % 64 === 63 || i === length - 1) body[at++] = 0x0a;
  }
  const text = decodeUtf8(body);
  wipe(digits, body);
  return `${DASHES}BEGIN ${label}${DASHES}\n${text}${DASHES}END ${label}${DASHES}\n`;
}
