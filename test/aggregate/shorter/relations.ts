/**
 * What a proof with hidden messages has to satisfy, as plain equations mod q over the witness of
 * the next level: a list of those that do not hold. Places, streams and right sides are worked out
 * here from the text alone; the prover is asked for its witness, its lifts and phi_z.
 */
import { createHash } from 'node:crypto';
import { Q } from '../../../scripts/generate/labradorPlan.ts';
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import type { TraceEvent } from '../../../src/aggregate/proof/index.ts';
import { proveSection } from '../../../src/aggregate/proof/index.ts';
import { headerOf, type SignedItem } from '../../reference/items.ts';
import {
  ALPHA,
  BLOCKS,
  C,
  chachaStream,
  projectionRow,
  ROWS,
  scalars,
  signedChallenge,
} from '../labrador/chacha.ts';
import { centred, mod, multiply, type Poly, zero } from '../labrador/plain.ts';

export const TABLE_HASH = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);

/** What a level has shown of itself. */
export interface Seen {
  readonly number: number;
  /** z_0, ..., z_(f-1), v of the level; empty at the tail */
  readonly out: Poly[];
  readonly phiZ: Poly[];
  readonly phiE: Poly[];
  readonly lifts: Poly[];
  /** h of all pairs, at the tail */
  readonly h: Poly[];
  readonly y: readonly number[];
  readonly yOfX: readonly number[] | undefined;
  readonly absorbed: Readonly<Record<string, Uint8Array>>;
  readonly seeds: Readonly<Record<string, Uint8Array>>;
  readonly sealed: Readonly<Record<string, Uint8Array>>;
}

export interface Run {
  readonly row: TableRow;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly levels: Seen[];
}

const polysOf = (values: ArrayLike<number | bigint>): Poly[] =>
  Array.from({ length: values.length / 64 }, (_, i) =>
    Array.from({ length: 64 }, (_, j) => BigInt(values[64 * i + j]!)),
  );

/** A proof, and what its levels have shown. */
export async function observed(row: TableRow, items: readonly SignedItem[]): Promise<Run> {
  const header = headerOf(items, TABLE_HASH);
  let events: TraceEvent[] = [];
  const levels: Seen[] = [];
  const shown: (Omit<Seen, 'absorbed' | 'seeds' | 'sealed'> & { from: number })[] = [];
  const starts: number[] = [];
  const bytes = await proveSection('falcon512', header, items, {
    table: { row, hash: TABLE_HASH },
    trace: (event) => {
      if (event.kind === 'absorb' && event.label === 'retry') starts.push(events.length);
      events = [...events, event];
    },
    inspect: ({ lab, number, output, lifts, h, sent }) => {
      shown.push({
        from: starts.at(-1)!,
        number,
        out: output === undefined ? [] : polysOf(lab.i16(output.parts)),
        phiZ: polysOf(output?.phiZ ?? []),
        phiE: polysOf(output?.phiE ?? []),
        lifts: polysOf(lab.i64(lifts)),
        h: polysOf(h === undefined ? [] : lab.i64(h)),
        y: Array.from(sent.y),
        yOfX: sent.yOfX && Array.from(sent.yOfX),
      });
    },
  });
  for (const [i, { from, ...level }] of shown.entries()) {
    const absorbed: Record<string, Uint8Array> = {};
    const seeds: Record<string, Uint8Array> = {};
    const sealed: Record<string, Uint8Array> = {};
    for (const event of events.slice(from, shown[i + 1]?.from)) {
      if (event.kind === 'absorb') absorbed[event.label] = event.data;
      else if (event.kind === 'seed') seeds[event.label] = event.seed;
      else sealed[event.label] = event.data;
    }
    levels.push({ ...level, absorbed, seeds, sealed });
  }
  return { row, count: items.length, bytes: bytes!, levels };
}

/** Integers of so many bits each, from a bit string. */
function unpacked(bytes: Uint8Array, bits: number, count: number): bigint[] {
  const list: bigint[] = [];
  let held = 0n;
  let have = 0;
  let at = 0;
  while (list.length < count) {
    while (have < bits) {
      held |= BigInt(bytes[at++]!) << BigInt(have);
      have += 8;
    }
    list.push(held & ((1n << BigInt(bits)) - 1n));
    held >>= BigInt(bits);
    have -= bits;
  }
  return list;
}

const KEY = createHash('shake256', { outputLength: 32 })
  .update('falconry commitment keys v2')
  .digest();
