/** The output of an ordinary level: all that the next level takes over. */
import type { OrdinaryLevel } from '../../parameters/rows.ts';
import type { Coefs, Forms, Labrador, Smalls, Vecs } from '../../wasm.ts';
import { expandKeys } from '../challenges.ts';
import type { OrdinaryFields } from '../fields.ts';
import { slice } from '../ring.ts';
import { columnsOfB, type Pieces, piecesOf } from '../shapes.ts';
import { MATRIX } from '../transcript.ts';

/** The outer commitment keys of a level. */
export interface Keys {
  /** the keys of the digits of t: one, at level 0 two */
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
  /** the values that stand for the outer commitments: u_1 (at level 0 u_A, u_B), then u_2 */
  readonly hats: readonly Coefs[];
  readonly c: Forms;
  /** phi_z in one row, reduced */
  readonly phiZ: Vecs;
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

/**
 * Room for the output of a level, and its keys.
 *
 * @param distinct how many different values a_ab has
 */
export function newOutput(
  lab: Labrador,
  level: number,
  params: OrdinaryLevel,
  distinct: number,
): Output {
  const { n, f, r, m, kappa1, fu, fg, pairs } = params;
  const columns = columnsOfB(params, level);
  const outers = columns.length + 1;
  const parts = lab.smalls(f * n + m);
  const keys = {
    B: columns.map((to, i) => expandKeys(lab, level, MATRIX.B + i, kappa1, { to })),
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
