/**
 * Section 11: the fields of a section, read strictly. Every length follows from the table before
 * anything is allocated; a field with codes ends where its last code ends.
 */
import { RANDOM_ROWS } from './challenges.ts';
import { type Checks, Refused, require } from './checks.ts';
import { readGaussian } from './gaussian.ts';
import { liftsOf, type SentProjection } from './lifts.ts';
import { DEGREE, Q } from './ring.ts';
import type { Ordinary, Shapes, Tail } from './shapes.ts';
import { integerOf } from './streams.ts';

/** How numbers were sent: the bytes, and the values, by polynomials or rows. */
export interface Sent {
  readonly bytes: Uint8Array;
  readonly values: readonly (readonly bigint[])[];
}

/** A hidden level has p, k rows of 16 numbers, in the places of u' and b. */
export interface OrdinaryMessage {
  readonly retry: number;
  /** u'_A, u'_B at level 0, else u'_1; or p_A, p_B, or p_1 */
  readonly u: readonly Sent[];
  readonly counter: number;
  readonly y: SentProjection;
  /** behind a hidden level */
  readonly yOfX: SentProjection | undefined;
  /** empty but at level 0 */
  readonly w: readonly number[];
  /** or p_b */
  readonly b: Sent;
  /** one list of three at a hidden level 0, else none */
  readonly b32: Sent;
  /** or p_2 */
  readonly u2: Sent;
}

export interface TailMessage {
  readonly retry: number;
  readonly t: Sent;
  readonly g: readonly (readonly number[])[];
  readonly sealT: Uint8Array;
  readonly counter: number;
  readonly y: SentProjection;
  /** behind a hidden level */
  readonly yOfX: SentProjection | undefined;
  readonly b: Sent;
  readonly h: Sent;
  readonly sealH: Uint8Array;
  readonly z: readonly (readonly number[])[];
  readonly e: readonly (readonly number[])[];
}

export interface SectionMessage {
  readonly levels: readonly OrdinaryMessage[];
  readonly tail: TailMessage;
  /** bytes of the section */
  readonly length: number;
}

const MOST_REPEATS = 15;
const SEAL_BYTES = 32;
const FUNCTIONALS = 10;
const HALF_Q = Number(Q / 2n);
/** 6.4: numbers of a row of p */
const QUARTERS = 16;
const NOTHING: Sent = { bytes: new Uint8Array(0), values: [] };

/** Reads the bytes of one section, from the first on. */
export function parseSection(
  bytes: Uint8Array,
  shapes: Shapes,
  checks: Readonly<Checks>,
): SectionMessage {
  const reader = new Reader(bytes, checks);
  const levels = shapes.levels.map((level, i) => reader.ordinary(level, shapes.levels[i - 1]));
  const tail = reader.tail(shapes.tail, shapes.levels.at(-1));
  return { levels, tail, length: reader.at };
}

export class Reader {
  readonly bytes: Uint8Array;
  readonly checks: Readonly<Checks>;
  at = 0;

  constructor(bytes: Uint8Array, checks: Readonly<Checks>) {
    this.bytes = bytes;
    this.checks = checks;
  }

  /** @param before the level before, if there is one */
  ordinary(level: Ordinary, before?: Ordinary): OrdinaryMessage {
    const { kappa1, cut, tY, w: hidden, k } = level;
    const where = `level ${level.level}`;
    const outer = (name: string): Sent =>
      hidden > 0
        ? this.quarters(k, `${where} p_${name}`)
        : this.cutValues(kappa1, cut, `${where} u'_${name}`);
    const retry = this.repeats('retryRange', where);
    const u = (level.level === 0 ? ['A', 'B'] : ['1']).map(outer);
    const counter = this.repeats('counterRange', where);
    const y = this.projection(tY, `${where} y`);
    const yOfX = this.projectionOfX(before, where);
    const w = level.level === 0 ? this.i32(FUNCTIONALS) : [];
    const b = hidden > 0 ? this.quarters(k, `${where} p_b`) : this.lifts(level.level, where);
    const b32 = hidden > 0 && level.level === 0 ? this.coefficients32(where) : NOTHING;
    const u2 = outer('2');
    return { retry, u, counter, y, yOfX, w, b, b32, u2 };
  }

  /** @param before the level before, if there is one */
  tail(tail: Tail, before?: Ordinary): TailMessage {
    const { level, r, kappa, cut, tY, tZ, tE, tG, pairs } = tail;
    const retry = this.repeats('retryRange', 'tail');
    const t = this.cutValues((r - 1) * kappa, cut, "tail t'");
    const g = polynomials(this.gaussian(coefficients(tG), 'tail g'));
    for (const [i, x] of g.flat().entries()) {
      require(this.checks, 'centredG', Math.abs(x) <= HALF_Q, `coefficient ${i}`);
    }
    const sealT = this.take(SEAL_BYTES);
    const counter = this.repeats('counterRange', 'tail');
    const y = this.projection(tY, 'tail y');
    const yOfX = this.projectionOfX(before, 'tail');
    const b = this.lifts(level, 'tail');
    const h = this.residues(pairs.length - 2, 'tail h');
    const sealH = this.take(SEAL_BYTES);
    const last = coefficients([...tZ, ...new Array<number>(kappa).fill(tE)]);
    const all = polynomials(this.gaussian(last, 'tail z, e'));
    const [z, e] = [all.slice(0, tZ.length), all.slice(tZ.length)];
    return { retry, t, g, sealT, counter, y, yOfX, b, h, sealH, z, e };
  }

