/**
 * Section 11: the fields of a section, read strictly. Every length follows from the table before
 * anything is allocated; a field with codes ends where its last code ends.
 */

import { RANDOM_ROWS } from './challenges.ts';
import { type Checks, Refused, require } from './checks.ts';
import { readGaussian } from './gaussian.ts';
import { liftsOf, type SentProjection } from './lifts.ts';
import { DEGREE, type Poly, Q } from './ring.ts';
import type { Ordinary, Shapes, Tail } from './shapes.ts';
import { integerOf } from './streams.ts';

/** How a list of polynomials was sent: the bytes, and the values. */
export interface Sent {
  readonly bytes: Uint8Array;
  readonly values: readonly Poly[];
}

export interface OrdinaryMessage {
  readonly retry: number;
  /** u'_A, u'_B at level 0, else u'_1 */
  readonly u: readonly Sent[];
  readonly counter: number;
  readonly y: SentProjection;
  /** empty but at level 0 */
  readonly w: readonly number[];
  readonly b: Sent;
  readonly u2: Sent;
}

export interface TailMessage {
  readonly retry: number;
  readonly t: Sent;
  readonly g: readonly (readonly number[])[];
  readonly sealT: Uint8Array;
  readonly counter: number;
  readonly y: SentProjection;
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

/** Reads the bytes of one section, from the first on. */
export function parseSection(
  bytes: Uint8Array,
  shapes: Shapes,
  checks: Readonly<Checks>,
): SectionMessage {
  const reader = new Reader(bytes, checks);
  const levels = shapes.levels.map((level) => reader.ordinary(level));
  const tail = reader.tail(shapes.tail);
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

  ordinary(level: Ordinary): OrdinaryMessage {
    const { kappa1, cut, tY } = level;
    const where = `level ${level.level}`;
    const retry = this.repeats('retryRange', where);
    const firsts = level.level === 0 ? ["u'_A", "u'_B"] : ["u'_1"];
    const u = firsts.map((name) => this.cutValues(kappa1, cut, `${where} ${name}`));
    const counter = this.repeats('counterRange', where);
    const y = this.projection(tY, `${where} y`);
    const w = level.level === 0 ? this.i32(FUNCTIONALS) : [];
    const b = this.lifts(level.level, where);
    const u2 = this.cutValues(kappa1, cut, `${where} u'_2`);
    return { retry, u, counter, y, w, b, u2 };
  }

  tail(tail: Tail): TailMessage {
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
    const b = this.lifts(level, 'tail');
    const h = this.residues(pairs.length - 2, 'tail h');
    const sealH = this.take(SEAL_BYTES);
    const last = coefficients([...tZ, ...new Array<number>(kappa).fill(tE)]);
    const all = polynomials(this.gaussian(last, 'tail z, e'));
    const [z, e] = [all.slice(0, tZ.length), all.slice(tZ.length)];
    return { retry, t, g, sealT, counter, y, b, h, sealH, z, e };
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
