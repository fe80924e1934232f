/**
 * Tools of the cheating provers: statements made to fit a witness, and the two runs of an attack.
 */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { verifySection } from '../../../src/aggregate/proof/index.ts';
import type { OtherRow } from '../../../src/aggregate/proof/verifier/verify.ts';
import { concat } from '../../../src/shared/bytes.ts';
import { headerOf, type SignedItem } from '../../reference/items.ts';
import type { ShownOrdinary } from '../../reference/prover/identities.ts';
import type { Projection } from '../../reference/prover/steps.ts';
import type {
  Constraint,
  Faults,
  LevelView,
  Trace,
  Witness0,
} from '../../reference/prover/trace.ts';
import { hashOfRow } from '../../reference/table.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import type { Checks } from '../../reference/verifier/checks.ts';
import { pointOf } from '../../reference/verifier/points.ts';
import {
  type SectionInput,
  type Verdict,
  verifyReferenceSection,
} from '../../reference/verifier/verify.ts';
import { toyProof } from '../reference/toyProofs.ts';

export const BETA_SQ = 34034726n;
export const Q = 17592186044299n;
/** rows of the projection without that of the sums */
export const RANDOM_ROWS = 136;
const P = 12289;
const DEGREE = 512;
const K = 8;

export type Poly = readonly bigint[];

export const zero = (): bigint[] => new Array<bigint>(64).fill(0n);
/** value X^at */
export const monomial = (value: bigint, at = 0): bigint[] => zero().with(at, value);
export const plus = (a: Poly, b: Poly): Poly => a.map((x, i) => x + b[i]!);
export const minus = (a: Poly, b: Poly): Poly => a.map((x, i) => x - b[i]!);
export const scaled = (a: Poly, factor: bigint): Poly => a.map((x) => x * factor);

/** A projection of the same shape that is zero. */
export const zeros = ({ y, star }: Projection): Projection => ({
  y: y.map(() => 0n),
  star: star.map(() => 0n),
});

/** One item without a signature, for which s1 (any integers) and s2 = 1 solve Falcon's equation. */
export interface Crafted {
  readonly item: SignedItem;
  /** S_{0,t}: parts of s1, parts of s2, and ε = 0 */
  readonly S: readonly Poly[];
}

/** The key is h = c - s1, so that s1 + h · 1 = c. */
export function craft(s1: readonly bigint[]): Crafted {
  const salt = Uint8Array.from({ length: 40 }, (_, i) => 3 * i);
  const message = Uint8Array.of(1, 2, 3);
  const c = pointOf(salt, message, 9);
  const h = c.map((x, i) => Number((((BigInt(x) - s1[i]!) % 12289n) + 12289n) % 12289n));
  const publicKey = encodeKey(h);
  const item = { set: 'falcon512', publicKey, message, signature: bare(salt) } as const;
  const part = (k: number) => Array.from({ length: 64 }, (_, t) => s1[k + K * t]!);
  const S = [...Array.from({ length: K }, (_, k) => part(k)), monomial(1n)];
  while (S.length < 2 * K + 1) S.push(zero());
  return { item, S };
}

/** The same item, for S of the attacker's choice: the key is that of a stranger. */
export function stranger(S: readonly Poly[]): Crafted {
  const { item } = craft(new Array<bigint>(DEGREE).fill(0n));
  const h = Array.from({ length: DEGREE }, (_, i) => {
    const hash = createHash('sha256').update(`coefficient ${i}`).digest();
    return hash.readUInt32LE() % P;
  });
  return { item: { ...item, publicKey: encodeKey(h) }, S };
}

const bare = (salt: Uint8Array): Uint8Array => Uint8Array.of(0x39, ...salt);

function encodeKey(h: readonly number[]): Uint8Array {
  const bits = h.map((x) => x.toString(2).padStart(14, '0')).join('');
  const bytes = Array.from({ length: bits.length / 8 }, (_, i) =>
    Number.parseInt(bits.slice(8 * i, 8 * i + 8), 2),
  );
  return Uint8Array.of(9, ...bytes);
}

/** HashToPoint of the item, centred. */
export function centredPoint({ item }: Crafted): bigint[] {
  const c = pointOf(item.signature.subarray(1), item.message, 9);
  return c.map((x) => BigInt(x > (P - 1) / 2 ? x - P : x));
}

export const normSq = (S: readonly Poly[]): bigint => S.flat().reduce((sum, x) => sum + x * x, 0n);

/** Σ_t S_t σ(S_t) - β², over the integers. */
export function normPolynomial(S: readonly Poly[]): bigint[] {
  const w = monomial(-BETA_SQ);
  for (const s of S) {
    for (let i = 0; i < 64; i++) {
      if (s[i] === 0n) continue;
      for (let j = 0; j < 64; j++) {
        // X^i X^-j
        if (i >= j) w[i - j]! += s[i]! * s[j]!;
        else w[64 + i - j]! -= s[i]! * s[j]!;
      }
    }
  }
  return w;
}

