/**
 * The claim that a level leaves to the next one: the public values of the constraints on its output
 * (10.1).
 */
import type { Pair } from './challenges.ts';
import { combineLifts } from './lifts.ts';
import type { OrdinaryMessage } from './parse.ts';
import { add, mod, type Poly } from './ring.ts';
import type { Ordinary } from './shapes.ts';

/** The public values of a level after its last challenge. */
export interface Claim {
  readonly shape: Ordinary;
  readonly c: readonly Poly[];
  readonly phiZ: readonly Poly[];
  /** empty if the inner commitments are not cut */
  readonly phiE: readonly Poly[];
  /** a_ab by the index of the pair; a missing one is zero */
  readonly quadratic: ReadonlyMap<number, Poly>;
  /** of a hidden level without its lifts */
  readonly b: Poly;
  /** û of the first commitments (û_A, û_B at level 0), then û_2; empty at a hidden level */
  readonly u: readonly (readonly Poly[])[];
  /** at a hidden level alone */
  readonly hidden: Hidden | undefined;
}

/** 6.4, 8.5: what is known of the messages of a hidden level. */
export interface Hidden {
  /** β of its lifts */
  readonly beta: readonly Poly[];
  /** p_{row,c} of every message in their order */
  readonly p: readonly (readonly (readonly bigint[])[])[];
  /** D of every lift */
  readonly values: readonly Pair[];
}

/** What a level knows after its last challenge. */
export interface Known {
  readonly c: readonly Poly[];
  /** Σ c_a φ_a on the n columns of s, and on those of e behind them */
  readonly phi: readonly Poly[];
  readonly quadratic: ReadonlyMap<number, Poly>;
  /** without the lifts */
  readonly b: Poly;
  readonly beta: readonly Poly[];
  /** what is known of every lift: coefficient 0 or, of some, 0 and 32 */
  readonly values: readonly (readonly [bigint, ...bigint[]])[];
}

/** 10.1: lifts that were sent enter b; those of a hidden level are left to the next one. */
export function claimOf(
  shape: Ordinary,
  message: Pick<OrdinaryMessage, 'u' | 'b' | 'b32' | 'u2'>,
  known: Known,
): Claim {
  const { c, phi, quadratic, b, beta, values } = known;
  const common = { shape, c, phiZ: phi.slice(0, shape.n), phiE: phi.slice(shape.n), quadratic };
  if (shape.w === 0) {
    const u = [...message.u, message.u2].map((sent) => uncut(sent.values, shape.cut));
    const lifts = combineLifts(message.b.values, values, beta);
    return { ...common, b: add(b, lifts), u, hidden: undefined };
  }
  const p = [...message.u, message.b, message.u2].map((sent) => sent.values);
  const b32 = message.b32.values[0] ?? [];
  const pairs = values.map(([real, i], k): Pair => [mod(real), mod(i ?? b32[k]!)]);
  return { ...common, b, u: [], hidden: { beta, p, values: pairs } };
}

/** û, which stands for a commitment whose low bits were cut off. */
export function uncut(sent: readonly Poly[], cut: number): Poly[] {
  if (cut === 0) return [...sent];
  const half = 1n << BigInt(cut - 1);
  return sent.map((u) => u.map((x) => (x << BigInt(cut)) + half));
}