const keys = new Map<string, Poly>();

/** M[row][column] */
function keyAt(row: number, column: number): Poly {
  const name = `${row} ${column}`;
  let poly = keys.get(name);
  if (poly === undefined) {
    const first = Math.floor((352 * column) / 64);
    const stream = chachaStream(new Uint8Array(KEY), [10, row, 0], first, 7);
    poly = unpacked(stream.subarray(352 * column - 64 * first), 44, 64).map((x) => x % Q);
    keys.set(name, poly);
  }
  return poly;
}

const plus = (a: Poly, b: Poly): Poly => a.map((x, i) => mod(x + b[i]!, Q));
const times = (a: Poly, b: Poly): Poly => multiply(a, b).map((x) => mod(x, Q));
const scaled = (a: Poly, k: bigint): Poly => a.map((x) => mod(x * k, Q));
const minus = (a: Poly): Poly => scaled(a, -1n);
const sum = (list: readonly Poly[]): Poly => list.reduce(plus, zero());
const dot = (a: readonly Poly[], b: readonly Poly[]): Poly => sum(a.map((x, i) => times(x, b[i]!)));
const product = (row: number, x: readonly Poly[]): Poly =>
  sum(x.map((poly, column) => times(keyAt(row, column), poly)));
const isZero = (a: Poly): boolean => a.every((x) => mod(x, Q) === 0n);
const ones = (k: bigint): Poly => zero().map(() => k);

/** Digits of `count` polynomials, all of digit 0 first, put together again. */
const recomposed = (digits: readonly Poly[], count: number, bits: number): Poly[] =>
  Array.from({ length: count }, (_, i) =>
    sum(
      Array.from({ length: digits.length / count }, (_, j) =>
        scaled(digits[j * count + i]!, 1n << BigInt(bits * j)),
      ),
    ),
  );

const short = (seed: Uint8Array, level: number, kind: number, index: number): Poly => {
  const stream = chachaStream(seed, [8 + 256 * level + 65536 * kind, index, 0], 0, 1);
  return unpacked(stream, 3, 64).map((x) => x - 4n);
};

interface Ordinary {
  readonly n: number;
  readonly f: number;
  readonly b: number;
  readonly fu: number;
  readonly bu: number;
  readonly fg: number;
  readonly bg: number;
  readonly kappa: number;
  readonly kappa1: number;
  readonly cut: number;
  readonly w: number;
  readonly k: number;
  readonly X: number;
  readonly ct: number;
}

function named(numbers: readonly number[]): Ordinary {
  const [n, f, b, fu, bu, fg, bg, kappa, kappa1, cut] = numbers as [number, ...number[]];
  const [w = 0, k = 0, X = 0, , ct = 0] = numbers.slice(13);
  return { n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, w, k, X, ct } as Ordinary;
}

/** Rows, and the parts of the output of a level, by section 1 of the text. */
function opened(level: Ordinary, number: number, rows: readonly number[], out: readonly Poly[]) {
  const { n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, w, ct } = level;
  const r = rows.reduce((x, y) => x + y, 0);
  const pairs = (r * (r + 1)) / 2;
  let at = 0;
  const take = (count: number): Poly[] => {
    at += count;
    return out.slice(at - count, at);
  };
  const zDigits = take(f * n);
  const d = w === 0 ? [0, 0] : [44 - cut, 44].map((bits) => Math.ceil(bits / w));
  const count = number === 0 ? 3 : 2;
  const sizes = [
    ...(number === 0 ? [kappa1 * d[0]!] : []),
    kappa1 * d[0]!,
    count * d[1]!,
    kappa1 * d[0]!,
  ];
  const x = sizes.map(take);
  const ft = ct === 0 ? fu : Math.ceil((44 - ct) / bu);
  const [vt, vg, vh] = [take(ft * r * kappa), take(fg * pairs), take(fu * pairs)];
  const ve = ct === 0 ? [] : take(f * kappa);
  const e = sizes.slice(1).map(() => (cut === 0 ? [] : take(kappa1)));
  const t = Array.from({ length: r }, (_, a) =>
    recomposed(vt.slice(a * ft * kappa, (a + 1) * ft * kappa), kappa, bu),
  );
  return {
    r,
    pairs,
    x,
    vt,
    vg,
    vh,
    e,
    ft,
    isAll: at === out.length,
    z: recomposed(zDigits, n, b),
    inner: ct === 0 ? [] : recomposed(ve, kappa, b),
    /** what stands for t */
    t: t.map((polys) =>
      ct === 0
        ? polys
        : polys.map((p) => plus(scaled(p, 1n << BigInt(ct)), ones(1n << BigInt(ct - 1)))),
    ),
    g: recomposed(vg, pairs, bg),
    h: recomposed(vh, pairs, bu),
  };
}

