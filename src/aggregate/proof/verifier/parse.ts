/**
 * Reads the fields of a section (docs/protocol.md, 11), and rejects everything that
 * `../prover/encode.ts` does not write. All counts come from the table.
 */
import type {
  MergedParameters,
  OrdinaryLevel,
  Parameters,
  Projecting,
  TailLevel,
} from '../../parameters/rows.ts';
import { DEGREE, FUNCTIONALS, SEAL_BYTES } from '../constants.ts';
import type { OrdinaryFields, ProjectionFields, TailFields } from '../fields.ts';
import { runsOfG, runsOfLast } from '../gaussianFields.ts';
import { FieldReader, Refused } from './fieldReader.ts';

/** The projections of one part, parsed. */
interface ParsedPart {
  readonly y: Int32Array;
  readonly yOfX?: Int32Array;
}

/** The projections of a level. */
export interface ParsedProjections extends ParsedPart {
  readonly others: readonly ParsedPart[];
}

type Other<Fields extends ProjectionFields> = Omit<Fields, keyof ProjectionFields>;

export interface ParsedOrdinary extends Other<OrdinaryFields>, ParsedProjections {
  readonly w: Int32Array;
}

export interface ParsedTail extends Other<TailFields>, ParsedProjections {
  readonly g: Float64Array;
  readonly z: Int32Array;
  readonly e: Int32Array;
}

/** The fields of a section. Byte strings are views of the given bytes. */
export interface ParsedSection {
  readonly levels: readonly ParsedOrdinary[];
  readonly tail: ParsedTail;
  /** where the section ends */
  readonly end: number;
}

/** The fields of a merged proof (docs/merged.md, 1.7); `levels` begins with that of part 1. */
export interface ParsedMerged extends ParsedSection {
  /** level 0 of every part */
  readonly zeros: readonly ParsedOrdinary[];
  readonly attempt: number;
}

/**
 * Reads one section.
 *
 * @param at offset of the section; other bytes may follow it
 * @returns undefined unless the bytes from `at` onwards begin with the canonical encoding of fields
 */
export const parseSection = (
  { levels, tail }: Parameters,
  bytes: Uint8Array,
  at: number,
): ParsedSection | undefined =>
  parsed(bytes, at, (reader) => {
    const zero = parseOrdinary(reader, levels[0]!, 0);
    return { ...parseRest(reader, zero, levels, tail), end: reader.at };
  });

/** Reads level 0 of a part, like `parseSection`. */
export const parseZero = (
  { levels }: Pick<Parameters, 'levels'>,
  bytes: Uint8Array,
  at: number,
): { readonly fields: ParsedOrdinary; readonly end: number } | undefined =>
  parsed(bytes, at, (reader) => {
    return { fields: parseOrdinary(reader, levels[0]!, 0), end: reader.at };
  });

/** Reads the fields of a merged proof, which follow its headers, like `parseSection`. */
export const parseMerged = (
  { levels, tail, parts }: MergedParameters,
  bytes: Uint8Array,
  at: number,
): ParsedMerged | undefined =>
  parsed(bytes, at, (reader) => {
    const zeros = Array.from({ length: parts.count }, () => parseOrdinary(reader, levels[0]!, 0));
    const attempt = reader.repeats();
    return { zeros, attempt, ...parseRest(reader, zeros[0]!, levels, tail), end: reader.at };
  });

/** @returns undefined if the reader refuses */
function parsed<T>(bytes: Uint8Array, at: number, read: (reader: FieldReader) => T): T | undefined {
  try {
    return read(new FieldReader(bytes, at));
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

/** The levels after the first, and the tail. */
function parseRest(
  reader: FieldReader,
  zero: ParsedOrdinary,
  levels: readonly OrdinaryLevel[],
  tail: TailLevel,
): Pick<ParsedSection, 'levels' | 'tail'> {
  const others = levels.slice(1).map((level, i) => parseOrdinary(reader, level, i + 1));
  return { levels: [zero, ...others], tail: parseTail(reader, tail, levels.length) };
}

function parseOrdinary(reader: FieldReader, level: OrdinaryLevel, number: number): ParsedOrdinary {
  const { kappa1, cut, w: hiding, k } = level;
  const message = (): Uint8Array =>
    hiding === 0 ? reader.cutValues(kappa1, cut) : reader.quarters(k);
  const retry = reader.repeats();
  const first = [message()];
  if (number === 0) first.push(message());
  const counter = reader.repeats();
  const projections = parseProjections(reader, level, level.parts?.count);
  const w = reader.i32(number === 0 ? FUNCTIONALS : 0);
  const b = hiding === 0 ? reader.lifts(number) : reader.hiddenLifts(number, k);
  const second = message();
  return { retry, first, counter, ...projections, w, b, second };
}

function parseProjections(
  reader: FieldReader,
  { codeY, ofX }: Projecting,
  parts = 1,
): ParsedProjections {
  const [first, ...others] = Array.from({ length: parts }, (): ParsedPart => {
    const y = reader.projection(codeY);
    return { y, ...(ofX && { yOfX: reader.projection(ofX.codeY) }) };
  });
  return { ...first!, others };
}

function parseTail(reader: FieldReader, tail: TailLevel, number: number): ParsedTail {
  const { r, n, kappa, cut, pairs } = tail;
  const retry = reader.repeats();
  const t = reader.cutValues((r - 1) * kappa, cut);
  const g = reader.garbage(runsOfG(tail));
  const sealT = reader.take(SEAL_BYTES);
  const counter = reader.repeats();
  const projections = parseProjections(reader, tail);
  const b = reader.lifts(number);
  const h = reader.residues(pairs - 2);
  const sealH = reader.take(SEAL_BYTES);
  const last = Int32Array.from(reader.gaussian(runsOfLast(tail)));
  const [z, e] = [last.subarray(0, DEGREE * n), last.subarray(DEGREE * n)];
  return { retry, t, g, sealT, counter, ...projections, b, h, sealH, z, e };
}
