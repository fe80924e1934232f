/**
 * What a proof with hidden messages has to satisfy, as plain equations mod q over the witness of
 * the next level: a list of those that do not hold. Places, streams and right sides are worked out
 * here from the text alone; the prover is asked for its witness, its lifts and phi_z.
 */
import { createHash } from 'node:crypto';
import { Q } from '../../../scripts/generate/labradorPlan.ts';
import { multiplyZ } from '../../reference/prover/ring.ts';
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
import { centred, mod, type Poly, zero } from '../labrador/plain.ts';
import { polysOf, type Run, type Seen } from './observed.ts';

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
export function keyAt(row: number, column: number): Poly {
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
const times = (a: Poly, b: Poly): Poly => multiplyZ(a, b).map((x) => mod(x, Q));
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
  // a tail has none of these
  const [w = 0, k = 0, X = 0, , ct = 0] = numbers.slice(13);
  return { n, f, b, fu, bu, fg, bg, kappa, kappa1, cut, w, k, X, ct } as Ordinary;
}

/** Rows, and the parts of the output of a level, by sections 3 and 6 of docs/protocol.md. */
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
  const own = kappa1 * d[0]!;
  const sizes = [...(number === 0 ? [own] : []), own, count * d[1]!, own];
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

const matrices = new Map<string, Int8Array>();

/** The entries of all rows of the projection at a place. */
function entriesAt(jl: Uint8Array, level: number, number: number): Int8Array {
  const name = `${level} ${number} ${jl}`;
  let entries = matrices.get(name);
  if (entries === undefined) {
    const bits = chachaStream(jl, [2 + 256 * level, 0, 0], BLOCKS * number, BLOCKS);
    const rows = Array.from({ length: ROWS }, (_, j) => projectionRow(bits, j).map(Number));
    entries = Int8Array.from(rows.flat());
    matrices.set(name, entries);
  }
  return entries;
}

