/**
 * Parts as the input of the merged level (docs/merged.md, 1.1 and 1.7): the output of level 0 of
 * every part, which another prover made, from the claim that remains of its fields.
 */
import { ascii } from '../../../shared/bytes.ts';
import { shake256 } from '../../../falcon/points.ts';
import type { MergedParameters, OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import {
  COEFS_BYTES,
  type Coefs,
  FORM_BYTES,
  type Labrador,
  SMALL_BYTES,
  type Smalls,
  type Vecs,
} from '../../wasm.ts';
import { Seed } from '../challenges.ts';
import type { Claim } from '../claim.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import { foldKeys } from '../foldKeys.ts';
import { formAt, zeroForms } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import { centred, coefsOf, slice, type Values, valuesOf, vecOfBlocks } from '../ring.ts';
import { outersOf, piecesOf } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import {
  type Carried,
  carryAmortised,
  carryConstraints,
  distinctA,
  type LevelInput,
} from './constraintsBehind.ts';
import { commitToDigits } from './hidden.ts';
import type { KeyStore } from './keyStore.ts';
import { digitsOf } from './output.ts';
import { vecOfSmalls } from './hidden.ts';

/** A part whose fields have been verified. */
export interface VerifiedPart {
  /** the state of its transcript after `u2` */
  readonly st: Uint8Array;
  readonly claim: Claim;
  /** z_0, ..., z_(f-1), v: 64 coefficients of each polynomial */
  readonly output: Int16Array;
}

