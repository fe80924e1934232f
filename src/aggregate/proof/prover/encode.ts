/**
 * Encodes a section as bytes (docs/protocol.md, 11). `../verifier/parse.ts` reads exactly this
 * encoding.
 */
import { concat } from '../../../shared/bytes.ts';
import type { OrdinaryLevel, TailLevel } from '../../parameters/rows.ts';
import { i32Bytes } from '../bits.ts';
import { PAIRS } from '../constants.ts';
import type { OrdinaryFields, TailFields } from '../fields.ts';
import { runsOfG, runsOfLast, runsOfY } from '../gaussianFields.ts';
import { encodeGaussian } from './gaussian.ts';

/** The bytes of level 0 or of an ordinary level. @returns undefined if a value has no code */
export function encodeOrdinary(
  level: OrdinaryLevel,
  fields: OrdinaryFields,
  before?: OrdinaryLevel,
): Uint8Array | undefined {
  const y = encodeProjection(fields.y, level.codeY);
  const yOfX = encodeBlock(fields, before);
  if (y === undefined || yOfX === undefined) return undefined;
  return concat(
    Uint8Array.of(fields.retry),
    ...fields.first,
    Uint8Array.of(fields.counter),
    y,
    yOfX,
    i32Bytes(fields.w),
    fields.b,
    fields.second,
  );
}

/** The bytes of the tail. @returns undefined if a value has no code */
export function encodeTail(
  tail: TailLevel,
  fields: TailFields,
  before?: OrdinaryLevel,
): Uint8Array | undefined {
  const g = encodeGaussian(fields.g, runsOfG(tail));
  const y = encodeProjection(fields.y, tail.codeY);
  const last = encodeGaussian([...Array.from(fields.z), ...Array.from(fields.e)], runsOfLast(tail));
  const yOfX = encodeBlock(fields, before);
  if (g === undefined || y === undefined || yOfX === undefined || last === undefined) {
    return undefined;
  }
  return concat(
    Uint8Array.of(fields.retry),
    fields.t,
    g,
    fields.sealT,
    Uint8Array.of(fields.counter),
    y,
    yOfX,
    fields.b,
    fields.h,
    fields.sealH,
    last,
  );
}

/** Encodes the projection of x, if the previous level hides its messages. */
function encodeBlock(
  { yOfX }: Pick<OrdinaryFields, 'yOfX'>,
  before: OrdinaryLevel | undefined,
): Uint8Array | undefined {
  return yOfX === undefined ? new Uint8Array(0) : encodeProjection(yOfX, before!.codeX);
}

/** Encodes the pairs in their code, then U and V. @returns undefined if a value has no code */
function encodeProjection(y: ArrayLike<number>, code: number): Uint8Array | undefined {
  const values = Array.from(y);
  const coded = encodeGaussian(values.slice(0, 2 * PAIRS), runsOfY(code));
  return coded && concat(coded, i32Bytes(values.slice(2 * PAIRS)));
}
