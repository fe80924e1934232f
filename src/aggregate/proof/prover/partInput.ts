/**
 * Parts as the input of the merged level (docs/merged.md, 1.1 and 1.7): the output of level 0 of
 * every part, which another prover made, and the claim that its fields leave.
 */
import { shake256 } from '../../../falcon/points.ts';
import { ascii, equal } from '../../../shared/bytes.ts';
import type { MergedParameters, OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import {
  COEFS_BYTES,
  type Coefs,
  type Forms,
  type Labrador,
  type Smalls,
  type Vecs,
} from '../../wasm.ts';
import { Seed } from '../challenges.ts';
import type { Claim } from '../claim.ts';
import { DEGREE, Q, Q_BITS } from '../constants.ts';
import { foldKeys } from '../foldKeys.ts';
import { powerForms } from '../forms.ts';
import { liftsOf } from '../lifts.ts';
import { centred, coefsOf, slice, type Values, vecOfBlocks } from '../ring.ts';
import { pairIndex, runsOfInput } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import {
  type Carried,
  carryAmortised,
  carryConstraints,
  distinctA,
  type LevelInput,
} from './constraintsBehind.ts';
import { commitToDigits, vecOfSmalls } from './hidden.ts';
import type { KeyStore } from './keyStore.ts';
import { digitsOf, frameOf, storeFor } from './output.ts';
import { coefsOfSums } from './steps.ts';

/** A part: the claim of its fields, which has been verified, and the polynomials it is about. */
export interface PartOutput {
  /** the state of its transcript after `u2` */
  readonly st: Uint8Array;
  readonly claim: Claim & { readonly phi: Values };
  /** z_0, ..., z_(f-1), v: 64 coefficients of each polynomial */
  readonly output: Int16Array;
}

/** The outputs of all parts, in the module's memory. Valid until the enclosing scope ends. */
export function inputOfParts(
  lab: Labrador,
  keys: KeyStore,
  { levels: [zero, merged] }: MergedParameters,
  parts: readonly PartOutput[],
): LevelInput {
  const runs = runsOfInput(merged!);
  const count = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  const rows = lab.smalls(count);
  let at = 0;
  for (const { part, number, from, to } of runs) {
    const { output } = parts[part]!;
    const polynomials = output.subarray(64 * number, 64 * (number + to - from));
    lab.i16(rows).set(polynomials, 64 * at);
    at += to - from;
  }
  return { outputs: parts.map((part) => carriedOf(lab, keys, zero!, part).carried), rows };
}

/** @returns what a level needs of a part, and p of every hidden message as its digits give them */
function carriedOf(
  lab: Labrador,
  keys: KeyStore,
  params: OrdinaryLevel,
  { claim, output }: PartOutput,
): { readonly carried: Carried; readonly quarters: readonly Uint8Array[] } {
  const { r, k, messages, w } = params;
  const frame = frameOf(lab, keys, 0, params);
  const { hidden, quarterKeys } = frame;
  const lifts = liftsOf(0).count;
  const quarters = lab.scope(() => {
    const from = 64 * params.f * params.n;
    const x = smallsOf(lab, output.subarray(from, from + 64 * params.lengthX));
    if (w > 0) composeLifts(lab, params, x, slice(hidden, k * messages.length, lifts));
    return messages.map((message, i) => {
      const ofMessage = slice(x, message.from, digitsOf(message));
      return commitToDigits(lab, quarterKeys, ofMessage, slice(hidden, k * i, k));
    });
  });
  const b = lab.coefs(1);
  lab.i64(b).set(claim.b);
  const carried: Carried = {
    ...frame,
    hats: frame.outers.map((_, i) => hatOf(lab, params, claim.outer[i])),
    c: formsOfBytes(lab, claim.c, r),
    phiZ: claim.phi,
    phiE: claim.phiE ?? new BigInt64Array(0),
    beta: claim.hidden ? formsOfBytes(lab, claim.hidden.beta, lifts) : lab.forms(lifts),
    a: quadraticsOf(lab, claim),
    b,
  };
  return { carried, quarters };
}

function smallsOf(lab: Labrador, coefficients: Int16Array): Smalls {
  const smalls = lab.smalls(coefficients.length / 64);
  lab.i16(smalls).set(coefficients);
  return smalls;
}

const formsOfBytes = (lab: Labrador, bytes: Uint8Array, count: number): Forms => ({
  kind: 'forms',
  at: lab.put(bytes),
  count,
});

function quadraticsOf(lab: Labrador, { quadratic }: Claim): Map<number, number> {
  return new Map(
    quadratic.flatMap(({ pairs, factor }) => {
      const form = lab.forms(1).at;
      const values = BigInt64Array.from(factor, centred);
      lab.scope(() => lab.kernels.coefsToForm(form, coefsOf(lab, [values]).at));
      return pairs.map((pair): [number, number] => [pair, form]);
    }),
  );
}

/** The value that represents an outer commitment. @param sent u', unless it is hidden */
function hatOf(lab: Labrador, { kappa1, cut }: OrdinaryLevel, sent: Uint8Array | undefined): Coefs {
  const hat = lab.coefs(kappa1);
  if (sent === undefined) {
    lab.i64(hat).fill((1n << BigInt(cut)) / 2n);
    return hat;
  }
  lab.scope(() => {
    lab.kernels.unpackBits(hat.at, lab.put(sent), DEGREE * kappa1, Q_BITS - cut, Q);
    for (let k = 0; k < kappa1; k++) {
      const at = hat.at + COEFS_BYTES * k;
      lab.kernels.restoreCut(at, at, cut);
    }
  });
  return hat;
}

/** The lifts from their digits. */
function composeLifts(
  lab: Labrador,
  { messages, w }: OrdinaryLevel,
  x: Smalls,
  lifts: Coefs,
): void {
  const { from, polynomials, digits } = messages.find(({ isLifts }) => isLifts)!;
  const values = lab.i16(x).subarray(64 * from);
  const out = lab.i64(lifts);
  for (let i = 0; i < 64 * polynomials; i++) {
    let sum = 0n;
    for (let j = digits - 1; j >= 0; j--) {
      sum = (sum << BigInt(w)) + BigInt(values[64 * polynomials * j + i]!);
    }
    out[i] = centred(sum);
  }
}

/** The label of the challenges with which a merger checks a part. */
const CHECK_LABEL = ascii('falconry part check');

/**
 * Returns whether the polynomials of a part satisfy all that its claim says (docs/merged.md, 1.7):
 * the norms, (Q), (T_b), and E1 to E6, the latter combined by short challenges that depend on the
 * whole part. A part that does not is accepted with probability 2^-190 for each that is tried.
 */
export function satisfiesClaim(
  lab: Labrador,
  parameters: MergedParameters,
  part: PartOutput,
): boolean {
  return lab.scope(() => {
    const params = parameters.levels[0]!;
    const { f, n, m, lengthX, outSq, xSq } = params;
    const all = smallsOf(lab, part.output);
    const v = slice(all, f * n, m);
    if (lab.normSq(all) > BigInt(outSq)) return false;
    if (lab.normSq(slice(v, 0, lengthX)) > BigInt(xSq)) return false;
    const keys = storeFor(lab, { levels: [params], tail: undefined });
    const { carried, quarters } = carriedOf(lab, keys, params, part);
    const { hidden } = part.claim;
    if (hidden !== undefined) {
      if (!hidden.quarters.every((sent, i) => equal(sent, quarters[i]!))) return false;
      const first = carried.hidden.count - hidden.lifts.length;
      const lifts = lab.i64(slice(carried.hidden, first, hidden.lifts.length));
      const isRight = ([real, imaginary]: readonly [bigint, bigint], i: number): boolean =>
        centred(real - lifts[DEGREE * i]!) === 0n &&
        centred(imaginary - lifts[DEGREE * i + DEGREE / 2]!) === 0n;
      if (!hidden.lifts.every(isRight)) return false;
    }
    return satisfiesConstraints(lab, carried, slice(all, 0, f * n), v, part);
  });
}

/** E1 to E6, combined. */
function satisfiesConstraints(
  lab: Labrador,
  carried: Carried,
  z: Smalls,
  v: Smalls,
  { st, output }: PartOutput,
): boolean {
  const { kernels } = lab;
  const { f, b, n, m, kappa } = carried.params;
  const bytes = new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
  const challenges = shake256([CHECK_LABEL, st, bytes], 32).slice();
  const fold = { columns: { from: 0, to: n } };
  const use = { number: 1, seed: challenges, columns: n, short: SHORT.amortised, first: 0 };
  const [blocks] = foldKeys(lab, { ...fold, uses: [{ ...use, rows: kappa }] });
  const onZ = vecOfCoefs(
    lab,
    coefsOf(lab, [carryAmortised(lab, vecOfBlocks(lab, blocks!), carried.phiZ)]),
  );
  // every z_i is a row, and v is one
  const rows = new Array<number>(f + 1).fill(1);
  const [r, pairs] = [f + 1, ((f + 1) * (f + 2)) / 2];
  const shape: Shape = { n, lengths: [...new Array<number>(f).fill(n), m], rows, r, pairs };
  const target = { a: new Map<number, number>(), aForms: lab.forms(distinctA(f)), b: lab.coefs(1) };
  const seed = new Seed(lab, challenges, 1);
  const input = { outputs: [carried], rows: z };
  const onV = carryConstraints(lab, seed, shape, input, target, []);

  const sums = lab.sums(1);
  const powers = powerForms(lab, f, b);
  // z of its digits
  const whole = lab.vecs(1, n);
  const digits = Array.from({ length: f }, (_, i) => vecOfSmalls(lab, slice(z, n * i, n)));
  lab.combine(
    whole,
    0,
    digits.map(({ at }) => at),
    powers,
  );
  lab.products(sums, onZ, whole);
  lab.products(sums, vecOfCoefs(lab, onV), vecOfSmalls(lab, v));
  const total = lab.forms(1).at;
  kernels.coefsToForm(total, coefsOfSums(lab, sums).at);
  for (let i = 0; i < f; i++) {
    for (let k = i; k < f; k++) {
      lab.scope(() => {
        const squares = lab.sums(1);
        lab.products(squares, digits[i]!, digits[k]!);
        const product = lab.forms(1).at;
        kernels.coefsToForm(product, coefsOfSums(lab, squares).at);
        kernels.mulForm(product, product, target.a.get(pairIndex(r, i, k))!);
        kernels.addForm(total, total, product);
      });
    }
  }
  const sum = lab.coefs(1);
  kernels.formToCoefs(sum.at, total);
  return lab.i64(sum).every((value, j) => centred(value - lab.i64(target.b)[j]!) === 0n);
}

function vecOfCoefs(lab: Labrador, { at, count }: Coefs): Vecs {
  const vec = lab.vecs(1, count);
  lab.kernels.coefsToVec(vec.at, 0, at, COEFS_BYTES, count);
  return vec;
}
