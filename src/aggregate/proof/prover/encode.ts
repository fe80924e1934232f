/**
 * Encodes a section as bytes (docs/protocol.md, 11). `../verifier/parse.ts` reads exactly this
 * encoding.
 */
import { concat } from '../../../shared/bytes.ts';
import type { OrdinaryLevel, Projecting, TailLevel } from '../../parameters/rows.ts';
import { i32Bytes } from '../bits.ts';
import { PAIRS } from '../constants.ts';
import {
  type OrdinaryFields,
  type ProjectionFields,
  projectionsOf,
  type TailFields,
} from '../fields.ts';
import { runsOfG, runsOfLast, runsOfY } from '../gaussianFields.ts';
import { encodeGaussian } from './gaussian.ts';

/** The bytes of level 0 or of an ordinary level. @returns undefined if a value has no code */
export function encodeOrdinary(
  level: OrdinaryLevel,
  fields: OrdinaryFields,
): Uint8Array | undefined {
  const projections = encodeProjections(level, fields);
  if (projections === undefined) return undefined;
  return concat(
    Uint8Array.of(fields.retry),
    ...fields.first,
    Uint8Array.of(fields.counter),
    projections,
    i32Bytes(fields.w),
    fields.b,
    fields.second,
  );
}

/** The bytes of the tail. @returns undefined if a value has no code */
export function encodeTail(tail: TailLevel, fields: TailFields): Uint8Array | undefined {
  const g = encodeGaussian(fields.g, runsOfG(tail));
  const projections = encodeProjections(tail, fields);
  const last = encodeGaussian([...Array.from(fields.z), ...Array.from(fields.e)], runsOfLast(tail));
  if (g === undefined || projections === undefined || last === undefined) return undefined;
  return concat(
    Uint8Array.of(fields.retry),
    fields.t,
    g,
    fields.sealT,
    Uint8Array.of(fields.counter),
    projections,
    fields.b,
    fields.h,
    fields.sealH,
    last,
  );
}

/** Encodes the projections of all parts. @returns undefined if a value has no code */
function encodeProjections(
  { codeY, ofX }: Projecting,
  fields: ProjectionFields,
): Uint8Array | undefined {
  const all = projectionsOf(fields).flatMap(({ y, yOfX }) => [
    encodeProjection(y, codeY),
    ...(yOfX === undefined ? [] : [encodeProjection(yOfX, ofX!.codeY)]),
  ]);
  return all.includes(undefined) ? undefined : concat(...(all as Uint8Array[]));
}

/** Encodes the pairs in their code, then U and V. @returns undefined if a value has no code */
function encodeProjection(y: ArrayLike<number>, code: number): Uint8Array | undefined {
  const values = Array.from(y);
  const coded = encodeGaussian(values.slice(0, 2 * PAIRS), runsOfY(code));
  return coded && concat(coded, i32Bytes(values.slice(2 * PAIRS)));
}
