/**
 * Section 8.5: what a level or the tail proves besides its projection if the level before is
 * hidden. Without a hidden level before, only (P) of it is left, which is section 8.4.
 */
import { keyRow, type Pair, ROWS, scalars } from './challenges.ts';
import type { Checks } from './checks.ts';
import type { Hidden } from './claim.ts';
import { liftsOf, type SentProjection, valuesOfY, weigh } from './lifts.ts';
import {
  add,
  constant,
  DEGREE,
  mod,
  type Packed,
  type Poly,
  pack,
  powerOf2,
  scale,
  unpack,
} from './ring.ts';
import type { HiddenMessage, Ordinary } from './shapes.ts';
import { STREAM, stream } from './streams.ts';

/** Places j of (Q): coefficients 4 j and 4 j + 32 are one element of S_q. */
const PLACES = 8;
const NONE: Pair = [0n, 0n];

/** The scalars of one lift; those of an equation that is not checked are zero. */
export interface Scalars {
  /** ω of (P) */
  readonly ofP: readonly Pair[];
  /** ω^x of (P_x); empty behind an open level, as are the others */
  readonly ofPx: readonly Pair[];
  /** ω_{M,row,j} of (Q), by message, row and place */
  readonly ofQ: readonly (readonly (readonly Pair[])[])[];
  /** ω^b of (T_b) */
  readonly ofTb: readonly Pair[];
}

/**
 * Stream 4 of every lift of a level.
 *
 * @param before the level before, if it is hidden
 */
export function scalarsOf(
  lift: Uint8Array,
  level: number,
  before: Ordinary | undefined,
  checks: Readonly<Checks>,
): Scalars[] {
  const messages = before?.messages ?? [];
  const [k, lifts] = before ? [before.k, liftsOf(before.level).length] : [0, 0];
  const ofX = before ? ROWS : 0;
  const count = ROWS + ofX + messages.length * k * PLACES + lifts;
  return liftsOf(level).map((sub) => {
    const words = scalars(stream(lift, { type: STREAM.omega, level, sub }), 2 * count);
    let at = 0;
    const next = (length: number): Pair[] =>
      Array.from({ length }, (): Pair => [words[at++]!, words[at++]!]);
    const ofP = next(ROWS);
    const ofPx = next(ofX);
    const ofQ = messages.map(() => Array.from({ length: k }, () => next(PLACES)));
    const ofTb = next(lifts);
    return weakened({ ofP, ofPx, ofQ, ofTb }, sub, messages, checks);
  });
}

/** The scalars of lift `sub` as they were drawn, unless a check is off. */
function weakened(
  drawn: Scalars,
  sub: number,
  messages: readonly HiddenMessage[],
  checks: Readonly<Checks>,
): Scalars {
  const { ofQ, ofTb } = drawn;
  const own = (list: readonly Pair[]) =>
    list.map((x) => (checks.scalarsOfProjections ? x : list[0]!));
  const [ofP, ofPx] = [own(drawn.ofP), own(drawn.ofPx)];
  const repeated = (i: number): Pair => ofP[i % ROWS]!;
  const rows = ofQ[0]?.length ?? 0;
  const scalarOfQ = (message: number, row: number, j: number): Pair => {
    const m = checks.scalarsOfMessages ? message : 0;
    const r = checks.scalarsOfRows ? row : 0;
    const p = checks.scalarsOfPlaces ? j : 0;
    return checks.scalarsOfQ ? ofQ[m]![r]![p]! : repeated((m * rows + r) * PLACES + p);
  };
  const scalarOfTb = (lift: number): Pair => {
    const l = checks.scalarsOfLifts ? lift : 0;
    return checks.scalarsOfTb ? ofTb[l]! : repeated(l);
  };
  const isOfTb = (l: number) =>
    checks.Tb && checks[`Tb${l + 1}` as 'Tb1'] && (sub === 0 || checks.TbTwice);
  const isOfPx = (j: number) => checks.Px && (j < ROWS - 1 || checks.Px136);
  return {
    ofP: ofP.map((x) => (checks.J ? x : NONE)),
    ofPx: ofPx.map((x, j) => (isOfPx(j) ? (checks.scalarsOfPx ? x : repeated(j)) : NONE)),
    ofQ: ofQ.map((ofMessage, m) => {
      const isOn = checks.Q && checks[`Q${messages[m]!.name}`];
      return ofMessage.map((ofRow, r) => ofRow.map((_, j) => (isOn ? scalarOfQ(m, r, j) : NONE)));
    }),
    ofTb: ofTb.map((_, l) => (isOfTb(l) ? scalarOfTb(l) : NONE)),
  };
}