/** y_j, y*_j of polynomials under their numbers. */
function projected(jl: Uint8Array, level: number, list: readonly (readonly [number, Poly])[]) {
  const y = new Array<number>(2 * ROWS).fill(0);
  for (const [number, poly] of list) {
    const entries = entriesAt(jl, level, number);
    const s = poly.map(Number);
    const turned = s.map((_, c) => (c < 32 ? s[c + 32]! : -s[c - 32]!));
    for (const [at, entry] of entries.entries()) {
      if (entry === 0) continue;
      const [j, c] = [at >> 6, at & 63];
      y[2 * j]! += s[c]!;
      y[2 * j + 1]! += turned[c]!;
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

type Must = (name: string, holds: boolean) => void;

/** A level, as far as the levels before it decide. */
interface Level {
  readonly number: number;
  readonly seen: Seen;
  readonly params: Ordinary;
  readonly rows: readonly number[];
  readonly r: number;
  /** rows of a level above 0, padding included */
  readonly s: Poly[][];
  readonly y: readonly number[];
}

/** The combined constraint without its linear forms, and the known part of the lifts. */
interface Made {
  /** the right side */
  readonly target: Poly;
  /** a_ab by the rows */
  readonly a: ReadonlyMap<string, Poly>;
  readonly D: readonly Pair[];
}

interface Proved extends Level, Made {
  readonly c: Poly[];
  readonly opened: ReturnType<typeof opened>;
}

/** @returns the relations that do not hold */
export function broken({ row, count, levels }: Run): string[] {
  const faults: string[] = [];
  const [, bucket, table] = row;
  let lengths = [17 * bucket, 2 * bucket, 17 * bucket];
  let before: Proved | undefined;
  for (const [number, seen] of levels.entries()) {
    const must: Must = (name, holds) => {
      if (!holds) faults.push(`${number} ${name}`);
    };
    const level = levelOf(number, seen, named(table[number] as number[]), lengths, before);
    const { params } = level;
    const made =
      before === undefined ? madeOfItems(must, level, count) : madeOfOutput(must, level, before);
    const isTail = number === levels.length - 1;
    const lifts = sum(seen.lifts.map((b, i) => times(short(seen.seeds.combine!, number, 1, i), b)));
    const target = isTail || params.w === 0 ? plus(made.target, lifts) : made.target;
    if (isTail) {
      checkTail(must, level, { ...made, target });
      break;
    }
    const now = opened(params, number, level.rows, seen.out);
    const c = Array.from({ length: level.r }, (_, index) => {
      const nonce = [9 + 256 * number, index, 0];
      return signedChallenge(chachaStream(seen.seeds.amortise!, nonce, 0, 60), C).x;
    });
    must('parts of v', now.isAll);
    must('X', params.X === 0 || normSq(now.x.flat()) <= params.X);
    before = { ...level, ...made, target, c, opened: now };
    if (number > 0) checkRows(must, before);
    const { f, n } = params;
    lengths = [...new Array<number>(f).fill(n), seen.out.length - f * n];
  }
  return faults;
}

const normSq = (polys: readonly Poly[]): number =>
  polys.flat().reduce((all, x) => all + Number(x) ** 2, 0);

function levelOf(
  number: number,
  seen: Seen,
  params: Ordinary,
  lengths: readonly number[],
  before: Proved | undefined,
): Level {
  const rows = lengths.map((length) => Math.ceil(length / params.n));
  const r = rows.reduce((x, y) => x + y, 0);
  const y = restored(seen.y);
  if (before === undefined) return { number, seen, params, rows, r, s: [], y };
  const { f, n } = before.params;
  const { out } = before.seen;
  const parts = Array.from({ length: f }, (_, i) => out.slice(i * n, (i + 1) * n));
  const s = rowsOf(params.n, [...parts, out.slice(f * n)]);
  return { number, seen, params, rows, r, s, y };
}

/** Level 0: N1, and b_0 of the lifts; b_32 is what was sent. */
function madeOfItems(must: Must, { seen, params, rows }: Level, count: number): Made {
  const { absorbed, seeds, lifts } = seen;
  const firstY = rows[0]! + rows[1]!;
  const a = new Map(
    Array.from({ length: rows[0]! }, (_, i) => [`${i} ${i + firstY}`, zero().with(0, 1n)] as const),
  );
  const target = sum(
    Array.from({ length: count }, (_, item) => {
      const stream = chachaStream(seeds.alpha!, [1, item, 0], 0, 40);
      return scaled(signedChallenge(stream, ALPHA).x, 34034726n);
    }),
  );
  if (params.w === 0) return { a, target, D: lifts.map(T) };
  const last = absorbed.b!.subarray(88 * params.k);
  const sent = unpacked(last, 44, 3);
  must('length of b_32', last.length === 17 && last[16]! < 16);
  for (const [i, b] of lifts.entries()) must(`b_32 ${i}`, mod(b[32]!, Q) === sent[i]);
  return { a, target, D: lifts.map((b, i) => [mod(b[0]!, Q), sent[i]!]) };
}

/** A level above 0: all that it has to prove of the level before. */
function madeOfOutput(must: Must, level: Level, before: Proved): Made {
  const { number, seen, rows } = level;
  const { params: old } = before;
  if (old.w > 0) {
    checkSecondBlock(must, level, before);
    checkQuarters(must, before);
    checkHiddenLifts(must, before);
  } else must('no y_x', seen.yOfX === undefined);
  const D = seen.lifts.map((_, lift) => knownOfLift(level, before, lift));
  for (const [i, b] of seen.lifts.entries()) must(`D ${i}`, same(T(b), D[i]!));
  const challenge: Challenge = (kind, index) => short(seen.seeds.combine!, number, kind, index);
  checkGarbage(must, before);
  const target = sum([
    outerRight(must, before, challenge),
    innerRight(must, before, challenge),
    times(challenge(6, 0), before.target),
  ]);
  const a = new Map<string, Poly>();
  for (let i = 0; i < old.f; i++) {
    for (let j = i; j < old.f; j++) {
      for (let line = 0; line < rows[0]!; line++) {
        const factor = -(i === j ? 1n : 2n) * (1n << BigInt(old.b * (i + j)));
        a.set(`${i * rows[0]! + line} ${j * rows[0]! + line}`, scaled(challenge(5, 0), factor));
      }
    }
  }
  return { a, target, D };
}

type Challenge = (kind: number, index: number) => Poly;

/** (P_x), and the bound on x. */
function checkSecondBlock(must: Must, { number, seen, params, rows }: Level, before: Proved): void {
  const { params: old, opened: o } = before;
  const first = params.n * rows.slice(0, old.f).reduce((x, y) => x + y, 0);
  const places = o.x.flat().map((poly, i) => [first + i, poly] as const);
  const sent = seen.yOfX!;
  const y = restored(sent);
  const real = projected(seen.seeds.jl!, number, places);
  must('P_x', isSame(real, y));
  const odd = Math.abs(sent.at(-1)! + sent.at(-2)!) % 2;
  const signs = sent.slice(0, 272).map((value) => 2 * value - odd);
  must('288 X', signs.reduce((all, x) => all + x * x, 0) <= 288 * old.X);
}

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((x, i) => x === b[i]);

/** Coefficients 4c of the rows that were sent for a message. */
const sentOf = ({ seen, params }: Proved, label: string): bigint[] =>
  unpacked(seen.absorbed[label]!, 44, 16 * params.k);

/** (Q) */
function checkQuarters(must: Must, before: Proved): void {
  const { k } = before.params;
  for (const [i, label] of labelsOf(before.number).entries()) {
    const p = sentOf(before, label);
    for (let line = 0; line < k; line++) {
      const q = product(line, before.opened.x[i]!);
      for (let j = 0; j < 8; j++) {
        const pair = [p[16 * line + j]!, p[16 * line + j + 8]!] as const;
        must(`Q ${label} ${line} ${j}`, same([mod(q[4 * j]!, Q), mod(q[4 * j + 32]!, Q)], pair));
      }
    }
  }
}

/** The lifts that the digits in x stand for. */
const liftsInX = ({ opened: o, seen, params }: Proved): Poly[] =>
  recomposed(o.x.at(-2)!, seen.lifts.length, params.w);

/** (T_b) */
function checkHiddenLifts(must: Must, before: Proved): void {
  for (const [i, poly] of liftsInX(before).entries()) {
    must(`T_b ${i}`, same(T(poly), before.D[i]!));
    must(`b ${i}`, isZero(plus(poly, minus(before.seen.lifts[i]!))));
  }
}

/** (D) */
function knownOfLift({ number, seen, y }: Level, before: Proved, lift: number): Pair {
  const { params: old } = before;
  const nonce = [4 + 256 * number + 65536 * lift, 0, 0];
  const words = scalars(
    chachaStream(seen.seeds.lift!, nonce, 0, 100),
    2 * (2 * ROWS + 4 * 8 * 8 + 3),
  );
  let at = 0;
  const next = (): Pair => [words[at++]!, words[at++]!];
  const pairs = (list: readonly number[]): Pair[] =>
    Array.from({ length: ROWS }, (_, j) => [BigInt(list[2 * j]!), BigInt(list[2 * j + 1]!)]);
  const terms = pairs(y).map((value) => inS(next(), value));
  if (old.w === 0) return sumInS(terms);
  for (const value of pairs(restored(seen.yOfX!))) terms.push(inS(next(), value));
  for (const label of labelsOf(before.number)) {
    const p = sentOf(before, label);
    for (let line = 0; line < old.k; line++) {
      for (let j = 0; j < 8; j++) {
        terms.push(inS(next(), [p[16 * line + j]!, p[16 * line + j + 8]!]));
      }
    }
  }
  for (const value of before.D) terms.push(inS(next(), value));
  return sumInS(terms);
}

/** The vectors that the outer commitments of a level are to. */
function committed({ number, opened: o, rows, params }: Proved): Poly[][] {
  if (number > 0) return [[...o.vt, ...o.vg], o.vh];
  const firstY = (rows[0]! + rows[1]!) * o.ft * params.kappa;
  return [o.vt.slice(0, firstY), [...o.vt.slice(firstY), ...o.vg], o.vh];
}

/** E1 and E2. @returns what they add to the right side */
function outerRight(must: Must, before: Proved, challenge: Challenge): Poly {
  const { params: old, opened: o, seen } = before;
  const { cut, kappa1, w } = old;
  const labels = labelsOf(before.number).filter((label) => label !== 'b');
  const vectors = committed(before);
  const half = ones(cut === 0 ? 0n : 1n << BigInt(cut - 1));
  const rights: Poly[] = [];
  for (const [i, vector] of vectors.entries()) {
    const isLast = i === vectors.length - 1;
    const message =
      w > 0
        ? recomposed(o.x[isLast ? i + 1 : i]!, kappa1, w)
        : polysOf(unpacked(seen.absorbed[labels[i]!]!, 44 - cut, 64 * kappa1));
    for (let line = 0; line < kappa1; line++) {
      const hat = plus(scaled(message[line]!, 1n << BigInt(cut)), half);
      const left = plus(product(line, vector), cut === 0 ? zero() : o.e[i]![line]!);
      must(`E${isLast ? 2 : 1} ${i} ${line}`, isZero(plus(left, minus(hat))));
      const by = isLast ? challenge(3, line) : challenge(2, i * kappa1 + line);
      rights.push(times(by, w > 0 ? half : hat));
    }
  }
  return sum(rights);
}

/** E3. @returns what it adds to the right side */
function innerRight(must: Must, { params, opened: o, c }: Proved, challenge: Challenge): Poly {
  const { kappa, ct } = params;
  const right = ct === 0 ? zero() : times(sum(c), ones(-(1n << BigInt(ct - 1))));
  const rights: Poly[] = [];
  for (let line = 0; line < kappa; line++) {
    // with t', as the text has it: o.t stands for t
    const left = plus(sum(c.map((by, i) => times(by, o.t[i]![line]!))), right);
    const whole = plus(product(line, o.z), o.inner[line] ?? zero());
    must(`E3 ${line}`, isZero(plus(left, minus(plus(whole, right)))));
    rights.push(times(challenge(4, line), right));
  }
  return sum(rights);
}

/** E4, E5, E6 */
function checkGarbage(must: Must, before: Proved): void {
  const { opened: o, c, seen, params, number } = before;
  let e4 = minus(dot(o.z, o.z));
  let e5 = minus(plus(dot(seen.phiZ, o.z), dot(seen.phiE, o.inner)));
  let e6 = minus(before.target);
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
  if (params.w > 0) {
    const b = liftsInX(before);
    const by = b.map((_, i) => short(seen.seeds.combine!, number, 1, i));
    e6 = plus(e6, minus(dot(by, b)));
  }
  for (const [name, left] of Object.entries({ E4: e4, E5: e5, E6: e6 })) must(name, isZero(left));
}

/** e_a, their part of the output, and (P) at an ordinary level. */
function checkRows(must: Must, level: Proved): void {
  const { params, s, opened: now, c, number, seen, y } = level;
  const { ct, kappa, n } = params;
  const e = ct === 0 ? [] : cutOff(s, now.t, kappa);
  must(
    'e_a',
    e.flat().every((poly) => isLow(poly, ct)),
  );
  for (const [i, poly] of now.inner.entries()) {
    const whole = sum(e.map((of, row) => times(c[row]!, of[i]!)));
    must(`v_e ${i}`, isZero(plus(poly, minus(whole))));
  }
  must('P', isSame(projected(seen.seeds.jl!, number, placesOf(s, n, e)), y));
}

/** Whether coefficients are what a cut of so many bits can leave. */
function isLow(poly: Poly, cut: number): boolean {
  const half = 1n << BigInt(cut - 1);
  return poly.every((x) => x > -half && x <= half);
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

/** The rows of the tail, and its combined constraint. */
function checkTail(must: Must, { number, seen, s, r, y, params }: Level, made: Made): void {
  const { n, f: kappa, b: cut } = params; // numbers 1 and 2 of a tail
  const pairs = (r * (r + 1)) / 2;
  const { absorbed, sealed, seeds } = seen;
  const bits = 44 - cut;
  const half = ones(1n << BigInt(cut - 1));
  const high = polysOf(unpacked(absorbed.t!, bits, 64 * (r - 1) * kappa));
  const sent = high.map((poly) => plus(scaled(poly, 1n << BigInt(cut)), half));
  const all = [...sent, ...polysOf(unpacked(sealed.t!, 44, 64 * kappa))];
  const hats = Array.from({ length: r }, (_, i) => all.slice(i * kappa, (i + 1) * kappa));
  const e = cutOff(s, hats, kappa);
  must(
    'e_a',
    e.flat().every((poly) => isLow(poly, cut)),
  );
  must('P', isSame(projected(seeds.jl!, number, placesOf(s, n, e)), y));
  const ofT = ((r - 1) * kappa * 64 * bits) / 8;
  const g = [
    ...polysOf(unpacked(absorbed.t!.subarray(ofT), 44, 64 * (pairs - 1))),
    ...polysOf(unpacked(sealed.t!.subarray(352 * kappa), 44, 64)),
  ];
  const h = [
    ...polysOf(unpacked(absorbed.h!, 44, 64 * (pairs - 2))),
    ...polysOf(unpacked(sealed.h!, 44, 64)),
  ];
  // h_00 is not sent
  for (const [i, poly] of h.entries()) must(`h ${i}`, isZero(plus(poly, minus(seen.h[i + 1]!))));
  let left = minus(made.target);
  for (let i = 0, pair = 0; i < r; i++) {
    for (let j = i; j < r; j++, pair++) {
      must(`g ${i} ${j}`, isZero(plus(g[pair]!, minus(dot(s[i]!, s[j]!)))));
      const by = made.a.get(`${i} ${j}`);
      if (by !== undefined) left = plus(left, times(by, g[pair]!));
      if (i === j) left = plus(left, seen.h[pair]!);
    }
  }
  must('combined', isZero(left));
}
