/**
 * An ordinary level after the first, and the rows of the tail (docs/protocol.md, 8 and 9.3): all
 * constraints combined into one, folded over the rows.
 */
import type { OrdinaryLevel, Shape } from '../../parameters/rows.ts';
import { FORM_BYTES, type Forms, type Labrador, type Vecs } from '../../wasm.ts';
import { prepareOmega } from '../challenges.ts';
import type { Claim, Pair, QuadraticTerm } from '../claim.ts';
import { type Columns, runsWithin } from '../columns.ts';
import { Q } from '../constants.ts';
import { type OrdinaryFields, projectionsOf } from '../fields.ts';
import { zeroForms } from '../forms.ts';
import { liftsOf, scalarsBehind } from '../lifts.ts';
import { projectionOf } from '../projection.ts';
import { type Blocks, type Values, valuesOfVec, vecOfBlocks } from '../ring.ts';
import { type NumberedRun, numberOfV, paddingOf, runsOfInput } from '../shapes.ts';
import { Folding } from './folding.ts';
import { hiddenFields, hiddenRights, prepareScalars, scalarsOf, upsilonsAt } from './hidden.ts';
import { type OpenSeeds, openSeeds } from './openSeeds.ts';
import type { ParsedOrdinary, ParsedProjections } from './parse.ts';
import { Placing } from './placing.ts';
import { reduceCarry } from './reduceCarry.ts';
import { liftedRights, reduceLifts, reducePadding } from './reduceLifts.ts';
import type { LevelSeeds } from './replay.ts';

/** phi_z, a_ab and b of a level. Valid until the enclosing scope ends. */
export interface Reduced {
  readonly folding: Folding;
  readonly quadratic: readonly QuadraticTerm[];
  /** the address of a form */
  readonly b: number;
  /** coefficients 0 and 32 of every lift */
  readonly known: readonly Pair[];
}

/** The fields of any level, including the tail, that its projection and lifts need. */
export type Projected = Pick<OrdinaryFields, 'b'> & ParsedProjections;

/** The projection of a level in some columns. */
export interface RowsFold {
  readonly number: number;
  readonly shape: Shape;
  readonly columns: Columns;
  readonly seeds: LevelSeeds;
  /** length of x, the hidden digits of the previous level: the first places of v */
  readonly lengthX: number;
  /** words of the scalars of a lift before those of the parts */
  readonly scalars: number;
}

/**
 * A summand of phi_z: blocks of another module, a vector of this one, or a fold that is yet to be
 * done.
 */
export type Summand = Blocks | Vecs | RowsFold;

/**
 * phi_z of the projection's part of the lifts (8.4), in these columns. The places of x have a
 * second projection by the same bits (8.5), so the scalars are added up there. Those of every part
 * have their own upsilon. Valid until the enclosing scope ends.
 */
export function foldRows(lab: Labrador, fold: RowsFold): Vecs {
  const { number, shape, columns } = fold;
  const open = openSeeds(lab, fold.seeds, number, shape.r);
  const width = columns.to - columns.from;
  const folding = new Folding(lab, open, width);
  const upsilons = upsilonsAt(shape, fold.scalars);
  lab.scope(() => {
    const staging = lab.vecs(liftsOf(number).count, width);
    for (const runs of groupsOf(projectedRuns(fold))) {
      const { part, isOnX } = runs[0]!;
      prepareScalars(lab, open.lift, isOnX, upsilons[part]);
      for (const { row, from, to, number: first } of runs) {
        const here = { row, from: from - columns.from, to: to - columns.from };
        folding.addProjection(staging, open.jl, here, first);
      }
    }
  });
  return folding.sum;
}

/** Places of a part that are either all in its x or all outside of it. */
interface ProjectedRun extends NumberedRun {
  readonly isOnX: boolean;
}

/** The places in the columns. */
function projectedRuns({ shape, columns, lengthX }: RowsFold): ProjectedRun[] {
  // x is at the start of v
  const start = numberOfV(shape);
  const end = start + lengthX;
  const pieces = [
    { isOnX: false, from: 0, to: start },
    { isOnX: true, from: start, to: end },
    { isOnX: false, from: end, to: Number.POSITIVE_INFINITY },
  ];
  return runsOfInput(shape).flatMap((run) => {
    // where number 0 would be
    const zero = run.from - run.number;
    return pieces.flatMap(({ isOnX, from, to }) =>
      runsWithin(runsWithin([run], { from: zero + from, to: zero + to }), columns).map((own) => {
        return { ...own, part: run.part, number: own.from - zero, isOnX };
      }),
    );
  });
}