/** Rows of a level above 0 of the output of the level before; padding is zero. */
function rowsOf(n: number, parts: readonly (readonly Poly[])[]): Poly[][] {
  return parts.flatMap((part) =>
    Array.from({ length: Math.ceil(part.length / n) }, (_, i) =>
      Array.from({ length: n }, (_, column) => part[n * i + column] ?? zero()),
    ),
  );
}

/** y_j, y*_j of polynomials under their numbers. */
function projected(jl: Uint8Array, level: number, list: readonly (readonly [number, Poly])[]) {
  const y = new Array<number>(2 * ROWS).fill(0);
  for (const [number, poly] of list) {
    const bits = chachaStream(jl, [2 + 256 * level, 0, 0], BLOCKS * number, BLOCKS);
    const s = poly.map(Number);
    for (let j = 0; j < ROWS; j++) {
      for (const [c, bit] of projectionRow(bits, j).entries()) {
        if (bit === 0n) continue;
        y[2 * j]! += s[c]!;
        y[2 * j + 1]! += c < 32 ? s[c + 32]! : -s[c - 32]!;
      }
    }
  }
  return y;
}

/** y from what is sent of it. */
function restored(sent: readonly number[]): number[] {
  const [U, V] = sent.slice(-2) as [number, number];
  const centre = [Math.floor((U + V) / 2), Math.floor((V - U) / 2)];
  return sent.map((x, i) => (i < sent.length - 2 ? x + centre[i % 2]! : x));
}

/** An element of S_q. */
type Pair = readonly [bigint, bigint];
const inS = (a: Pair, b: Pair): Pair => [
  mod(a[0] * b[0] - a[1] * b[1], Q),
  mod(a[0] * b[1] + a[1] * b[0], Q),
];
const sumInS = (list: readonly Pair[]): Pair =>
  list.reduce((a, b) => [mod(a[0] + b[0], Q), mod(a[1] + b[1], Q)], [0n, 0n]);
const T = (a: Poly): Pair => [mod(a[0]!, Q), mod(a[32]!, Q)];
const same = (a: Pair, b: Pair): boolean => a[0] === b[0] && a[1] === b[1];

/** Which messages a level has: the labels that their commitments are absorbed under. */
const labelsOf = (number: number): string[] =>
  number === 0 ? ['uA', 'uB', 'b', 'u2'] : ['u1', 'b', 'u2'];

