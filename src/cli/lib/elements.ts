/**
 * Lists of any length: a JSON array, or lines of JSON, as a whole where that is short enough, and
 * otherwise element by element.
 */
import { concatAll } from '../../shared/bytes.ts';
import { CodedError } from '../../shared/errors.ts';
import {
  type Checked,
  parseJsonFile,
  shapeError,
  type TaskFileLimits,
} from '../../wire/taskFile.ts';
import type { Io } from './command.ts';
import { MAX_INPUT_BYTES, streamInput } from './io.ts';
import { FILE_LIMITS } from './tasks.ts';

const LIMITS = { ...FILE_LIMITS, maxSignatures: Number.POSITIVE_INFINITY };

type Check<T> = (value: unknown, limits: TaskFileLimits) => Checked<T>;

/**
 * Reads a list. An array of at most 256 MiB is checked as a whole, and its faults are all reported;
 * of any other list, the first one is, when it is reached.
 *
 * @param check of src/wire: `checkTriples` or `checkStatements`
 * @param most bytes that are kept
 * @returns all elements, or, of a longer list, an iterable that reads them
 * @throws CodedError as `parseTaskFile`; IoFailure
 */
export async function readList<T>(
  path: string,
  io: Io,
  check: Check<T>,
  most = MAX_INPUT_BYTES,
): Promise<T[] | AsyncIterable<T>> {
  const pieces = streamInput(path, io);
  const kept: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await pieces.next();
    if (next.done) break;
    kept.push(next.value);
    length += next.value.length;
    if (length > most) return elementsOf(both(kept, pieces), check);
  }
  const file = concatAll(kept);
  const start = new TextDecoder().decode(file.subarray(0, 64)).trimStart();
  if (!start.startsWith('{')) return checked(check, parseJsonFile(file, 'task file', most));
  const elements: T[] = [];
  for await (const element of elementsOf([file], check)) elements.push(element);
  return elements;
}

function checked<T>(check: Check<T>, value: unknown, index?: number): T[] {
  const { items, faults } = check(value, LIMITS);
  if (items !== undefined) return items;
  throw shapeError(index === undefined ? faults : faults.map((fault) => ({ ...fault, index })));
}

async function* both<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T, void> {
  yield* first;
  yield* rest;
}

async function* elementsOf<T>(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  check: Check<T>,
): AsyncGenerator<T, void> {
  let index = 0;
  for await (const text of splitElements(pieces)) {
    yield* checked(check, [parseJsonFile(text, 'task file', text.length)], index++);
  }
  if (index === 0) checked(check, []);
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const isSpace = (c: number): boolean => c === 0x20 || (c >= 9 && c <= 13);
const isOfMark = (c: number): boolean => c === 0xef || c === 0xbb || c === 0xbf;

/** Splits an array of objects, or objects one after the other, into the texts of the objects. */
export async function* splitElements(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let parts: Uint8Array[] = [];
  let [depth, inString, isEscaped] = [0, false, false];
  /** within an array: what may follow, an element, a comma, or nothing more */
  let state: 'start' | 'lines' | 'first' | 'element' | 'comma' | 'over' = 'start';
  for await (const piece of pieces) {
    let from = 0;
    for (let i = 0; i < piece.length; i++) {
      const c = piece[i]!;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (c === BACKSLASH) isEscaped = true;
        else inString = c !== QUOTE;
      } else if (depth > 0) {
        if (c === QUOTE) inString = true;
        else if (c === OPEN || c === OPEN_LIST) depth++;
        else if (c === CLOSE || c === CLOSE_LIST) depth--;
        if (depth > 0) continue;
        parts.push(piece.subarray(from, i + 1));
        yield concatAll(parts);
        parts = [];
      } else if (!isSpace(c) && !(state === 'start' && isOfMark(c))) {
        state = after(state, c);
        if (c !== OPEN) continue;
        depth = 1;
        from = i;
      }
    }
    // The source may reuse the piece.
    if (depth > 0) parts.push(piece.slice(from));
  }
  if (depth > 0 || !['lines', 'over'].includes(state)) throw malformed();
}

/** The state after a byte between elements. @throws CodedError `MALFORMED_JSON` */
function after(state: string, c: number): 'lines' | 'first' | 'element' | 'comma' | 'over' {
  if (c === OPEN && (state === 'start' || state === 'lines')) return 'lines';
  if (c === OPEN && (state === 'first' || state === 'element')) return 'comma';
  if (c === OPEN_LIST && state === 'start') return 'first';
  if (c === COMMA && state === 'comma') return 'element';
  if (c === CLOSE_LIST && (state === 'first' || state === 'comma')) return 'over';
  throw malformed();
}

const malformed = (): CodedError =>
  new CodedError('MALFORMED_JSON', { message: 'The task file is not valid JSON' });
