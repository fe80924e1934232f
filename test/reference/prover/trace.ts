/**
 * The values that a run of the prover shows, and the places where a test may make it deviate.
 *
 * A trace sees every step in order, the steps of failed attempts too. A fault takes the honest
 * value and gives the one that is used from there on; everything after is computed from that value
 * as an honest prover would compute it.
 */
import type { MessageName } from './parameters.ts';
import type { Poly } from './ring.ts';
import type { CutValues, Projection } from './steps.ts';

export interface LevelView {
  readonly kind: 'level';
  readonly level: number;
  readonly retry: number;
  /** everything that was computed, by the names of the protocol */
  readonly values: unknown;
}

export type TraceEvent =
  | { kind: 'absorb'; label: string; data: Uint8Array; st: Uint8Array }
  | { kind: 'seed'; label: string; seed: Uint8Array }
  | { kind: 'seal'; label: string; data: Uint8Array; seal: Uint8Array }
  | { kind: 'field'; level: number; name: string; bytes: Uint8Array }
  | { kind: 'failure'; level: number; retry: number; reason: string }
  | LevelView;

export type Trace = (event: TraceEvent) => void;

export interface Place {
  readonly level: number;
  readonly retry: number;
}

/** Level 0 before it is cut into rows; S and Y by item and t. */
export interface Witness0 {
  readonly S: readonly (readonly Poly[])[];
  readonly W: readonly (readonly [Poly, Poly])[];
}

/** The values that can be replaced. */
export interface FaultValues {
  /** level 0: S and W; the honest items are in it already */
  witness: Witness0;
  /** level 0: the challenges alpha_i as the prover uses them for Y */
  alpha: readonly Poly[];
  /** level 0: Y by item */
  Y: readonly (readonly Poly[])[];
  /** all rows with their padding; at level 0 those of S and W, before `alpha` is known */
  rows: readonly (readonly Poly[])[];
  /** level 0: the rows of Y with their padding */
  rowsY: readonly (readonly Poly[])[];
  /** t_a of the rows */
  t: readonly (readonly Poly[])[];
  /** g by pair */
  g: readonly Poly[];
  /** the digits of t as they are carried (with ct = 0); at level 0 those of S and W, then of Y */
  vT: readonly Poly[];
  /** u before the cut, by name uA, uB, u1, u2 */
  u: { readonly name: string; readonly u: readonly Poly[] };
  /** u', û and e of such a u */
  cutU: CutValues & { readonly name: string };
  /** hidden level: the digits x_M of a message, from which follows p_M */
  x: { readonly message: MessageName; readonly x: readonly Poly[] };
  /** hidden level: p_M as it is sent and absorbed */
  p: { readonly message: MessageName; readonly p: readonly bigint[] };
  /** hidden level 0: coefficient 32 of every lift */
  b32: readonly bigint[];
  /** y_j and y*_j, j = 0..136, from which follows what is sent */
  y: Projection;
  /** behind a hidden level: y_{x,j} and y*_{x,j} */
  yX: Projection;
  /** whether a projection, or that of x, is taken: honestly if it is short and has a code */
  taken: {
    readonly of: 'all' | 'x';
    readonly normSq: bigint;
    /** of which at most 288 times is allowed */
    readonly bound: number;
    readonly isTaken: boolean;
  };
  w: readonly bigint[];
  lifts: readonly Poly[];
  /** h by pair */
  h: readonly Poly[];
  /** z, and e where inner commitments are cut (empty elsewhere) */
  z: { readonly z: readonly Poly[]; readonly e: readonly Poly[] };
  /** cut t' as it is carried, or sent in the tail, there of all rows but the last */
  tCut: readonly (readonly Poly[])[];
  /** e_a of the rows, by default that of the honest t' */
  e: readonly (readonly Poly[])[];
  /** tail: the two seals */
  seal: { readonly label: string; readonly seal: Uint8Array };
  /** a field as it is sent (not as it is absorbed) */
  field: { readonly name: string; readonly bytes: Uint8Array };
  /** the data that is absorbed, and its label */
  absorb: { readonly label: string; readonly data: Uint8Array };
}

/**
 * Constraints that a prover can leave out, for a verifier that leaves them out too; and challenges
 * that both can do without: tau_t = 1 in every part, eta_0 for every item. Those of 8.5 are left
 * out as a kind, by message, by row, by lift, or in the second lift alone.
 */
export type Constraint =
  | ('N1' | 'J' | 'F' | 'L' | 'K' | 'tau' | 'eta' | 'padding')
  | ('E1' | 'E2' | 'E3' | 'E4' | 'E5' | 'E6')
  | ('Px' | 'Px136' | 'Q' | `Q${MessageName}` | 'Tb' | 'Tb1' | 'Tb2' | 'Tb3' | 'TbTwice')
  | SharedScalars
  /** the lifts of a hidden level; e_a in the projection, and their sum in E5 */
  | ('liftsOfHidden' | 'eInProjection' | 'eInE5');

/** Left out, these equations of 8.5 have scalars of others, as the verifier's checks say. */
export type SharedScalars =
  | ('scalarsOfPx' | 'scalarsOfQ' | 'scalarsOfTb')
  | ('scalarsOfProjections' | 'scalarsOfMessages' | 'scalarsOfRows' | 'scalarsOfPlaces')
  | 'scalarsOfLifts';

export type Faults = {
  readonly [K in keyof FaultValues]?: (value: FaultValues[K], place: Place) => FaultValues[K];
} & {
  /** true: go on although the level fails for this reason */
  readonly ignore?: (reason: string, place: Place) => boolean;
  /** constraints whose coefficients are zero; the others are combined as always */
  readonly omit?: ReadonlySet<Constraint>;
  /** the level that alone leaves them out */
  readonly omitAt?: number;
  /** take items whose signatures are not valid, or no signatures at all (then s1 = s2 = 0) */
  readonly unchecked?: boolean;
};
