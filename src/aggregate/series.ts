/**
 * The series, format 3: aggregates of consecutive items of one list (docs/bundle-format.md, 7).
 *
 *   "FLRY" ‖ 3 ‖ 1 ‖ S times (u32 length ‖ aggregate) ‖ u32 0          1 <= S <= 4096
 *
 * Every element is an aggregate of format 1, 2 or 4 for the next items, and all have the same
 * profile. The identity of the list is
 *
 *   SHAKE256("falconry series v1" ‖ S times (u32 count ‖ statement commitment)), 32 bytes
 */
import { shake256 } from '../falcon/points.ts';
import { copyBytes, readList } from '../shared/arguments.ts';
import { ascii, concatAll } from '../shared/bytes.ts';
import { MAGIC, type ParsedHeader } from './container.ts';
import { COMMITMENT_BYTES, u32 } from './statement.ts';

/** Maximum number of aggregates in a series. */
export const MAX_ELEMENTS = 4096;
/**
 * Maximum bytes of an element: more than any valid bundle of 8192 signatures of Falcon-1024 has. By
 * the bound on the norm, none takes more than 1341 bytes there, besides a salt of 40.
 */
export const MAX_ELEMENT_BYTES = 12_000_000;

const FORMAT = 3;
export const SERIES_VERSION = 1;
const START = Uint8Array.of(...MAGIC, FORMAT, SERIES_VERSION);
export const START_BYTES = START.length;
export const LENGTH_BYTES = 4;

const LABEL = ascii('falconry series v1');

/** A bundle or a proof with its header, or a part of a merged proof. */
export interface Element {
  readonly bytes: Uint8Array;
  readonly header: ParsedHeader;
}

/** Returns whether the bytes start like a series. */
export const isSeries = (bytes: Uint8Array): boolean => START.every((byte, i) => bytes[i] === byte);

/** Returns the bytes of element number `index`, as they stand in a series. */
export const framedElement = (element: Uint8Array, index: number): Uint8Array<ArrayBuffer> =>
  concatAll([...(index === 0 ? [START] : []), u32(element.length), element]);

/** Returns the bytes that end a series. */
export const seriesEnd = (): Uint8Array<ArrayBuffer> => u32(0);

/**
 * Joins bundles and proofs of one profile, for consecutive items of a list, to a series. Verifies
 * nothing.
 *
 * @throws TypeError unless the argument is a list of bytes, RangeError unless there are 1 to 4096
 */
export function joinSeries(aggregates: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const read = readList('aggregates', aggregates, MAX_ELEMENTS, (one) =>
    copyBytes('aggregate', one),
  );
  checkElements(read.length);
  return concatAll([...read.map(framedElement), seriesEnd()]);
}

/** @throws RangeError for a series that is too long, or empty */
export function checkElements(count: number): void {
  if (count >= 1 && count <= MAX_ELEMENTS) return;
  throw new RangeError(`a series expected 1 to ${MAX_ELEMENTS} aggregates, got ${count}`);
}

/** Reads the length of an element; NaN if bytes are missing. */
export const lengthAt = (bytes: Uint8Array, at: number): number =>
  [0, 1, 2, 3].reduce((sum, i) => 256 * sum + Number(bytes[at + i]), 0);

/**
 * Returns the bytes of the elements of a series; of an aggregate that is not one, all of them. They
 * are views of the bytes. A series that is damaged has none.
 */
export function piecesOf(bytes: Uint8Array): Uint8Array[] {
  if (!isSeries(bytes)) return [bytes];
  const pieces: Uint8Array[] = [];
  for (let at = START_BYTES; pieces.length <= MAX_ELEMENTS; ) {
    const length = lengthAt(bytes, at);
    at += LENGTH_BYTES;
    if (length === 0) return at === bytes.length ? pieces : [];
    pieces.push(bytes.subarray(at, (at += length)));
  }
  // Too many elements, or no end: no length behind the last byte is 0.
  return [];
}

/** Returns whether an element has the profile of the first one, if there is any. */
export const isOneProfile = (first: ParsedHeader | undefined, header: ParsedHeader): boolean =>
  first === undefined || first.profile === header.profile;

/** The statements of an element: their number, and the commitment to them. */
interface Counted {
  readonly count: number;
  readonly statement: Uint8Array;
}

/** Returns the identity of the list of a series, or of the parts of a merged proof. */
export function seriesIdentity(elements: readonly Counted[]): Uint8Array<ArrayBuffer> {
  const parts = elements.flatMap(({ count, statement }) => [u32(count), statement]);
  return shake256([LABEL, ...parts], COMMITMENT_BYTES);
}