/** (W_0, W_1) of a polynomial w. */
export function digits(w: Poly): readonly [Poly, Poly] {
  const low = w.map((x) => BigInt.asIntN(13, x));
  return [low, w.map((x, j) => (x - low[j]!) >> 13n)];
}

/** The witness of one item: its S, and w with the constant coefficient that is claimed. */
export function witnessOf(S: readonly Poly[], constant = 0n): Witness0 {
  return { S: [S], W: [digits(normPolynomial(S).with(0, constant))] };
}

/** s1 of squared norm exactly `rest`: small coefficients, no structure. */
export function s1OfNorm(rest: bigint): bigint[] {
  const s1 = Array.from({ length: DEGREE }, (_, i) => BigInt(((7919 * i) % 811) - 405));
  let left = rest - normSq([s1.fill(0n, 500)]);
  for (let i = 500; i < 512; i++) {
    const most = i === 500 ? left / 2n : left;
    const root = BigInt(Math.floor(Math.sqrt(Number(most))));
    s1[i] = root;
    left -= root * root;
  }
  if (left !== 0n) throw new Error('not a sum of these squares');
  return s1;
}

/** What a run of the prover has shown so far, for faults that depend on it. */
export class Seen {
  readonly #levels: LevelView[] = [];
  readonly #seeds = new Map<string, Uint8Array>();

  readonly trace: Trace = (event) => {
    if (event.kind === 'level') this.#levels[event.level] = event;
    if (event.kind === 'seed') this.#seeds.set(event.label, event.seed);
  };

  /** All values of the last attempt at a level that is not the tail. */
  level(number: number): ShownOrdinary {
    const view = this.#levels[number];
    if (view === undefined) throw new RangeError(`level ${number} has shown nothing`);
    return view.values as ShownOrdinary;
  }

  /** The last seed of this label. */
  seed(label: string): Uint8Array {
    const seed = this.#seeds.get(label);
    if (seed === undefined) throw new RangeError(`no seed ${label}`);
    return seed;
  }
}

/** An attack: on whom, how, and which check stops it. */
export interface Attack {
  readonly row: TableRow;
  readonly items?: readonly SignedItem[];
  readonly faults: Faults | ((seen: Seen) => Faults);
  /** the checks without which it succeeds */
  readonly off: readonly (keyof Checks)[];
  /** constraints that the prover leaves out when its verifier has none of them */
  readonly omit?: readonly Constraint[];
  /** the level that alone lacks them */
  readonly at?: number;
}

/** A proof by a cheating prover that goes on whatever fails. */
export function forged(
  { row, items, faults }: Pick<Attack, 'row' | 'items' | 'faults'>,
  more: Faults = {},
  seen: Seen = new Seen(),
): Forged {
  const own = typeof faults === 'function' ? faults(seen) : faults;
  return toyProof(row, {
    ...(items && { items, header: headerOf(items, [hashOfRow(row)]) }),
    trace: seen.trace,
    faults: { ignore: () => true, ...own, ...more, unchecked: true },
  });
}

export type Forged = SectionInput & { readonly set: 512 | 1024 };

/** Whether the verifier of the library accepts it. */
export const isAcceptedByLibrary = (proof: Forged): boolean =>
  verifySection({
    set: `falcon${proof.set}`,
    header: proof.header,
    statements: proof.statements,
    salts: concat(...proof.salts),
    bytes: proof.bytes,
    at: 0,
    other: { row: proof.row as OtherRow['row'], hash: proof.rowHash },
  }) === proof.bytes.length;

/** Refused by the library and by the slow verifier. @returns why the latter refuses */
export function expectRefused(proof: Forged): string {
  const verdict: Verdict = verifyReferenceSection(proof);
  expect(verdict.ok).toBe(false);
  expect(isAcceptedByLibrary(proof)).toBe(false);
  return verdict.ok ? '' : verdict.why;
}

/** Accepted by a slow verifier that is not the whole one. */
export function expectAccepted(proof: Forged, weaker: Partial<SectionInput>): void {
  const accepted = { ok: true, length: proof.bytes.length };
  expect(verifyReferenceSection({ ...proof, ...weaker })).toEqual(accepted);
}

/** The slow verifier without some checks, at one level or everywhere. */
export const lacking = (
  off: readonly (keyof Checks)[],
  at?: number,
): Pick<SectionInput, 'checks' | 'checksAt'> => ({
  checks: Object.fromEntries(off.map((name) => [name, false])),
  ...(at !== undefined && { checksAt: at }),
});

/**
 * Refused by both verifiers, accepted by the slow one if it lacks the check: made for the one and
 * made for the other, where that makes a difference.
 *
 * @returns why the whole verifier refuses
 */
export function expectStopped(attack: Attack): string {
  const { off, omit, at } = attack;
  const strong = forged(attack);
  const why = expectRefused(strong);
  const leftOut = { omit: new Set(omit), ...(at !== undefined && { omitAt: at }) };
  const weak = omit === undefined ? strong : forged(attack, leftOut);
  expectAccepted(weak, lacking(off, at));
  return why;
}