/** @returns the relations that do not hold */
export function broken({ row, count, levels }: Run): string[] {
  const faults: string[] = [];
  const [, bucket, table] = row;
  const must = (number: number, name: string, holds: boolean): void => {
    if (!holds) faults.push(`${number} ${name}`);
  };
  let lengths = [17 * bucket, 2 * bucket, 17 * bucket];
  /** of the level before */
  let before:
    | {
        params: Ordinary;
        opened: ReturnType<typeof opened>;
        seen: Seen;
        target: Poly;
        c: Poly[];
        a: Map<string, Poly>;
        D: Pair[];
      }
    | undefined;
  for (const [number, seen] of levels.entries()) {
    const isTail = number === levels.length - 1;
    const { seeds, absorbed, lifts } = seen;
    const params = named(table[number] as number[]);
    const { n, kappa, w, k, X, ct } = params;
    const rows = lengths.map((length) => Math.ceil(length / n));
    const r = rows.reduce((x, y) => x + y, 0);
    const y = restored(seen.y);
    const omegas = lifts.map((_, lift) => {
      const nonce = [4 + 256 * number + 65536 * lift, 0, 0];
      return scalars(chachaStream(seeds.lift!, nonce, 0, 500), 274 * 2 + 16 * 6 * 4 + 6);
    });
    let a = new Map<string, Poly>();
    let target: Poly;
    let D: Pair[];
    let s: Poly[][] = [];
    const betas = lifts.map((_, lift) => short(seeds.combine!, number, 1, lift));
    if (before === undefined) {
      // N1, and b_0 of the lifts; b_32 is what was sent
      for (let i = 0; i < rows[0]!; i++) {
        a.set(`${i} ${i + rows[0]! + rows[1]!}`, ones(0n).with(0, 1n));
      }
      target = sum(
        Array.from({ length: count }, (_, item) => {
          const stream = chachaStream(seeds.alpha!, [1, item, 0], 0, 40);
          return scaled(signedChallenge(stream, ALPHA).x, 34034726n);
        }),
      );
      const middle = absorbed.b!.subarray(88 * k);
      const sent = w === 0 ? [] : unpacked(middle, 44, 3);
      must(0, 'length of b_32', w === 0 || (middle.length === 17 && middle[16]! < 16));
      D = lifts.map((b, lift) => [mod(b[0]!, Q), w === 0 ? mod(b[32]!, Q) : sent[lift]!]);
      must(0, 'b_32', w === 0 || lifts.every((b, i) => mod(b[32]!, Q) === sent[i]));
    } else {
      const { params: old, opened: o, seen: from, c } = before;
      const combine = seeds.combine!;
      const challenge = (kind: number, index: number) => short(combine, number, kind, index);
      const parts = [
        ...Array.from({ length: old.f }, (_, i) => from.out.slice(i * old.n, (i + 1) * old.n)),
        from.out.slice(old.f * old.n),
      ];
      s = rowsOf(n, parts);
      const hidden = old.w > 0;
      const firstOfX = n * rows.slice(0, old.f).reduce((x, z) => x + z, 0);
      const x = o.x.flat();
      must(number, 'parts of v', o.isAll);

      // (P_x), (Q), (T_b)
      if (hidden) {
        must(number, '|x|', x.flat().reduce((all, value) => all + Number(value) ** 2, 0) <= old.X);
        const yx = restored(seen.yOfX!);
        const places = x.map((poly, i) => [firstOfX + i, poly] as const);
        const real = projected(seeds.jl!, number, places);
        must(
          number,
          'P_x',
          real.every((value, i) => value === yx[i]),
        );
        const odd = Math.abs(seen.yOfX!.at(-1)! + seen.yOfX!.at(-2)!) % 2;
        const signed = seen.yOfX!.slice(0, 272).map((value) => 2 * value - odd);
        must(number, '288 X', signed.reduce((all, v) => all + v * v, 0) <= 288 * old.X);
        for (const [i, label] of labelsOf(number - 1).entries()) {
          const p = unpacked(from.absorbed[label]!, 44, 16 * old.k);
          for (let line = 0; line < old.k; line++) {
            const q = product(line, o.x[i]!);
            for (let j = 0; j < 8; j++) {
              const [at, to] = [p[16 * line + j]!, p[16 * line + j + 8]!];
              const holds = mod(q[4 * j]!, Q) === at && mod(q[4 * j + 32]!, Q) === to;
              must(number, `Q ${label} ${line} ${j}`, holds);
            }
          }
        }
        const b = recomposed(o.x.at(-2)!, from.lifts.length, old.w);
        for (const [i, poly] of b.entries()) {
          must(number, `T_b ${i}`, same(T(poly), before.D[i]!));
          must(number, `b ${i}`, isZero(plus(poly, minus(from.lifts[i]!))));
        }
      } else must(number, 'y_x', seen.yOfX === undefined);

      // the lifts of this level, by (D)
      D = omegas.map((words) => {
        const omega = (i: number): Pair => [words[2 * i]!, words[2 * i + 1]!];
        const terms = Array.from({ length: 137 }, (_, j) =>
          inS(omega(j), [BigInt(y[2 * j]!), BigInt(y[2 * j + 1]!)]),
        );
        if (!hidden) return sumInS(terms);
        const yx = restored(seen.yOfX!);
        let at = 137;
        for (let j = 0; j < 137; j++, at++) {
          terms.push(inS(omega(at), [BigInt(yx[2 * j]!), BigInt(yx[2 * j + 1]!)]));
        }
        for (const label of labelsOf(number - 1)) {
          const p = unpacked(from.absorbed[label]!, 44, 16 * old.k);
          for (let line = 0; line < old.k; line++) {
            for (let j = 0; j < 8; j++, at++) {
              terms.push(inS(omega(at), [p[16 * line + j]!, p[16 * line + j + 8]!]));
            }
          }
        }
        for (const value of before!.D) terms.push(inS(omega(at++), value));
        return sumInS(terms);
      });
      for (const [i, b] of lifts.entries()) must(number, `D ${i}`, same(T(b), D[i]!));

      // E1 and E2
      const vectors =
        number === 1
          ? [o.vt.slice(0, firstY(before)), [...o.vt.slice(firstY(before)), ...o.vg], o.vh]
          : [[...o.vt, ...o.vg], o.vh];
      const labels = labelsOf(number - 1).filter((label) => label !== 'b');
      const half = old.cut === 0 ? 0n : 1n << BigInt(old.cut - 1);
      target = zero();
      for (const [i, vector] of vectors.entries()) {
        const sent = hidden
          ? []
          : unpacked(from.absorbed[labels[i]!]!, 44 - old.cut, 64 * old.kappa1);
        const message = hidden
          ? recomposed(o.x[i === vectors.length - 1 ? i + 1 : i]!, old.kappa1, old.w)
          : polysOf(sent);
        for (let line = 0; line < old.kappa1; line++) {
          const hat = plus(scaled(message[line]!, 1n << BigInt(old.cut)), ones(half));
          const left = plus(product(line, vector), old.cut === 0 ? zero() : o.e[i]![line]!);
          must(
            number,
            `E${i < vectors.length - 1 ? 1 : 2} ${i} ${line}`,
            isZero(plus(left, minus(hat))),
          );
          const by =
            i === vectors.length - 1 ? challenge(3, line) : challenge(2, i * old.kappa1 + line);
          target = plus(target, times(by, hidden ? ones(half) : hat));
        }
      }
      // E3
      for (let line = 0; line < old.kappa; line++) {
        const left = sum(c.map((by, i) => times(by, o.t[i]![line]!)));
        const e = old.ct === 0 ? zero() : o.inner[line]!;
        must(number, `E3 ${line}`, isZero(plus(left, minus(plus(product(line, o.z), e)))));
        if (old.ct > 0) {
          const right = times(sum(c), ones(-(1n << BigInt(old.ct - 1))));
          target = plus(target, times(challenge(4, line), right));
        }
      }
      // E4, E5, E6
      let [e4, e5, e6] = [minus(dot(o.z, o.z)), minus(dot(from.phiZ, o.z)), minus(before.target)];
      if (old.ct > 0) e5 = plus(e5, minus(dot(from.phiE, o.inner)));
      for (let i = 0, pair = 0; i < o.r; i++) {
        for (let j = i; j < o.r; j++, pair++) {
          const both = times(c[i]!, c[j]!);
          e4 = plus(e4, scaled(times(both, o.g[pair]!), i === j ? 1n : 2n));
          e5 = plus(e5, times(both, o.h[pair]!));
          const quadratic = before.a.get(`${i} ${j}`);
          if (quadratic !== undefined) e6 = plus(e6, times(quadratic, o.g[pair]!));
          if (i === j) e6 = plus(e6, o.h[pair]!);
        }
      }
      if (hidden) {
        const b = recomposed(o.x.at(-2)!, from.lifts.length, old.w);
        const by = b.map((_, i) => short(from.seeds.combine!, number - 1, 1, i));
        e6 = plus(e6, minus(dot(by, b)));
      }
      must(number, 'E4', isZero(e4));
      must(number, 'E5', isZero(e5));
      must(number, 'E6', isZero(e6));
      target = plus(target, times(challenge(6, 0), before.target));
      const delta = challenge(5, 0);
      a = new Map();
      for (let i = 0; i < old.f; i++) {
        for (let j = i; j < old.f; j++) {
          for (let line = 0; line < rows[0]!; line++) {
            const factor = -(i === j ? 1n : 2n) * (1n << BigInt(old.b * (i + j)));
            a.set(`${i * rows[0]! + line} ${j * rows[0]! + line}`, scaled(delta, factor));
          }
        }
      }
    }
    if (w === 0 || isTail) target = plus(target, dot(betas, lifts));
    if (isTail) {
      checkTail(must, number, { seen, r, n, s, y, target, a, row: table[number]! });
      break;
    }
    const stream = (index: number) =>
      chachaStream(seeds.amortise!, [9 + 256 * number, index, 0], 0, 60);
    const c = Array.from({ length: r }, (_, index) => signedChallenge(stream(index), C).x);
    const now = opened(params, number, rows, seen.out);
    if (number > 0) {
      const e = ct === 0 ? [] : cutOff(s, now.t, kappa);
      const limit = 1n << BigInt(Math.max(ct - 1, 0));
      must(
        number,
        'e_a',
        e.flat(2).every((value) => value > -limit && value <= limit),
      );
      for (const [i, poly] of now.inner.entries()) {
        const whole = sum(e.map((of, row) => times(c[row]!, of[i]!)));
        must(number, `v_e ${i}`, isZero(plus(poly, minus(whole))));
      }
      const list = placesOf(s, n, e);
      const real = projected(seeds.jl!, number, list);
      must(
        number,
        'P',
        real.every((value, i) => value === y[i]),
      );
    }
    must(number, 'X', X === 0 || now.x.flat(2).reduce((q, v) => q + Number(v) ** 2, 0) <= X);
    before = { params, opened: now, seen, target, c, a, D };
    lengths = [...new Array<number>(params.f).fill(n), seen.out.length - params.f * n];
  }
  return faults;

  /** How many polynomials of v_t at level 0 belong to S and W. */
  function firstY(of: NonNullable<typeof before>): number {
    const rows = [17 * bucket, 2 * bucket].map((length) => Math.ceil(length / of.params.n));
    return (rows[0]! + rows[1]!) * of.opened.ft * of.params.kappa;
  }
}

