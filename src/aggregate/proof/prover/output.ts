/** The output of an ordinary level: all that the next level takes over. */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import {
  BLOCK_COLUMNS,
  type Coefs,
  type Forms,
  type Labrador,
  type Smalls,
  type Vecs,
} from '../../wasm.ts';
import type { OrdinaryFields } from '../fields.ts';
import { liftsOf } from '../lifts.ts';
import { slice, type Values } from '../ring.ts';
import { outersOf, type Piece, type Pieces, piecesOf } from '../shapes.ts';
import type { KeyStore } from './keyStore.ts';

export interface Output {
  readonly params: OrdinaryLevel;
  /** the pieces of v that are bound by the outer commitments */
  readonly outers: readonly Piece[];
  /** the matrix of keys, as far as they take it */
  readonly keys: Vecs;
  /** z_0, ..., z_(f-1), v, one behind the other */
  readonly parts: Smalls;
  readonly z: Smalls;
  readonly v: Smalls;
  readonly pieces: Pieces;
  /**
   * The values that stand for the outer commitments: u_1 (at level 0 u_A, u_B), then u_2. Those of
   * hidden commitments are their constants alone: the rest is in x.
   */
  readonly hats: readonly Coefs[];
  readonly c: Forms;
  /** phi_z, reduced: set when the level is done */
  phiZ: Values;
  /** phi_e likewise, if the inner commitments are cut */
  phiE: Values;
  /** beta_k, if the lifts are hidden: they are no part of b then */
  readonly beta: Forms;
  /** addresses of the NTT forms of a_ab by the number of the pair; a missing one is zero */
  readonly a: Map<number, number>;
  /** room for the different values of a_ab */
  readonly aForms: Forms;
  /** the right side of the combined constraint */
  readonly b: Coefs;
}

/**
 * A level that is done: its fields except for the retry byte, and its output.
 */
export interface ProvedLevel {
  readonly output: Output;
  readonly fields: Omit<OrdinaryFields, 'retry'>;
}

/** The first columns of the keys, as many as a piece of v has polynomials. */
export const keyOf = ({ keys }: Pick<Output, 'keys'>, { count }: Piece): Vecs => ({
  ...keys,
  columns: count,
  blocks: Math.ceil(count / BLOCK_COLUMNS),
});

/**
 * Room for the output of a level, and its keys.
 *
 * @param keys the store of the proof, which has room for the keys of every level
 * @param distinct how many different values a_ab has
 */
export function newOutput(
  lab: Labrador,
  keys: KeyStore,
  level: number,
  params: OrdinaryLevel,
  distinct: number,
): Output {
  const { n, f, r, m, kappa1 } = params;
  const outers = outersOf(params, level);
  const most = Math.max(...outers.map(({ count }) => count));
  const parts = lab.smalls(f * n + m);
  return {
    params,
    outers,
    keys: keys.take(kappa1, { from: 0, to: most })!,
    parts,
    z: slice(parts, 0, f * n),
    v: slice(parts, f * n, m),
    pieces: piecesOf(params, outers.length),
    hats: outers.map(() => lab.coefs(kappa1)),
    c: lab.forms(r),
    phiZ: new BigInt64Array(0),
    phiE: new BigInt64Array(0),
    beta: lab.forms(liftsOf(level).count),
    a: new Map(),
    aForms: lab.forms(distinct),
    b: lab.coefs(1),
  };
}
