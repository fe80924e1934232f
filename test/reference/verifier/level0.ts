/** Section 7: the constraints of level 0, for the items of one section. */
import { scalarsOf } from './behind.ts';
import {
  alphaOf,
  centredModP,
  functionalOf,
  type Pair,
  scalars,
  shortPolynomial,
} from './challenges.ts';
import { type Checks, require } from './checks.ts';
import { type Claim, claimOf } from './claim.ts';
import {
  amortisers,
  betasOf,
  checkProjectionNorm,
  combineForms,
  Folding,
  liftsOf,
  projectionForms,
  SHORT,
  shortOf,
  valuesOfY,
  weigh,
} from './lifts.ts';
import type { OrdinaryMessage } from './parse.ts';
import { timesMirrored } from './points.ts';
import type { Seeds } from './replay.ts';
import {
  add,
  constant,
  DEGREE,
  FALCON_Q,
  fromIntegers,
  mod,
  multiply,
  type Poly,
  powerOf2,
  Q,
  scale,
  stridePart,
  zero,
} from './ring.ts';
import { BETA_SQ, forEachPlace, type Ordinary, pairIndex, type Shapes } from './shapes.ts';
import { STREAM, stream } from './streams.ts';

/** The public values of an item. */
export interface Item {
  readonly h: readonly number[];
  /** HashToPoint, in [0, p) */
  readonly c: readonly number[];
}

const FUNCTIONALS = 10;
const LIFTS = liftsOf(0);
const S_PART = 0;
const W_PART = 1;
const Y_PART = 2;

/** The stride parts of the functionals, by functional, item and t < 2K. */
type Parts = readonly (readonly (readonly (readonly number[])[])[])[];

/** The challenges of level 0 that belong to the relation. */
interface Relation {
  readonly alpha: readonly Poly[];
  readonly omega: readonly (readonly Pair[])[];
  readonly theta: readonly (readonly bigint[])[];
  readonly beta: readonly Poly[];
}

/** The shapes of level 0 are the first. */
export type ShapesOfZero = Omit<Shapes, 'tail'>;

export function verifyLevel0(
  shapes: ShapesOfZero,
  items: readonly Item[],
  message: OrdinaryMessage,
  seeds: Seeds,
  checks: Readonly<Checks>,
): Claim {
  const shape = shapes.levels[0]!;
  checkProjectionNorm(checks, message.y, shape.inSq, 'level 0');
  const { parts: rho, sums } = functionals(shapes, items, seeds.rho!);
  for (const [j, w] of message.w.entries()) {
    const value = BigInt(FALCON_Q) * BigInt(w) + sums[j]!;
    const inRange = value <= Q / 2n && -value <= Q / 2n;
    require(checks, 'functionalRange', inRange, `w ${j}`);
  }

  const relation: Relation = {
    alpha: items.map((_, index) =>
      checks.alpha
        ? fromIntegers(alphaOf(stream(seeds.alpha!, { type: STREAM.alpha, level: 0, index })))
        : zero(),
    ),
    omega: scalarsOf(seeds.lift, 0, undefined, checks).map(({ ofP }) => ofP),
    theta: LIFTS.map((sub) =>
      scalars(stream(seeds.lift, { type: STREAM.theta, level: 0, sub }), FUNCTIONALS),
    ),
    beta: betasOf(seeds.combine, 0, shape.w > 0, checks),
  };
  const c = amortisers(seeds.amortise, 0, shape.r);
  const folding = new Folding(c, shape.n);
  addForms(folding, shapes, items.length, seeds, rho, relation, checks);

  return claimOf(shape, message, {
    c,
    phi: folding.result(),
    quadratic: checks.N1 ? quadraticOfN1(shape) : new Map(),
    b: rightSideOfN1(shapes, relation, checks),
    beta: relation.beta,
    values: valuesOfLifts(message, relation, sums, checks),
  });
}

/** 7.3: the stride parts of ρ and ρ' (by functional, item and t < 2K), and C_j. */
export function functionals(
  { K, logn }: Pick<Shapes, 'K' | 'logn'>,
  items: readonly Item[],
  seed: Uint8Array,
): { parts: number[][][][]; sums: bigint[] } {
  const sums: bigint[] = [];
  const parts = Array.from({ length: FUNCTIONALS }, (_, sub) => {
    let sum = 0;
    const ofItems = items.map(({ h, c }, index) => {
      const source = stream(seed, { type: STREAM.rho, level: 0, sub, index });
      const rho = functionalOf(source, 1 << logn);
      for (const [j, x] of rho.entries()) sum += x * centredModP(c[j]!);
      const rho2 = timesMirrored(rho, h).map(centredModP);
      const part = (s: readonly number[]) => Array.from({ length: K }, (_, k) => stridePart(s, k));
      return [...part(rho), ...part(rho2)];
    });
    sums.push(BigInt(sum)); // below 2^45, exact
    return ofItems;
  });
  return { parts, sums };
}

/** φ of a place of S, W or Y. */
type FormAt = (place: number) => Poly;

