/**
 * Reads the fields of a section (docs/protocol.md, 11), and rejects everything that
 * `../prover/encode.ts` does not write. All counts come from the table.
 */
import type { OrdinaryLevel, Parameters, TailLevel } from '../../parameters/rows.ts';
import { DEGREE, FUNCTIONALS, SEAL_BYTES } from '../constants.ts';
import type { OrdinaryFields, TailFields } from '../fields.ts';
import { runsOfG, runsOfLast } from '../gaussianFields.ts';
import { FieldReader, Refused } from './fieldReader.ts';

export interface ParsedOrdinary extends OrdinaryFields {
  readonly y: Int32Array;
  readonly yOfX?: Int32Array;
  readonly w: Int32Array;
}

export interface ParsedTail extends TailFields {
  readonly g: Float64Array;
  readonly y: Int32Array;
  readonly yOfX?: Int32Array;
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
    const levels = parameters.levels.map((level, i, all) =>
      parseOrdinary(reader, level, i, all[i - 1]),
    );
    const before = parameters.levels.at(-1);
    const tail = parseTail(reader, parameters.tail, parameters.levels.length, before);
    return { levels, tail, end: reader.at };
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function parseOrdinary(
  reader: FieldReader,
  { kappa1, cut, codeY, w: hiding, k }: OrdinaryLevel,
  number: number,
  before: OrdinaryLevel | undefined,
): ParsedOrdinary {
  const message = (): Uint8Array =>
    hiding === 0 ? reader.cutValues(kappa1, cut) : reader.quarters(k);
  const retry = reader.repeats();
  const first = [message()];
  if (number === 0) first.push(message());
  const counter = reader.repeats();
  const y = reader.projection(codeY);
  const ofX = projectionOfX(reader, before);
  const w = reader.i32(number === 0 ? FUNCTIONALS : 0);
  const b = hiding === 0 ? reader.lifts(number) : reader.hiddenLifts(number, k);
  const second = message();
  return { retry, first, counter, y, ...ofX, w, b, second };
}

/** The projection of x alone, if the previous level hides its messages. */
const projectionOfX = (
  reader: FieldReader,
  before: OrdinaryLevel | undefined,
): { yOfX?: Int32Array } =>
  before === undefined || before.w === 0 ? {} : { yOfX: reader.projection(before.codeX) };

function parseTail(
  reader: FieldReader,
  tail: TailLevel,
  number: number,
  before: OrdinaryLevel | undefined,
): ParsedTail {
  const { r, n, kappa, cut, pairs } = tail;
  const retry = reader.repeats();
  const t = reader.cutValues((r - 1) * kappa, cut);
  const g = reader.garbage(runsOfG(tail));
  const sealT = reader.take(SEAL_BYTES);
  const counter = reader.repeats();
  const y = reader.projection(tail.codeY);
  const ofX = projectionOfX(reader, before);
  const b = reader.lifts(number);
  const h = reader.residues(pairs - 2);
  const sealH = reader.take(SEAL_BYTES);
  const last = Int32Array.from(reader.gaussian(runsOfLast(tail)));
  const [z, e] = [last.subarray(0, DEGREE * n), last.subarray(DEGREE * n)];
  return { retry, t, g, sealT, counter, y, ...ofX, b, h, sealH, z, e };
}
