/**
 * Section 11: the fields of a section, read strictly. Every length follows from the table before
 * anything is allocated; a field with codes ends where its last code ends.
 */

import { RANDOM_ROWS } from './challenges.ts';
import { type Checks, Refused, require } from './checks.ts';
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
  /** y'_0 to y'_263, then y_264 */
  readonly y: readonly number[];
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
  readonly y: readonly number[];
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
const MOST_QUOTIENT = 31;
const SEAL_BYTES = 32;
const FUNCTIONALS = 10;
const LIFTS = 3;
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
    const { kappa1, cut, kY } = level;
    const where = `level ${level.level}`;
    const retry = this.repeats('retryRange', where);
    const firsts = level.level === 0 ? ["u'_A", "u'_B"] : ["u'_1"];
    const u = firsts.map((name) => this.cutValues(kappa1, cut, `${where} ${name}`));
    const counter = this.repeats('counterRange', where);
    const y = this.projection(kY, `${where} y`);
    const w = level.level === 0 ? this.i32(FUNCTIONALS) : [];
    const b = this.lifts(where);
    const u2 = this.cutValues(kappa1, cut, `${where} u'_2`);
    return { retry, u, counter, y, w, b, u2 };
  }

  tail(tail: Tail): TailMessage {
    const { r, n, kappa, cut, kY, kZ, kE, kG, pairs } = tail;
    const retry = this.repeats('retryRange', 'tail');
    const t = this.cutValues((r - 1) * kappa, cut, "tail t'");
    const g = polynomials(this.rice(coefficients(kG), 'tail g'));
    for (const [i, x] of g.flat().entries()) {
      require(this.checks, 'centredG', Math.abs(x) <= HALF_Q, `coefficient ${i}`);
    }
    const sealT = this.take(SEAL_BYTES);
    const counter = this.repeats('counterRange', 'tail');
    const y = this.projection(kY, 'tail y');
    const b = this.lifts('tail');
    const h = this.residues(pairs.length - 2, 'tail h');
    const sealH = this.take(SEAL_BYTES);
    const z = polynomials(this.rice(coefficients(new Array<number>(n).fill(kZ)), 'z'));
    const e = polynomials(this.rice(coefficients(new Array<number>(kappa).fill(kE)), 'e'));
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

  projection(k: number, where: string): number[] {
    const rows = this.rice(new Array<number>(RANDOM_ROWS).fill(k), where);
    return [...rows, ...this.i32(1)];
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

  /** The three lifts, coefficient 0 of each left zero: the verifier fills it in. */
  lifts(where: string): Sent {
    const count = LIFTS * (DEGREE - 1);
    const bytes = this.take(Math.ceil((44 * count) / 8));
    const fields = bitFields(bytes, 44, count);
    require(this.checks, 'residueRange', fields.every((x) => x < Q), `${where} b`);
    require(this.checks, 'fill', integerOf(bytes) >> BigInt(44 * count) === 0n, `${where} b`);
    const values = Array.from({ length: LIFTS }, (_, k) => [
      0n,
      ...fields.slice((DEGREE - 1) * k, (DEGREE - 1) * (k + 1)),
    ]);
    return { bytes, values };
  }

  /** One Rice code for every k of the list, and the rest of the last byte. */
  rice(ks: readonly number[], where: string): number[] {
    const start = 8 * this.at;
    let position = start;
    const bit = (): number => {
      const byte = this.bytes[position >> 3];
      if (byte === undefined) throw new Refused('end of the bytes');
      return (byte >> (position++ & 7)) & 1;
    };
    const list = ks.map((k) => {
      let quotient = 0;
      while (bit() === 1) {
        quotient++;
        require(this.checks, 'quotient', quotient <= MOST_QUOTIENT, where);
      }
      let low = 0;
      for (let i = 0; i < k; i++) low += bit() * 2 ** i;
      const zigzag = quotient * 2 ** k + low;
      return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    });
    while (position % 8 !== 0) require(this.checks, 'fill', bit() === 0, where);
    this.at += (position - start) / 8;
    return list;
  }
}

function bitFields(bytes: Uint8Array, w: number, count: number): bigint[] {
  const all = integerOf(bytes);
  return Array.from({ length: count }, (_, j) => BigInt.asUintN(w, all >> BigInt(w * j)));
}

const coefficients = (ks: readonly number[]): number[] =>
  ks.flatMap((k) => new Array<number>(DEGREE).fill(k));

function polynomials(list: readonly number[]): number[][] {
  const all: number[][] = [];
  for (let at = 0; at < list.length; at += DEGREE) all.push(list.slice(at, at + DEGREE));
  return all;
}