/** e_a of all rows. */
const cutOff = (s: readonly Poly[][], hats: readonly Poly[][], kappa: number): Poly[][] =>
  s.map((row, a) =>
    Array.from({ length: kappa }, (_, i) =>
      plus(hats[a]![i]!, minus(product(i, row))).map((x) => centred(x)),
    ),
  );

/** The polynomials that a projection covers, with their numbers. */
const placesOf = (s: readonly Poly[][], n: number, e: readonly Poly[][]) => [
  ...s.flatMap((row, a) => row.map((poly, column) => [n * a + column, poly] as const)),
  ...e.flatMap((row, a) =>
    row.map((poly, i) => [n * s.length + a * row.length + i, poly] as const),
  ),
];

function checkTail(
  must: (number: number, name: string, holds: boolean) => void,
  number: number,
  tail: {
    seen: Seen;
    r: number;
    n: number;
    s: Poly[][];
    y: number[];
    target: Poly;
    a: Map<string, Poly>;
    row: TableRow[2][number];
  },
): void {
  const { seen, r, n, s, y, target, a, row } = tail;
  const [kappa, cut] = [row[1] as number, row[2] as number];
  const pairs = (r * (r + 1)) / 2;
  const { absorbed, sealed, seeds } = seen;
  const bits = 44 - cut;
  const ofT = ((r - 1) * kappa * 64 * bits) / 8;
  const high = polysOf(unpacked(absorbed.t!, bits, 64 * (r - 1) * kappa));
  const hats = Array.from({ length: r }, (_, i) =>
    i === r - 1
      ? polysOf(unpacked(sealed.t!, 44, 64 * kappa))
      : high
          .slice(i * kappa, (i + 1) * kappa)
          .map((p) => plus(scaled(p, 1n << BigInt(cut)), ones(1n << BigInt(cut - 1)))),
  );
  const e = cutOff(s, hats, kappa);
  must(
    number,
    'e_a',
    e.flat(2).every((x) => x > -(1n << BigInt(cut - 1)) && x <= 1n << BigInt(cut - 1)),
  );
  must(
    number,
    'P',
    projected(seeds.jl!, number, placesOf(s, n, e)).every((x, i) => x === y[i]),
  );
  const g = [
    ...polysOf(unpacked(absorbed.t!.subarray(ofT), 44, 64 * (pairs - 1))),
    ...polysOf(unpacked(sealed.t!.subarray(352 * kappa), 44, 64)),
  ];
  const h = polysOf(unpacked(absorbed.h!, 44, 64 * (pairs - 2)));
  const last = polysOf(unpacked(sealed.h!, 44, 64))[0]!;
  // h_00 is not sent
  must(number, 'h', isZero(plus(last, minus(seen.h.at(-1)!))));
  must(
    number,
    'h',
    h.every((poly, i) => isZero(plus(poly, minus(seen.h[i + 1]!)))),
  );
  let left = minus(target);
  for (let i = 0, pair = 0; i < r; i++) {
    for (let j = i; j < r; j++, pair++) {
      const by = a.get(`${i} ${j}`);
      if (by !== undefined) left = plus(left, times(by, g[pair]!));
      if (i === j) left = plus(left, seen.h[pair]!);
      must(number, `g ${i} ${j}`, isZero(plus(g[pair]!, minus(dot(s[i]!, s[j]!)))));
    }
  }
  must(number, 'combined', isZero(left));
}
