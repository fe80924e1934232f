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
import { portionsOf } from '../columns.ts';
import { DEGREE, Q } from '../constants.ts';
import { type KeysFold, sumKeys } from '../foldKeys.ts';
import { writeConstant, zeroForms } from '../forms.ts';
import type { Values } from '../ring.ts';
import { firstRows, outersOf, pairIndex, piecesOf, segmentOfZ } from '../shapes.ts';
import { SHORT } from '../transcript.ts';
import { addProduct, Folding } from './folding.ts';
import { type FoldedUse, rowCoefficients } from './hidden.ts';
import { openSeeds } from './openSeeds.ts';
import { type Digits, Placing } from './placing.ts';
import {
  type Challenges,
  FormsOnV,
  reduceExtension,
  reduceGarbage,
  reduceInner,
  reduceOuter,
} from './reduceConstraints.ts';
import { reduceHidden, reduceScalars } from './reduceHidden.ts';
import type { LevelSeeds } from './replay.ts';

/** Columns that are folded at the same time. */
const RUN = 256;

/**
 * Adds the claim of a part of the previous level to phi_z, except what `foldKeysOnRows` returns,
 * and its right side to the form at `b`.
 *
 * @param omegas the scalars of the lifts of this level, for the part
 * @returns a_ab of this level
 */
export function reduceCarry(
  placing: Placing,
  part: number,
  claim: Claim,
  combine: Seed,
  omegas: readonly Values[],
  b: number,
): QuadraticTerm[] {
  const { folding } = placing;
  const { lab } = folding;
  const { level } = claim;
  return lab.scope(() => {
    addPhi(folding, claim.phi, level.n, placing.ofZ([part]));
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
    const v = new FormsOnV(lab, level.m);
    const right = zeroForms(lab, 1).at;
    reduceOuter(lab, v, claim, pieces, challenges, right);
    reduceHidden(lab, v, claim, challenges, right);
    reduceInner(lab, v, claim, pieces, c, challenges, right);
    reduceExtension(lab, v, claim, pieces);
    reduceGarbage(lab, v, claim, pieces, c, challenges);
    addProduct(lab, right, challenges.gamma, claim.b);
    placing.addOnV(part, v.vec);
    placing.addRight(part, b, right);
    reduceScalars(lab, claim, folding.beta, omegas, (place, form) =>
      placing.addToV(part, place, form),
    );
    return quadraticOfSquares(placing, part, level, challenges.delta);
  });
}

/** E5 on z. */
function addPhi(folding: Folding, phi: Claim['phi'], n: number, onZ: readonly number[]): void {
  const { lab } = folding;
  for (const [from, count] of portionsOf(0, n, RUN)) {
    lab.scope(() => {
      const coefs = lab.coefs(count);
      const end = DEGREE * (from + count);
      if (phi instanceof BigInt64Array) lab.i64(coefs).set(phi.subarray(DEGREE * from, end));
      else lab.kernels.vecToCoefs(coefs.at, phi.at, from, count);
      const [vec, staging] = [lab.vecs(1, count), stagingOf(lab)];
      lab.kernels.coefsToVec(vec.at, 0, coefs.at, COEFS_BYTES, count);
      folding.addPlaces(staging, vec, from, onZ);
    });
  }
}

/** A use of the keys that a level leaves to the next one. */
export interface PlacedUse extends FoldedUse {
  /** the place of v at which its columns begin; undefined if they are those of z */
  readonly from: number | undefined;
  /** the part that uses it for its (Q), which chi does not multiply; all parts if omitted */
  readonly part?: number;
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
    const open = openSeeds(lab, seeds, i + 1, shape.r);
    const placing = new Placing(new Folding(lab, open, shape.n), shape, { f, b }, open.combine);
    const ofV = placing.ofV();
    return {
      placing,
      ofZ: placing.ofZ(placing.parts),
      ofV,
      ofParts: placing.parts.map((part) => placing.times(part, ofV)),
    };
  });
  lab.scope(() => {
    const ofKeys = rowCoefficients(lab, uses);
    for (const [from, count] of portionsOf(columns.from, columns.to, RUN)) {
      lab.scope(() => {
        const staging = stagingOf(lab);
        const sums = sumKeys(lab, { columns: { from, to: from + count }, uses }, ofKeys);
        for (const [i, sum] of sums.entries()) {
          const use = uses[i]!;
          const { placing, ofZ, ofV, ofParts } = levels[use.number - 1]!;
          const add = (place: number, forms: readonly number[]): void =>
            placing.folding.addPlaces(staging, sum, place + from, forms);
          const onV = (part: number): number => placing.startOfV(part) + use.from!;
          if (use.part !== undefined) {
            add(onV(use.part), ofV);
            continue;
          }
          placing.reduce(sum);
          if (use.from === undefined) add(0, ofZ);
          else for (const part of placing.parts) add(onV(part), ofParts[part]!);
        }
      });
    }
  });
  return levels.map(({ placing }) => placing.folding.sum);
}

const stagingOf = (lab: Labrador): Vecs => lab.vecs(1, RUN + BLOCK_COLUMNS);

/** a_ab of -delta <z, z>, for z of a part times chi. */
function quadraticOfSquares(
  placing: Placing,
  part: number,
  { f, b }: OrdinaryLevel,
  delta: number,
): QuadraticTerm[] {
  const { shape, folding } = placing;
  const { lab } = folding;
  const first = firstRows(shape);
  const segment = (i: number): number => segmentOfZ(shape, i, part);
  const coefs = lab.coefs(1);
  const form = lab.room(FORM_BYTES);
  const terms: QuadraticTerm[] = [];
  const [square] = placing.times(part, [delta]);
  for (let k = 0; k < f; k++) {
    for (let i = 0; i <= k; i++) {
      writeConstant(lab, form, ((i === k ? -1n : -2n) << BigInt(b * (i + k))) % Q);
      lab.kernels.mulForm(form, form, square!);
      lab.kernels.formToCoefs(coefs.at, form);
      const factor = lab.i64(coefs).slice();
      const pairs = Array.from({ length: shape.rows[segment(i)]! }, (_, row) =>
        pairIndex(shape.r, first[segment(i)]! + row, first[segment(k)]! + row),
      );
      terms.push({ pairs, factor });
    }
  }
  return terms;
}