/** ω_j + ω^x_j: what the rows of the projection are weighed with at places of x. */
export const weightsAtX = ({ ofP, ofPx }: Scalars): Pair[] =>
  ofP.map(([a, b], j): Pair => {
    const [ax, bx] = ofPx[j]!;
    return [mod(a + ax), mod(b + bx)];
  });

/** X^(-4j): 1, and -X^(64 - 4j) for j > 0 */
function backBy4(j: number): Poly {
  if (j === 0) return constant(1n);
  const monomial = new Array<bigint>(DEGREE).fill(0n);
  monomial[DEGREE - 4 * j] = 1n;
  return scale(monomial, -1n);
}

/** a + b X^32 */
function elementOf([a, b]: Pair): Poly {
  const element = new Array<bigint>(DEGREE).fill(0n);
  element[0] = a;
  element[DEGREE / 2] = b;
  return element;
}

/**
 * Σ_k β_k F of (Q) and (T_b), for every place of x.
 *
 * @param before the level before, which is hidden
 */
export function formsOnX(
  before: Ordinary,
  scalarsOfLifts: readonly Scalars[],
  beta: readonly Poly[],
): Poly[] {
  const { messages, w, lengthOfX } = before;
  const forms = new Array<Packed>(lengthOfX).fill(0n);
  for (const [m, message] of messages.entries()) {
    const { name, polynomials, digits, first } = message;
    addQ(
      forms,
      before,
      message,
      scalarsOfLifts.map(({ ofQ }) => ofQ[m]!),
      beta,
    );
    if (name !== 'b') continue;
    for (let digit = 0; digit < digits; digit++) {
      for (let i = 0; i < polynomials; i++) {
        for (const [k, { ofTb }] of scalarsOfLifts.entries()) {
          const weight = scale(elementOf(ofTb[i]!), powerOf2(w * digit));
          forms[first + digit * polynomials + i]! += pack(beta[k]!) * pack(weight);
        }
      }
    }
  }
  return forms.map(unpack);
}

/** Σ_k β_k Σ_row (Σ_j ω_{M,row,j} X^(-4j)) M[row][col] on the digits of one message */
function addQ(
  forms: Packed[],
  { k: rows }: Ordinary,
  { polynomials, digits, first }: HiddenMessage,
  ofQ: readonly (readonly (readonly Pair[])[])[],
  beta: readonly Poly[],
): void {
  for (let row = 0; row < rows; row++) {
    let sum = 0n;
    for (const [k, ofLift] of ofQ.entries()) {
      let ofRow = 0n;
      for (const [j, scalar] of ofLift[row]!.entries()) {
        ofRow += pack(elementOf(scalar)) * pack(backBy4(j));
      }
      sum += pack(beta[k]!) * pack(unpack(ofRow));
    }
    const factor = pack(unpack(sum));
    for (const [col, element] of keyRow(row, polynomials * digits).entries()) {
      forms[first + col]! += factor * pack(element);
    }
  }
}

/**
 * D of every lift: what T(b^(k+1)) must be.
 *
 * @param before what the level before left, if it is hidden
 */
export function valuesOfLifts(
  scalarsOfLifts: readonly Scalars[],
  y: SentProjection,
  yOfX: SentProjection | undefined,
  before: Hidden | undefined,
  checks: Readonly<Checks>,
): Pair[] {
  const rows = valuesOfY(y);
  return scalarsOfLifts.map((ofLift) => {
    let sum = elementOf(weigh(ofLift.ofP, rows));
    const plus = (isOn: boolean, scalarsOf: readonly Pair[], values: readonly Pair[]): void => {
      if (isOn) sum = add(sum, elementOf(weigh(scalarsOf, values)));
    };
    if (before !== undefined) {
      plus(checks.rightOfPx, ofLift.ofPx, valuesOfY(yOfX!));
      for (const [m, p] of before.p.entries()) {
        for (const [row, list] of p.entries()) {
          const values = Array.from(
            { length: PLACES },
            (_, j): Pair => [list[j]!, list[j + PLACES]!],
          );
          plus(checks.rightOfQ, ofLift.ofQ[m]![row]!, values);
        }
      }
      plus(checks.rightOfTb, ofLift.ofTb, before.values);
    }
    return [sum[0]!, sum[DEGREE / 2]!];
  });
}