  take(count: number): Uint8Array {
    if (count > this.bytes.length - this.at) throw new Refused('end of the bytes');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  repeats(name: 'retryRange' | 'counterRange', where: string): number {
    const value = this.take(1)[0]!;
    require(this.checks, name, value <= MOST_REPEATS, where);
    return value;
  }

  i32(count: number): number[] {
    const bytes = this.take(4 * count);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Array.from({ length: count }, (_, i) => view.getInt32(4 * i, true));
  }

  projection(t: number, where: string): SentProjection {
    const rows = this.gaussian(new Array<number>(2 * RANDOM_ROWS).fill(t), where);
    const [U, V] = this.i32(2) as [number, number];
    return { rows, U, V };
  }

  /** 8.3: y_x, U_x, V_x, with the code of the level before, if that is hidden. */
  projectionOfX(before: Ordinary | undefined, where: string): SentProjection | undefined {
    if (before === undefined || before.w === 0) return undefined;
    return this.projection(before.tX, `${where} y_x`);
  }

  cutValues(count: number, cut: number, where: string): Sent {
    const sent = this.packed(count, 44 - cut);
    const most = (Q - 1n) >> BigInt(cut);
    require(this.checks, 'cutRange', sent.values.flat().every((x) => x <= most), where);
    return sent;
  }

  residues(count: number, where: string): Sent {
    const sent = this.packed(count, 44);
    require(this.checks, 'residueRange', sent.values.flat().every((x) => x < Q), where);
    return sent;
  }

  /** 6.4: p of one message, k rows of 16 numbers. */
  quarters(k: number, where: string): Sent {
    const bytes = this.take((44 * QUARTERS * k) / 8);
    const list = bitFields(bytes, 44, QUARTERS * k);
    require(this.checks, 'quarterRange', list.every((x) => x < Q), where);
    const values = Array.from({ length: k }, (_, row) =>
      list.slice(QUARTERS * row, QUARTERS * (row + 1)),
    );
    return { bytes, values };
  }

  /** 6.4: b_32 of the three lifts of a hidden level 0. */
  coefficients32(where: string): Sent {
    const count = liftsOf(0).length;
    const bytes = this.take(Math.ceil((44 * count) / 8));
    const list = bitFields(bytes, 44, count);
    require(this.checks, 'b32Range', list.every((x) => x < Q), where);
    require(this.checks, 'b32Fill', integerOf(bytes) >> BigInt(44 * count) === 0n, where);
    return { bytes, values: [list] };
  }

  /** pack_w; 64 values of w bits are whole bytes */
  packed(count: number, w: number): Sent {
    const each = (DEGREE * w) / 8;
    const bytes = this.take(each * count);
    const values = Array.from({ length: count }, (_, i) =>
      bitFields(bytes.subarray(each * i, each * (i + 1)), w, DEGREE),
    );
    return { bytes, values };
  }

  /** The lifts; coefficients 0 and, after level 0, 32 are left zero: the verifier fills them in. */
  lifts(level: number, where: string): Sent {
    const isKnown = (i: number) => i === 0 || (level > 0 && i === DEGREE / 2);
    const places = Array.from({ length: DEGREE }, (_, i) => i).filter((i) => !isKnown(i));
    const lifts = liftsOf(level);
    const count = lifts.length * places.length;
    const bytes = this.take(Math.ceil((44 * count) / 8));
    const fields = bitFields(bytes, 44, count);
    require(this.checks, 'residueRange', fields.every((x) => x < Q), `${where} b`);
    require(this.checks, 'fill', integerOf(bytes) >> BigInt(44 * count) === 0n, `${where} b`);
    const values = lifts.map((k) => {
      const b = new Array<bigint>(DEGREE).fill(0n);
      for (const [i, place] of places.entries()) b[place] = fields[places.length * k + i]!;
      return b;
    });
    return { bytes, values };
  }

  /** A Gaussian code of values with these indexes, to the end of its last byte. */
  gaussian(indexes: readonly number[], where: string): number[] {
    const field = readGaussian(this.bytes.subarray(this.at), indexes, this.checks, where);
    this.at += field.length;
    return field.values;
  }
}

function bitFields(bytes: Uint8Array, w: number, count: number): bigint[] {
  const all = integerOf(bytes);
  return Array.from({ length: count }, (_, j) => BigInt.asUintN(w, all >> BigInt(w * j)));
}

const coefficients = (indexes: readonly number[]): number[] =>
  indexes.flatMap((t) => new Array<number>(DEGREE).fill(t));

function polynomials(list: readonly number[]): number[][] {
  const all: number[][] = [];
  for (let at = 0; at < list.length; at += DEGREE) all.push(list.slice(at, at + DEGREE));
  return all;
}
