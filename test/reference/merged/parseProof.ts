/**
 * docs/merged.md, 1.7: the bytes of a merged proof, read strictly. Every length follows from the
 * rows and from P, which is at most the largest P' of the part row, before anything is allocated.
 */

import type { MergedRow } from '../tableRow.ts';
import { type Checks, Refused } from '../verifier/checks.ts';
import { type Header, readHeaderAfterStart } from '../verifier/container.ts';
import type { SentProjection } from '../verifier/lifts.ts';
import { type OrdinaryMessage, Reader, type Sent, type TailMessage } from '../verifier/parse.ts';
import { type MergedShapes, mergedShapesOf, rowsOfPart } from './parseRow.ts';

/** A part as it was sent. */
export interface Part {
  readonly header: Header;
  /** as absorbed: without magic, format and version */
  readonly headerBytes: Uint8Array;
  readonly levelZero: OrdinaryMessage;
}

/** The projections of one block, and of its x behind a hidden level 0. */
export interface BlockProjection {
  readonly y: SentProjection;
  readonly yOfX: SentProjection | undefined;
}

/** Level 1 as it was sent; a hidden one has p in the places of u' and b. */
export interface MergedLevelMessage
  extends Pick<OrdinaryMessage, 'retry' | 'u' | 'counter' | 'b' | 'b32' | 'u2'> {
  /** of every part */
  readonly blocks: readonly BlockProjection[];
}

export interface MergedMessage {
  readonly shapes: MergedShapes;
  readonly parts: readonly Part[];
  readonly attempt: number;
  readonly merged: MergedLevelMessage;
  /** behind level 1 */
  readonly levels: readonly OrdinaryMessage[];
  readonly tail: TailMessage;
}

/** "FLRY", format 4, version 1 */
const START = Uint8Array.of(0x46, 0x4c, 0x52, 0x59, 4, 1);
const HASH_BYTES = 32;
const MOST_ATTEMPTS = 15;
const NOTHING: Sent = { bytes: new Uint8Array(0), values: [] };

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/**
 * @param rows in use
 * @param checkHeaders is called with all headers before anything behind them is read
 * @throws Refused
 */
export function parseMerged(
  bytes: Uint8Array,
  rows: readonly MergedRow[],
  checks: Readonly<Checks>,
  checkHeaders: (shapes: MergedShapes, headers: readonly Header[]) => void,
): MergedMessage {
  const reader = new Reader(bytes, checks);
  if (!same(reader.take(START.length), START)) throw new Refused('magic, format or version');
  const candidates = rowsOfPart(rows, reader.take(HASH_BYTES));
  if (candidates.length === 0) throw new Refused('unknown part row');
  const [low, high] = reader.take(2);
  const count = low! + 256 * high!;
  // 1.1: P parts use the row of the smallest P' that is not below P
  const row = candidates.find(([, most]) => most >= count);
  if (count < 1 || row === undefined) throw new Refused('count of parts');
  const shapes = mergedShapesOf(row);

  const numbers = Array.from({ length: count }, (_, i) => i);
  const headers = numbers.map((i) => readHeader(reader, i));
  checkHeaders(
    shapes,
    headers.map(({ header }) => header),
  );
  const zeros = numbers.map(() => reader.ordinary(shapes.zero));
  const attempt = reader.take(1)[0]!;
  if (attempt > MOST_ATTEMPTS) throw new Refused('attempt');
  const [first, ...others] = shapes.levels;
  const merged = readMergedLevel(reader, shapes, first, count);
  const levels = others.map((level, i) => reader.ordinary(level, shapes.levels[i]));
  const tail = reader.tail(shapes.tail, shapes.levels.at(-1));
  if (reader.at !== bytes.length) throw new Refused('bytes left over');
  const parts = numbers.map((i): Part => ({ ...headers[i]!, levelZero: zeros[i]! }));
  return { shapes, parts, attempt, merged, levels, tail };
}

function readHeader(reader: Reader, i: number): Pick<Part, 'header' | 'headerBytes'> {
  const header = readHeaderAfterStart(reader.bytes.subarray(reader.at));
  if (typeof header === 'string') throw new Refused(`header: part ${i + 1}: ${header}`);
  return { header, headerBytes: reader.take(header.length) };
}

/** p. 11 with the projections of all blocks: y by tP, y_x by tXP */
function readMergedLevel(
  reader: Reader,
  { zero, bounds }: MergedShapes,
  { w, k, kappa1, cut }: MergedShapes['levels'][0],
  count: number,
): MergedLevelMessage {
  const outer = (name: string): Sent =>
    w > 0
      ? reader.quarters(k, `level 1 p_${name}`)
      : reader.cutValues(kappa1, cut, `level 1 u'_${name}`);
  const retry = reader.repeats('retryRange', 'level 1');
  const u = [outer('1')];
  const counter = reader.repeats('counterRange', 'level 1');
  const blocks = Array.from({ length: count }, (_, i): BlockProjection => {
    const where = `level 1, part ${i + 1}`;
    const y = reader.projection(bounds.tP, `${where} y`);
    const yOfX = zero.w > 0 ? reader.projection(bounds.tXP, `${where} y_x`) : undefined;
    return { y, yOfX };
  });
  const b = w > 0 ? reader.quarters(k, 'level 1 p_b') : reader.lifts(1, 'level 1');
  return { retry, u, counter, blocks, b, b32: NOTHING, u2: outer('2') };
}
