/**
 * The constraints E1 to E6 that a level leaves to the next one (docs/protocol.md, 10.1), folded
 * directly over the rows of the next level. The prover's counterpart is
 * `../prover/constraintsBehind.ts`.
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import {
  BLOCK_COLUMNS,
  COEFS_BYTES,
  FORM_BYTES,
  type Forms,
  type Labrador,
  type Vecs,
} from '../../wasm.ts';
import { type Seed, shortForms } from '../challenges.ts';
import type { Claim, QuadraticTerm } from '../claim.ts';
import { DEGREE, Q } from '../constants.ts';
import { type KeysFold, sumKeys } from '../foldKeys.ts';
import { constantForm, formAt, writeConstant, zeroForms } from '../forms.ts';
import type { Values } from '../ring.ts';
import { firstRows, outersOf, pairIndex, piecesOf } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { addProduct, Folding } from './folding.ts';
import { type FoldedUse, rowCoefficients } from './hidden.ts';
import { openSeeds } from './openSeeds.ts';
import {
  type Challenges,
  PartForms,
  reduceExtension,
  reduceGarbage,
  reduceInner,
  reduceOuter,
} from './reduceConstraints.ts';
import { reduceHidden } from './reduceHidden.ts';
import type { LevelSeeds } from './replay.ts';

/** Columns that are folded at the same time. */
const RUN = 256;

/** Digits of z, and their bits. */
type Digits = Pick<OrdinaryLevel, 'f' | 'b'>;

/**
 * Adds the claim of the previous level to phi_z, except what `foldKeysOnRows` returns, and its
 * right side to the form at `b`.
 *
 * @param omegas the scalars of the lifts of this level
 * @returns a_ab of this level
 */
export function reduceCarry(
  folding: Folding,
  shape: Shape,
  claim: Claim,
  combine: Seed,
  omegas: readonly Values[],
  b: number,
): QuadraticTerm[] {
  const { lab } = folding;
  const { level } = claim;
  const onZ = coefficientsOfZ(folding, shape, level);
  addPhi(folding, claim.phi, level.n, onZ);
  return lab.scope(() => {
    const outers = outersOf(level, claim.number).length;
    const { kappa1 } = level;
    const firsts = Array.from({ length: outers - 1 }, (_, i) =>
      shortForms(lab, combine, SHORT.outer, i * kappa1, kappa1),
    );
    const challenges: Challenges = {
      outer: [...firsts, shortForms(lab, combine, SHORT.garbage, 0, kappa1)],
      amortised: shortForms(lab, combine, SHORT.amortised, 0, level.kappa),
      delta: shortForms(lab, combine, SHORT.quadratic, 0, 1).at,
      gamma: shortForms(lab, combine, SHORT.constraint, 0, 1).at,
    };
    const c: Forms = { kind: 'forms', at: lab.put(claim.c), count: level.r };
    const pieces = piecesOf(level, outers);
    const v = new PartForms(lab, shape.rows[level.f]!, shape.n);
    reduceOuter(lab, v, claim, pieces, challenges, b);
    reduceHidden(folding, v, claim, challenges, omegas, b);
    reduceInner(lab, v, claim, pieces, c, challenges, b);
    reduceExtension(lab, v, claim, pieces);
    reduceGarbage(lab, v, claim, pieces, c, challenges);
    addProduct(lab, b, challenges.gamma, claim.b);
    folding.addVectors(lab.addresses(v.vecs), coefficientsOfV(folding, shape, level), 0, shape.n);
    return quadraticOfSquares(lab, shape, level, challenges.delta);
  });
}

/** The forms by which rows of v are folded, one for every row: c. */
const coefficientsOfV = ({ c }: Folding, shape: Shape, { f }: Digits): number[] =>
  Array.from({ length: shape.rows[f]! }, (_, row) => formAt(c, firstRows(shape)[f]! + row));

/**
 * The forms by which rows of z, before digits and signs, are folded: equal rows of z_0, z_1, ...
 * have the form of z, times -2^(b i). Valid until the enclosing scope ends.
 */
function coefficientsOfZ({ lab, c }: Folding, shape: Shape, { f, b }: Digits): number[] {
  const first = firstRows(shape);
  const forms = zeroForms(lab, shape.rows[0]!);
  lab.scope(() => {
    const product = lab.room(FORM_BYTES);
    for (let i = 0; i < f; i++) {
      const negative = constantForm(lab, -(1n << BigInt(b * i)));
      for (const row of Array(forms.count).keys()) {
        const form = formAt(forms, row);
        lab.kernels.mulForm(product, formAt(c, first[i]! + row), negative);
        lab.kernels.addForm(form, form, product);
      }
    }
  });
  return Array.from({ length: forms.count }, (_, row) => formAt(forms, row));
}

