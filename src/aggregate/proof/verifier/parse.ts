/**
 * Reads the fields of a section (docs/protocol.md, 11), and rejects everything that
 * `../prover/encode.ts` does not write. All counts come from the table.
 */
import type { OrdinaryLevel, Parameters, Projecting, TailLevel } from '../../parameters/rows.ts';
import { DEGREE, FUNCTIONALS, SEAL_BYTES } from '../constants.ts';
import type { OrdinaryFields, TailFields } from '../fields.ts';
import { runsOfG, runsOfLast } from '../gaussianFields.ts';
import { FieldReader, Refused } from './fieldReader.ts';

/** The projections of one part, parsed. */
interface ParsedPart {
  readonly y: Int32Array;
  readonly yOfX?: Int32Array;
}

/** The projections of a level. */
export interface ParsedProjections extends ParsedPart {
  readonly others?: readonly ParsedPart[];
}

export interface ParsedOrdinary extends OrdinaryFields, ParsedProjections {
  readonly y: Int32Array;
  readonly yOfX?: Int32Array;
  readonly others?: readonly ParsedPart[];
  readonly w: Int32Array;
}

export interface ParsedTail extends TailFields, ParsedProjections {
  readonly g: Float64Array;
  readonly y: Int32Array;
  readonly yOfX?: Int32Array;
  readonly others?: readonly ParsedPart[];
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

/**
 * Reads one section.
 *
 * @param at offset of the section; other bytes may follow it
 * @returns undefined unless the bytes from `at` onwards begin with the canonical encoding of fields
 */
export function parseSection(
  parameters: Parameters,
  bytes: Uint8Array,
  at: number,
): ParsedSection | undefined {
  const reader = new FieldReader(bytes, at);
  try {
    const levels = parameters.levels.map((level, i) => parseOrdinary(reader, level, i));
    const tail = parseTail(reader, parameters.tail, parameters.levels.length);
    return { levels, tail, end: reader.at };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
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
  return { ...first!, ...(others.length > 0 && { others }) };
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