/** φ of every place: N1 (7.4), lifts (7.6), padding (10.3). */
function addForms(
  folding: Folding,
  shapes: ShapesOfZero,
  count: number,
  seeds: Seeds,
  rho: Parts,
  relation: Relation,
  checks: Readonly<Checks>,
): void {
  const { levels, W, bucket } = shapes;
  const shape = levels[0]!;
  const links = linksOf(seeds.lift, W, count, checks);
  const onS = formsOnS(shapes, seeds.jl, rho, relation, links, checks);
  const onW = formsOnW(bucket, seeds.lift, relation, checks);
  const onY: FormAt = (place) =>
    links(place).reduce((sum, x, k) => add(sum, multiply(x, relation.beta[k]!)), zero());

  forEachPlace(shape, (row, column, part, place, isRest) => {
    const item = part === W_PART ? place % bucket : Math.floor(place / W);
    if (isRest || item >= count) {
      if (!checks.padding) return;
      const index = row * shape.n + column;
      folding.add(row, column, shortOf(seeds.combine, 0, SHORT.padding, index));
    } else {
      folding.add(row, column, [onS, onW, onY][part]!(place));
    }
  });
}

/** S: the projection, the functionals and the links. */
function formsOnS(
  { K, W }: ShapesOfZero,
  jl: Uint8Array,
  rho: Parts,
  { alpha, omega, theta, beta }: Relation,
  links: (place: number) => Poly[],
  checks: Readonly<Checks>,
): FormAt {
  return (place) => {
    const i = Math.floor(place / W);
    const t = place % W;
    const forms = projectionForms(jl, 0, place, omega);
    const link = links(place).map((x) => multiply(x, alpha[i]!));
    return combineForms(
      forms.map((form, k) =>
        form.map((x, position) => {
          let sum = x - link[k]![position]!;
          if (checks.F && t < 2 * K) {
            for (let j = 0; j < FUNCTIONALS; j++) {
              sum += theta[k]![j]! * BigInt(rho[j]![i]![t]![position]!);
            }
          }
          return mod(sum);
        }),
      ),
      beta,
    );
  };
}

/** W: ψ of the lifts, and N1. */
function formsOnW(
  bucket: number,
  lift: Uint8Array,
  { alpha, beta }: Relation,
  checks: Readonly<Checks>,
): FormAt {
  return (place) => {
    const i = place % bucket;
    const factor = place < bucket ? 1n : powerOf2(13);
    let phi = zero();
    if (checks.L) {
      for (const sub of LIFTS) {
        const name = { type: STREAM.psi, level: 0, sub, index: i };
        phi = add(phi, scale(beta[sub]!, scalars(stream(lift, name), 1)[0]!));
      }
    }
    if (checks.N1) phi = add(phi, scale(alpha[i]!, -1n));
    return scale(phi, factor);
  };
}

/** 7.6: τ of a part, the same for all items and lifts. */
export const tauOf = (lift: Uint8Array, index: number): Poly =>
  fromIntegers(shortPolynomial(stream(lift, { type: STREAM.tau, level: 0, index })));

/**
 * 7.6: η_i τ_t of place W i + t, by lift.
 *
 * @param lift the seed
 * @param W places of an item
 */
function linksOf(
  lift: Uint8Array,
  W: number,
  count: number,
  checks: Readonly<Checks>,
): (place: number) => Poly[] {
  if (!checks.K) return () => LIFTS.map(zero);
  const eta = Array.from({ length: checks.eta ? count : 1 }, (_, index) =>
    LIFTS.map((sub) => scalars(stream(lift, { type: STREAM.eta, level: 0, sub, index }), DEGREE)),
  );
  const tau = Array.from({ length: W }, (_, index) =>
    checks.tau ? tauOf(lift, index) : constant(1n),
  );
  return (place) => {
    const i = checks.eta ? Math.floor(place / W) : 0;
    return eta[i]!.map((x) => multiply(x, tau[place % W]!));
  };
}

/** 7.4: the rows of S against the rows of Y. */
function quadraticOfN1(shape: Ordinary): Map<number, Poly> {
  const quadratic = new Map<number, Poly>();
  for (let a = 0; a < shape.rowsOf[S_PART]!; a++) {
    const index = pairIndex(shape.r, a, shape.firstRow[Y_PART]! + a);
    quadratic.set(index, constant(1n));
  }
  return quadratic;
}

/** 7.4: β² Σ α_i */
function rightSideOfN1({ set }: ShapesOfZero, { alpha }: Relation, checks: Readonly<Checks>): Poly {
  return checks.N1 ? scale(alpha.reduce(add, zero()), BETA_SQ[set]!) : zero();
}

/** 7.6: b_0 of every lift */
function valuesOfLifts(
  message: OrdinaryMessage,
  { omega, theta }: Relation,
  sums: readonly bigint[],
  checks: Readonly<Checks>,
): [bigint][] {
  const y = valuesOfY(message.y);
  const values = message.w.map((w, j) => BigInt(FALCON_Q) * BigInt(w) + sums[j]!);
  return LIFTS.map((k) => {
    const [real] = weigh(omega[k]!, y);
    const ofValues = values.reduce((sum, x, j) => sum + theta[k]![j]! * x, 0n);
    return [real + (checks.F ? ofValues : 0n)];
  });
}
