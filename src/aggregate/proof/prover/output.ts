/** The output of an ordinary level: the input of the next level. */
import type { HiddenMessage, OrdinaryLevel, Parameters, TailLevel } from '../../parameters/rows.ts';
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
import { KeyStore } from './keyStore.ts';

export interface Output {
  readonly params: OrdinaryLevel;
  /** the pieces of v that the outer commitments bind */
  readonly outers: readonly Piece[];
  /** the matrix of keys, as far as outer commitments and hidden messages use it */
  readonly keys: Vecs;
  readonly quarterKeys: Vecs;
  /** z_0, ..., z_(f-1), v, contiguous */
  readonly parts: Smalls;
  readonly z: Smalls;
  readonly v: Smalls;
  readonly pieces: Pieces;
  /**
   * The values that represent the outer commitments: u_1 (at level 0 u_A, u_B), then u_2. For
   * hidden commitments, only their constants: the rest is in x.
   */
  readonly hats: readonly Coefs[];
  /**
   * For every hidden message the k products with rows of the key matrix, of which quarters are
   * sent, followed by the lifts: the subjects of the next level's proof.
   */
  readonly hidden: Coefs;
  readonly c: Forms;
  /** phi_z, reduced: set when the level is done */
  phiZ: Values;
  /** phi_e likewise, if the inner commitments are cut */
  phiE: Values;
  /** beta_k, if the lifts are hidden: they are then not part of b */
  readonly beta: Forms;
  /** addresses of the NTT forms of a_ab by the number of the pair; a missing one is zero */
  readonly a: Map<number, number>;
  /** room for the different values of a_ab */
  readonly aForms: Forms;
  /** the right side of the combined constraint */
  readonly b: Coefs;
}

/** A completed level: its fields except for the retry byte, and its output. */
export interface ProvedLevel {
  readonly output: Output;
  readonly fields: Omit<OrdinaryFields, 'retry'>;
}

/** The first columns of keys, as many as are multiplied by something. */
export const firstColumns = (keys: Vecs, columns: number): Vecs => ({
  ...keys,
  columns,
  blocks: Math.ceil(columns / BLOCK_COLUMNS),
});

/** The number of polynomials of x that a hidden message occupies. */
export const digitsOf = ({ polynomials, digits }: HiddenMessage): number => polynomials * digits;

/** Levels to prove; without a tail, level 0 of a part. */
export type Proving = Pick<Parameters, 'levels'> & { readonly tail: TailLevel | undefined };

/** Allocates room for the keys of all outer commitments and of the tail. */
export function storeFor(lab: Labrador, { levels, tail }: Proving): KeyStore {
  const outers = levels.flatMap((level, number) => outersOf(level, number));
  const digits = levels.flatMap(({ messages }) => messages.map(digitsOf));
  const ofTail = tail ?? { kappa: 0, n: 0 };
  const rows = Math.max(...levels.map(({ kappa1, k }) => Math.max(kappa1, k)), ofTail.kappa);
  const columns = Math.max(...outers.map(({ count }) => count), ...digits, ofTail.n);
  return new KeyStore(lab, rows, columns);
}

/** What the parameters of a level say of its output: pieces, keys, and room for `hidden`. */
export function frameOf(lab: Labrador, keys: KeyStore, level: number, params: OrdinaryLevel) {
  const { kappa1, w, k, messages } = params;
  const outers = outersOf(params, level);
  const most = Math.max(...outers.map(({ count }) => count));
  const digits = Math.max(0, ...messages.map(digitsOf));
  return {
    params,
    outers,
    keys: keys.take(kappa1, { from: 0, to: most })!,
    quarterKeys: keys.take(k, { from: 0, to: digits })!,
    pieces: piecesOf(params, outers.length),
    hidden: lab.coefs(k * messages.length + (w > 0 ? liftsOf(level).count : 0)),
  };
}

/**
 * Allocates the output of a level, and its keys.
 *
 * @param keys the store of the proof, which has room for the keys of every level
 * @param distinct the number of distinct values of a_ab
 */
export function newOutput(
  lab: Labrador,
  keys: KeyStore,
  level: number,
  params: OrdinaryLevel,
  distinct: number,
): Output {
  const { n, f, r, m, kappa1 } = params;
  const frame = frameOf(lab, keys, level, params);
  const parts = lab.smalls(f * n + m);
  return {
    ...frame,
    parts,
    z: slice(parts, 0, f * n),
    v: slice(parts, f * n, m),
    hats: frame.outers.map(() => lab.coefs(kappa1)),
    c: lab.forms(r),
    phiZ: new BigInt64Array(0),
    phiE: new BigInt64Array(0),
    beta: lab.forms(liftsOf(level).count),
    a: new Map(),
    aForms: lab.forms(distinct),
    b: lab.coefs(1),
  };
}
