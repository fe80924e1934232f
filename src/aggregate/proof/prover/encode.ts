/**
 * The bytes of a section (docs/protocol.md, 11). `../verifier/parse.ts` reads exactly what is
 * written here.
 */
import { concat } from '../../../bytes.ts';
import type { OrdinaryLevel, TailLevel } from '../../parameters/rows.ts';
import { i32Bytes } from '../bits.ts';
import { PROJECTIONS } from '../constants.ts';
import type { OrdinaryFields, TailFields } from '../fields.ts';
import { encodeRice } from './rice.ts';

/** The bytes of level 0 or of an ordinary level. @returns undefined if a value has no Rice code */
export function encodeOrdinary(
  level: OrdinaryLevel,
  fields: OrdinaryFields,
): Uint8Array | undefined {
  const y = encodeProjection(fields.y, level.riceY);
  if (y === undefined) return undefined;
  return concat(
    Uint8Array.of(fields.retry),
    ...fields.first,
    Uint8Array.of(fields.counter),
    y,
    i32Bytes(fields.w),
    fields.b,
    fields.second,
  );
}

/** The bytes of the tail. @returns undefined if a value has no Rice code */
export function encodeTail(tail: TailLevel, fields: TailFields): Uint8Array | undefined {
  const g = encodeRice(fields.g, tail.riceG);
  const y = encodeProjection(fields.y, tail.riceY);
  const z = encodeRice(fields.z, [tail.riceZ]);
  const e = encodeRice(fields.e, [tail.riceE]);
  if (g === undefined || y === undefined || z === undefined || e === undefined) return undefined;
  return concat(
    Uint8Array.of(fields.retry),
    fields.t,
    g,
    fields.sealT,
    Uint8Array.of(fields.counter),
    y,
    fields.b,
    fields.h,
    fields.sealH,
    z,
    e,
  );
}

/** y'_0, ..., y'_263 as Rice codes, then y_264. @returns undefined if a value has no code */
function encodeProjection(y: ArrayLike<number>, k: number): Uint8Array | undefined {
  const codes = encodeRice(Array.from(y).slice(0, PROJECTIONS), [k]);
  return codes && concat(codes, i32Bytes([y[PROJECTIONS]!]));
}
