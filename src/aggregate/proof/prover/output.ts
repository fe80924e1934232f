/** What an ordinary level leaves to the next one, and the room for it. */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import type { Coefs, Forms, Labrador, Smalls, Vecs } from '../../wasm.ts';
import { expandKeys } from '../challenges.ts';
import { MATRIX } from '../labels.ts';
import { slice } from '../ring.ts';
import { type Pieces, piecesOf } from '../shapes.ts';

/** The outer commitment keys of a level. */
export interface Keys {
  /** those of the digits of t: one, at level 0 two */
  readonly B: readonly Vecs[];
  readonly C: Vecs;
  readonly D: Vecs;
}

export interface Output {
  readonly params: OrdinaryLevel;
  readonly keys: Keys;
  /** z_0, ..., z_(f-1), v, one behind the other */
  readonly parts: Smalls;
  readonly z: Smalls;
  readonly v: Smalls;
  readonly pieces: Pieces;
  /** what stands for the outer commitments: u_1 (at level 0 u_A, u_B), then u_2 */
  readonly hats: readonly Coefs[];
  readonly c: Forms;
  /** phi_z in one row, reduced */
  readonly phiZ: Vecs;
  /** a_ab by number of the pair, addresses of NTT forms; absent is zero */
  readonly a: Map<number, number>;
  /** room for as many different a_ab as the level has */
  readonly aForms: Forms;
  /** the right side of the combined constraint */
  readonly b: Coefs;
}

/**
 * Room for a level's output, and its keys.
 *
 * @param splits digits of t that each B multiplies: one number, at level 0 two
 * @param distinct how many different a_ab the level has
 */
export function newOutput(
  lab: Labrador,
  level: number,
  params: OrdinaryLevel,
  splits: readonly number[],
  distinct: number,
): Output {
  const { n, f, r, m, kappa1, fu, fg, pairs } = params;
  const outers = splits.length + 1;
  const parts = lab.smalls(f * n + m);
  const keys = {
    B: splits.map((to, i) => expandKeys(lab, level, MATRIX.B + i, kappa1, { to })),
    C: expandKeys(lab, level, MATRIX.C, kappa1, { to: fg * pairs }),
    D: expandKeys(lab, level, MATRIX.D, kappa1, { to: fu * pairs }),
  };
  return {
    params,
    keys,
    parts,
    z: slice(parts, 0, f * n),
    v: slice(parts, f * n, m),
    pieces: piecesOf(params, outers),
    hats: Array.from({ length: outers }, () => lab.coefs(kappa1)),
    c: lab.forms(r),
    phiZ: lab.vecs(1, n),
    a: new Map(),
    aForms: lab.forms(distinct),
    b: lab.coefs(1),
  };
}