/** Groups the runs that have the same scalars. None of the groups is empty. */
function groupsOf(runs: readonly ProjectedRun[]): Iterable<readonly ProjectedRun[]> {
  const groups = new Map<string, ProjectedRun[]>();
  for (const run of runs) {
    const key = `${run.part} ${run.isOnX}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return groups.values();
}

/** The claim of an ordinary level, from that of the previous level, or from those of all parts. */
export function reduceLevel(
  lab: Labrador,
  level: OrdinaryLevel,
  before: readonly Claim[],
  folds: readonly Summand[],
  fields: ParsedOrdinary,
  seeds: LevelSeeds,
): Claim {
  return lab.scope(() => {
    const number = before[0]!.number + 1;
    const open = openSeeds(lab, seeds, number, level.r);
    const reduced = reduceRows(lab, level, before, folds, fields, open, level.w !== 0);
    const { folding, quadratic, b, known } = reduced;
    const phi = valuesOfVec(lab, folding.sum);
    const { c } = folding;
    const values = { c, phi, quadratic, b };
    const claim = claimOf(lab, number, level, fields, values, open.beta, known);
    return level.ct === 0 ? claim : { ...claim, phiE: phiOfExtensions(lab, level, open) };
  });
}

/** phi_e of a level whose inner commitments are cut. */
function phiOfExtensions(lab: Labrador, level: OrdinaryLevel, open: OpenSeeds): Values {
  return lab.scope(() => valuesOfVec(lab, foldExtensions(lab, level, open).sum));
}

/**
 * phi_e: only the projection's part of the lifts contributes to e_a (9.3). omega must have been
 * prepared.
 */
export function foldExtensions(
  lab: Labrador,
  { n, kappa, r }: Shape & { readonly kappa: number },
  open: OpenSeeds,
): Folding {
  const folding = new Folding(lab, open, kappa);
  lab.scope(() => {
    const staging = lab.vecs(open.beta.count, kappa);
    for (let a = 0; a < r; a++) {
      folding.addProjection(staging, open.jl, { row: a, from: 0, to: kappa }, r * n + a * kappa);
    }
  });
  return folding;
}

/**
 * The constraints that the claims of all parts leave, the lifts and the padding, on rows of
 * `shape`.
 *
 * @param folds phi_z of the keys before and of the projection
 * @param isHidden true if the level hides its lifts, which are then not part of its right side
 */
export function reduceRows(
  lab: Labrador,
  shape: Shape,
  claims: readonly Claim[],
  folds: readonly Summand[],
  fields: Projected,
  seeds: OpenSeeds,
  isHidden: boolean,
): Reduced {
  const folding = new Folding(lab, seeds, shape.n);
  const b = zeroForms(lab, 1).at;
  const { level, number } = claims[0]!;
  const placing = new Placing(folding, shape, level, seeds.combine);
  const upsilons = upsilonsAt(shape, scalarsBehind(level, number).end);
  const projections = projectionsOf(fields);
  const quadratic: QuadraticTerm[] = [];
  const rights: Pair[][] = [];
  for (const [part, claim] of claims.entries()) {
    const omegas = scalarsOf(lab, seeds.lift, level, number, upsilons[part]);
    quadratic.push(...reduceCarry(placing, part, claim, seeds.combine, omegas, b));
    const { y, yOfX } = projections[part]!;
    const values = [...projectionOf(y), ...hiddenRights(lab, claim, yOfX)];
    rights.push(liftedRights(omegas, Float64Array.from(values)));
  }
  const known = sumOfRights(rights);
  for (const fold of folds) {
    lab.scope(() => {
      if ('at' in fold) folding.addSum(fold);
      else folding.addSum('values' in fold ? vecOfBlocks(lab, fold) : foldRows(lab, fold));
    });
  }
  lab.scope(() => {
    prepareOmega(lab, seeds.lift);
    if (!isHidden) reduceLifts(lab, b, seeds.beta, seeds.lift.level, fields.b, known);
  });
  reducePadding(folding, seeds.combine, shape.n, paddingOf(shape));
  return { folding, quadratic, b, known };
}

/** The right sides of every lift, of all parts together. */
const sumOfRights = (rights: readonly (readonly Pair[])[]): readonly Pair[] =>
  rights.reduce((sums, list) =>
    sums.map(([a, b], k): Pair => [(a + list[k]![0]) % Q, (b + list[k]![1]) % Q]),
  );

/**
 * The claim of a level: copies of everything that the next level needs.
 *
 * @param beta with the parameters after it: for the lifts, which are in `b` unless the level hides
 *   them
 */
export function claimOf(
  lab: Labrador,
  number: number,
  level: OrdinaryLevel,
  fields: OrdinaryFields,
  { c, phi, quadratic, b }: Pick<Claim, 'phi' | 'quadratic'> & { c: Forms; b: number },
  beta: Forms,
  known: readonly Pair[],
): Claim {
  return lab.scope(() => {
    const right = lab.coefs(1);
    lab.kernels.formToCoefs(right.at, b);
    const { quarters } = hiddenFields(level, fields);
    const hidden = {
      beta: lab.bytes(beta.at, FORM_BYTES * beta.count).slice(),
      quarters,
      lifts: known,
    };
    return {
      number,
      level,
      c: lab.bytes(c.at, FORM_BYTES * level.r).slice(),
      phi,
      quadratic,
      b: lab.i64(right).slice(),
      ...(level.w === 0 ? { outer: [...fields.first, fields.second] } : { outer: [], hidden }),
    };
  });
}