/** E5 on z. */
function addPhi(folding: Folding, phi: Claim['phi'], n: number, onZ: readonly number[]): void {
  const { lab } = folding;
  for (const i of Array(Math.ceil(n / RUN)).keys()) {
    lab.scope(() => {
      const from = RUN * i;
      const coefs = lab.coefs(Math.min(RUN, n - from));
      const end = DEGREE * (from + coefs.count);
      if (phi instanceof BigInt64Array) lab.i64(coefs).set(phi.subarray(DEGREE * from, end));
      else lab.kernels.vecToCoefs(coefs.at, phi.at, from, coefs.count);
      const [vec, staging] = [lab.vecs(1, coefs.count), stagingOf(lab)];
      lab.kernels.coefsToVec(vec.at, 0, coefs.at, COEFS_BYTES, coefs.count);
      folding.addPlaces(staging, vec, from, onZ);
    });
  }
}

/** A use of the keys that a level leaves to the next one. */
export interface PlacedUse extends FoldedUse {
  /** the place of v at which its columns begin; undefined if they are those of z */
  readonly from: number | undefined;
}

/** The keys of all levels, folded over the rows of the levels after them. */
export interface KeysOnRows extends KeysFold<PlacedUse> {
  /** levels 1, 2, ..., tail */
  readonly after: readonly (Digits & { readonly shape: Shape; readonly seeds: LevelSeeds })[];
}

/**
 * phi_z of the folded keys: E3 on z, E1 and E2 on v_t, v_g and v_h, and (Q) on x. They are folded
 * over the rows run by run, and never stored as a whole.
 *
 * @returns for levels 1, 2, ..., tail, the share of these columns of the keys; valid until the
 *   enclosing scope ends
 */
export function foldKeysOnRows(lab: Labrador, { columns, uses, after }: KeysOnRows): Vecs[] {
  const levels = after.map(({ shape, seeds, f, b }, i) => {
    const folding = new Folding(lab, openSeeds(lab, seeds, i + 1, shape.r), shape.n);
    const ofZ = coefficientsOfZ(folding, shape, { f, b });
    return { folding, ofZ, ofV: coefficientsOfV(folding, shape, { f, b }) };
  });
  lab.scope(() => {
    const ofKeys = rowCoefficients(lab, uses);
    for (const run of Array(Math.ceil((columns.to - columns.from) / RUN)).keys()) {
      lab.scope(() => {
        const from = columns.from + RUN * run;
        const staging = stagingOf(lab);
        const to = Math.min(columns.to, from + RUN);
        const sums = sumKeys(lab, { columns: { from, to }, uses }, ofKeys);
        for (const [i, sum] of sums.entries()) {
          const use = uses[i]!;
          const { folding, ofZ, ofV } = levels[use.number - 1]!;
          folding.addPlaces(
            staging,
            sum,
            (use.from ?? 0) + from,
            use.from === undefined ? ofZ : ofV,
          );
        }
      });
    }
  });
  return levels.map(({ folding }) => folding.sum);
}

const stagingOf = (lab: Labrador): Vecs => lab.vecs(1, RUN + BLOCK_COLUMNS);

/** a_ab of -delta <z, z>. */
function quadraticOfSquares(
  lab: Labrador,
  shape: Shape,
  { f, b }: OrdinaryLevel,
  delta: number,
): QuadraticTerm[] {
  const first = firstRows(shape);
  const coefs = lab.coefs(1);
  const form = lab.room(FORM_BYTES);
  const terms: QuadraticTerm[] = [];
  for (let k = 0; k < f; k++) {
    for (let i = 0; i <= k; i++) {
      writeConstant(lab, form, ((i === k ? -1n : -2n) << BigInt(b * (i + k))) % Q);
      lab.kernels.mulForm(form, form, delta);
      lab.kernels.formToCoefs(coefs.at, form);
      const factor = lab.i64(coefs).slice();
      const pairs = Array.from({ length: shape.rows[i]! }, (_, row) =>
        pairIndex(shape.r, first[i]! + row, first[k]! + row),
      );
      terms.push({ pairs, factor });
    }
  }
  return terms;
}
