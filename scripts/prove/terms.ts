/**
 * Terms: bit vectors of 8 to 64 bits, as functions of the inputs. Each value is known once
 * ("hash-consing"). All that is recorded about a term holds for all inputs:
 *
 *   low, high    bounds of its signed value
 *   ring         a polynomial congruent to it modulo 2^ringBits
 *   definition   a polynomial equal to it, in the integers
 *   divides      the term is a shift by so many bits that leaves no rest
 *
 * A polynomial congruent to a term of w bits modulo 2^w equals it if it always fits w bits.
 */
import { evaluate, highest, isKnown, least, lowest, most, signed } from './evaluate.ts';
import { addPoly, constant, mulPoly, ONE, type Poly } from './poly.ts';
import { boundOf, isDivisible, quotientBounds } from './rules.ts';

export interface Term {
  readonly id: number;
  readonly op: string;
  readonly width: number;
  readonly args: readonly Term[];
  readonly immediate: number;
  low: bigint;
  high: bigint;
  ring?: Poly;
  ringBits: number;
  definition?: Poly;
  divides: number;
  /** Of a constant. */
  value?: bigint;
  /** Of an input: what it is, and its number. */
  name?: string;
  key: number;
}

export class Terms {
  /** By id; there is no term 0. */
  readonly nodes: Term[] = [];
  /** Uses of relaxed instructions whose result may depend on the engine. */
  readonly faults: string[] = [];
  readonly #known = new Map<string, Term>();

  constructor() {
    this.nodes.length = 1;
  }

  #new(op: string, width: number, args: readonly Term[], immediate: number): Term {
    const bounds = { low: lowest(width), high: highest(width) };
    const rest = { ringBits: width, divides: 0, key: 0 };
    const term = { id: this.nodes.length, op, width, args, immediate, ...bounds, ...rest };
    this.nodes.push(term);
    return term;
  }

  constant(width: number, value: bigint | number): Term {
    const exact = signed(width, BigInt(value));
    const key = `${width}=${exact}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const term = this.#new('constant', width, [], 0);
    term.value = term.low = term.high = exact;
    term.definition = constant(exact);
    this.#known.set(key, term);
    return term;
  }

  /** An unknown, any value within the bounds. Each call gives another one. */
  input(width: number, name: string, key: number, low = lowest(width), high = highest(width)) {
    const term = this.#new('input', width, [], 0);
    return Object.assign(term, { name, key, low, high });
  }

  /**
   * The term of an operation. @returns whether it is new: then what is known about it is to be
   * recorded
   */
  #intern(op: string, width: number, args: readonly Term[], immediate = 0): [Term, boolean] {
    if (isKnown(op) && args.every((arg) => arg.value !== undefined)) {
      const values = args.map((arg) => arg.value!);
      return [this.constant(width, evaluate(op, width, values, immediate, args[0]!.width)), false];
    }
    const key = keyOf(op, width, args, immediate);
    const known = this.#known.get(key);
    if (known !== undefined) return [known, false];
    const term = this.#new(op, width, args, immediate);
    this.#known.set(key, term);
    return [term, true];
  }

  /** An operation of which no more is known than bounds. */
  opaque(op: string, width: number, args: readonly Term[], bounds?: [bigint, bigint]): Term {
    const [term, isNew] = this.#intern(op, width, args);
    if (isNew && bounds !== undefined) [term.low, term.high] = bounds;
    return term;
  }

  /** The term of the same value that is nearest to the inputs. */
  origin(term: Term): Term {
    while (term.op === 'resize') term = term.args[0]!;
    return term;
  }

  /** The value, as a polynomial: a multiple of another term, or the term as a variable. */
  exact(term: Term): Poly {
    const origin = this.origin(term);
    const { definition } = origin;
    if (definition !== undefined && definition.size <= 1) {
      const [monomial] = definition.keys();
      if (monomial === undefined || monomial < 2 ** 26) return definition;
    }
    return new Map([[origin.id, 1n]]);
  }

  /** A polynomial congruent to the term modulo 2^bits. */
  #congruent(term: Term, bits = term.width): Poly {
    const origin = this.origin(term);
    if (origin.definition !== undefined && origin.op !== 'signedField') return this.exact(origin);
    return origin.ring !== undefined && origin.ringBits >= bits ? origin.ring : this.exact(origin);
  }

  /** Whether two terms of the same width are known to be equal, through their polynomials. */
  isEqual(a: Term, b: Term): boolean {
    if (a === b) return true;
    const modulus = 1n << BigInt(a.width);
    const gap = addPoly(this.#congruent(a), this.#congruent(b), -1n);
    return a.width === b.width && [...gap.values()].every((value) => value % modulus === 0n);
  }

  /**
   * Records the value of a ring operation: `combine` of the arguments' polynomials, modulo
   * 2^width.
   */
  #ring(
    op: string,
    width: number,
    args: readonly Term[],
    immediate: number,
    combine: (parts: readonly Poly[]) => Poly | undefined,
  ): Term {
    const [term, isNew] = this.#intern(op, width, args, immediate);
    if (!isNew) return term;
    const candidates = [combine(args.map((arg) => this.#congruent(arg, width)))];
    if (args.some((arg) => this.origin(arg).ring !== undefined)) {
      candidates.push(combine(args.map((arg) => this.exact(arg))));
    }
    for (const poly of candidates) {
      if (poly === undefined) continue;
      const [low, high] = boundOf(this, poly);
      if (low >= lowest(width) && high <= highest(width)) {
        Object.assign(term, { definition: poly, low, high });
        const simplest = this.#simplest(term, poly);
        this.#known.set(keyOf(op, width, args, immediate), simplest);
        return simplest;
      }
      term.ring ??= poly;
    }
    return term;
  }

  /** A constant, or another term of the same width and value, if the polynomial is one. */
  #simplest(term: Term, poly: Poly): Term {
    const [entry] = poly;
    if (entry === undefined) return this.constant(term.width, 0);
    const [monomial, coefficient] = entry;
    if (poly.size > 1) return term;
    if (monomial === 0) return this.constant(term.width, coefficient);
    const other = coefficient === 1n ? this.nodes[monomial] : undefined;
    return other?.width === term.width ? other : term;
  }

  /** Records a linear equation for the term's value. */
  #define(term: Term, poly: Poly, bounds: readonly [bigint, bigint]): Term {
    term.definition = poly;
    const [low, high] = boundOf(this, poly);
    term.low = most(low, bounds[0]);
    term.high = least(high, bounds[1]);
    return term;
  }

  add(width: number, a: Term, b: Term): Term {
    if (a.value === 0n) return b;
    if (b.value === 0n) return a;
    if (a === b) return this.shl(width, a, 1);
    const args = a.id < b.id ? [a, b] : [b, a];
    return this.#ring('add', width, args, 0, ([x, y]) => addPoly(x!, y!));
  }

  sub(width: number, a: Term, b: Term): Term {
    if (b.value === 0n) return a;
    if (a === b) return this.constant(width, 0);
    return this.#ring('sub', width, [a, b], 0, ([x, y]) => addPoly(x!, y!, -1n));
  }

  mul(width: number, a: Term, b: Term): Term {
    if (a.value === 0n || b.value === 1n) return a;
    if (b.value === 0n || a.value === 1n) return b;
    const args = a.id < b.id ? [a, b] : [b, a];
    return this.#ring('mul', width, args, 0, ([x, y]) => mulPoly(x!, y!));
  }

  shl(width: number, a: Term, bits: number): Term {
    if (bits === 0) return a;
    const factor = constant(1n << BigInt(bits));
    return this.#ring('shl', width, [a], bits, ([x]) => mulPoly(x!, factor));
  }

  /** a0 b0 + a1 b1 of lanes of 16 bits, in 32 bits. */
  dot(a0: Term, b0: Term, a1: Term, b1: Term): Term {
    return this.#ring('dot', 32, [a0, b0, a1, b1], 0, ([w, x, y, z]) => {
      const [left, right] = [mulPoly(w!, x!), mulPoly(y!, z!)];
      return left && right && addPoly(left, right);
    });
  }

  /** floor(x / 2^bits) */
  shr_s(width: number, x: Term, bits: number): Term {
    return this.resize(width, this.#floor(this.origin(x), bits));
  }

  #floor(x: Term, bits: number): Term {
    if (bits === 0) return x;
    if (bits >= x.width) return this.#floor(x, x.width - 1);
    const [from, to] = rangeOf(x);
    if (x.op === 'signedField') {
      return this.bits(x.width, x.args[0]!, Math.min(from + bits, to - 1), to, true);
    }
    if (x.op === 'field') {
      if (from + bits >= to) return this.constant(x.width, 0);
      return this.bits(x.width, x.args[0]!, from + bits, to, false);
    }
    if (x.op === 'concat' && bits >= x.width / 2) {
      return this.resize(x.width, this.#floor(this.origin(x.args[1]!), bits - x.width / 2));
    }
    if (x.op === 'shr_s' && x.divides === 0) return this.#floor(x.args[0]!, x.immediate + bits);
    if (x.op === 'shl' && bits >= x.immediate) {
      const inner = this.origin(x.args[0]!);
      const from = bits - x.immediate;
      if (x.definition !== undefined) return this.#floor(inner, from);
      return this.bits(x.width, inner, from, x.width - x.immediate, true);
    }
    const bounds = [x.low >> BigInt(bits), x.high >> BigInt(bits)] as const;
    if (bounds[0] === bounds[1]) return this.constant(x.width, bounds[0]);
    const [term, isNew] = this.#intern('shr_s', x.width, [x], bits);
    if (isNew) {
      [term.low, term.high] = bounds;
      if (isDivisible(this, x, bits)) term.divides = bits;
    }
    return term;
  }

  /** The same value in another width; it must fit. */
  resize(width: number, x: Term): Term {
    const origin = this.origin(x);
    if (origin.low < lowest(width) || origin.high > highest(width)) {
      throw new Error(`a value of ${origin.op} doesn't fit ${width} bits`);
    }
    if (origin.width === width) return origin;
    const [term, isNew] = this.#intern('resize', width, [origin]);
    if (isNew) {
      const known = { definition: this.exact(origin), low: origin.low, high: origin.high };
      Object.assign(term, known);
    }
    return term;
  }

  /**
   * The bits from `from` up to `to` of x, signed or unsigned: rule L. With x >> k for
   * floor(x / 2^k), the unsigned number is (x >> from) - 2^(to - from) (x >> to), and the signed
   * one is less by 2^(to - from) times the highest bit, (x >> (to - 1)) - 2 (x >> to).
   */
  bits(width: number, term: Term, from: number, to: number, isSigned: boolean): Term {
    const x = this.origin(term);
    const inner = this.#nested(width, x, from, to, isSigned);
    if (inner !== undefined) return inner;
    const floor = this.#floor(x, from);
    const span = 1n << BigInt(to - from);
    const [low, high] = isSigned ? [-span / 2n, span / 2n - 1n] : [0n, span - 1n];
    if (floor.low >= low && floor.high <= high) return this.resize(width, floor);
    if (x.value !== undefined) {
      const value = evaluate(
        isSigned ? 'signedField' : 'field',
        width,
        [x.value],
        from + 128 * to,
        0,
      );
      return this.constant(width, value);
    }
    if (isSigned && widthFor(to - from) < width) {
      return this.resize(width, this.bits(widthFor(to - from), x, from, to, true));
    }
    const op = isSigned ? 'signedField' : 'field';
    const [field, isNew] = this.#intern(op, width, [x], from + 128 * to);
    if (!isNew) return field;
    if (from === 0 && to === x.width && !isSigned && x.definition === undefined) {
      // Congruent to a polynomial that always fits, as an unsigned number: equal to it.
      const poly = this.#congruent(x);
      const range = boundOf(this, poly);
      if (range[0] >= 0n && range[1] < span) return this.#define(field, poly, range);
    }
    const above = this.exact(this.#floor(x, to));
    let poly = addPoly(this.exact(floor), above, -span);
    if (isSigned) {
      const top = addPoly(this.exact(this.#floor(x, to - 1)), above, -2n);
      poly = addPoly(poly, top, -span);
      // Modulo 2^(to - from), the bits above don't count.
      field.ring = from === 0 ? this.#congruent(x) : this.exact(floor);
      field.ringBits = to - from;
    }
    return this.#define(field, poly, [low, high]);
  }

  /** Bits of bits. */
  #nested(width: number, x: Term, from: number, to: number, isSigned: boolean): Term | undefined {
    if (x.op === 'concat') {
      const half = x.width / 2;
      if (to <= half) return this.bits(width, x.args[0]!, from, to, isSigned);
      if (from >= half) return this.bits(width, x.args[1]!, from - half, to - half, isSigned);
    }
    if (x.op === 'shl' && to <= x.width) {
      const shift = x.immediate;
      if (to <= shift) return this.constant(width, 0);
      if (from >= shift) return this.bits(width, x.args[0]!, from - shift, to - shift, isSigned);
    }
    if (x.op !== 'field' && x.op !== 'signedField') return undefined;
    const [first, last] = rangeOf(x);
    const inner = x.args[0]!;
    if (first + to <= last) return this.bits(width, inner, first + from, first + to, isSigned);
    if (first + from >= last) return undefined;
    if (x.op === 'field') return this.bits(width, inner, first + from, last, false);
    return isSigned ? this.bits(width, inner, first + from, last, true) : undefined;
  }

  shr_u(width: number, x: Term, bits: number): Term {
    return bits === 0 ? x : this.bits(width, x, bits, width, false);
  }

  /** The lanes of `width` bits of a wider term. */
  extract(width: number, x: Term, from: number): Term {
    return from === 0 && x.width === width ? x : this.bits(width, x, from, from + width, true);
  }

  extend(width: number, x: Term, isSigned: boolean): Term {
    return isSigned ? this.resize(width, x) : this.bits(width, x, 0, x.width, false);
  }

  narrow(width: number, x: Term, isSigned: boolean): Term {
    if (isSigned && x.low >= lowest(width) && x.high <= highest(width))
      return this.resize(width, x);
    if (!isSigned) return this.opaque('narrow_u', width, [x]);
    const clamp = (value: bigint) => most(lowest(width), least(highest(width), value));
    return this.opaque('narrow_s', width, [x], [clamp(x.low), clamp(x.high)]);
  }

  /** Runs of bits of other terms that make up this one, the lowest first. */
  #pieces(x: Term): [of: Term, from: number, to: number][] {
    const origin = this.origin(x);
    if (x.op === 'concat') return x.args.flatMap((arg) => this.#pieces(arg));
    if (origin.op === 'signedField') {
      const [from, to] = rangeOf(origin);
      if (to - from === x.width) return [[origin.args[0]!, from, to]];
    }
    if (origin.op === 'shr_s' && origin.width - origin.immediate === x.width) {
      return [[origin.args[0]!, origin.immediate, origin.width]];
    }
    return [[x, 0, x.width]];
  }

  /** Two halves of a wider term. */
  concat(low: Term, high: Term): Term {
    const width = 2 * low.width;
    const pieces = [...this.#pieces(low), ...this.#pieces(high)];
    const [of, start] = pieces[0]!;
    let at = start;
    const follows = ([x, from, to]: [Term, number, number], wraps: boolean) => {
      const isNext = x === of && from === at;
      at = wraps ? to % of.width : to;
      return isNext;
    };
    if (pieces.every((piece) => follows(piece, false))) return this.extract(width, of, start);
    at = start;
    if (of.width === width && pieces.every((piece) => follows(piece, true))) {
      return this.rotl(width, of, width - start);
    }
    const [term, isNew] = this.#intern('concat', width, [low, high]);
    if (!isNew) return term;
    const lower = this.exact(this.bits(width, low, 0, low.width, false));
    const poly = addPoly(lower, this.exact(high), 1n << BigInt(low.width));
    return this.#define(term, poly, [lowest(width), highest(width)]);
  }

  rotl(width: number, x: Term, bits: number): Term {
    return bits % width === 0 ? x : this.#intern('rotl', width, [x], bits)[0];
  }

  and(width: number, a: Term, b: Term): Term {
    if (a === b || b.value === -1n || a.value === 0n) return a;
    if (a.value !== undefined)
      return b.value === undefined ? this.and(width, b, a) : this.#bit('and', width, a, b);
    const mask = b.value;
    if (mask === 0n) return b;
    if (mask !== undefined && mask > 0n && (mask & (mask + 1n)) === 0n) {
      return this.bits(width, a, 0, mask.toString(2).length, false);
    }
    if (mask !== undefined && mask < 0n && (-mask & (-mask - 1n)) === 0n) {
      return this.sub(width, a, this.bits(width, a, 0, (-mask).toString(2).length - 1, false));
    }
    const term = this.#bit('and', width, a, b);
    if (term.definition !== undefined || term.ring !== undefined) return term;
    if (mask !== undefined && a.low >= -1n && a.high <= 0n) {
      const poly = mulPoly(this.exact(a), constant(-mask))!;
      return this.#define(term, poly, [lowest(width), highest(width)]);
    }
    const tops = [a, b].filter((x) => x.low >= 0n).map((x) => x.high);
    if (tops.length > 0) [term.low, term.high] = [0n, least(...tops)];
    return term;
  }

  /** The term of a commutative operation on bits. */
  #bit(op: string, width: number, a: Term, b: Term): Term {
    return this.#intern(op, width, a.id < b.id ? [a, b] : [b, a])[0];
  }

  or(width: number, a: Term, b: Term): Term {
    if (a === b || b.value === 0n) return a;
    if (a.value === 0n) return b;
    for (const [high, low] of [
      [a, b],
      [b, a],
    ] as const) {
      const source = this.origin(low);
      if (high.op !== 'shl') continue;
      const bits = high.immediate;
      const [from, to] = rangeOf(source);
      if (source.op === 'field' && source.args[0] === this.origin(high.args[0]!)) {
        // The two parts of a rotation.
        if (from === width - bits && to === width && source.args[0]!.width === width) {
          return this.rotl(width, source.args[0]!, bits);
        }
      }
      if (low.low < 0n || low.high >= 1n << BigInt(bits)) continue;
      // Bits that don't overlap: two halves, or a sum.
      if (2 * bits !== width) return this.#disjoint(width, high, low);
      return this.concat(this.extract(bits, low, 0), this.extract(bits, high.args[0]!, 0));
    }
    const term = this.#bit('or', width, a, b);
    if (a.low >= 0n && b.low >= 0n && term.value === undefined) {
      const top = (1n << BigInt(most(a.high, b.high).toString(2).length)) - 1n;
      [term.low, term.high] = [0n, top];
    }
    return term;
  }

  /** The union of bits, no bit being in both. */
  #disjoint(width: number, a: Term, b: Term): Term {
    const args = a.id < b.id ? [a, b] : [b, a];
    return this.#ring('or', width, args, 0, ([x, y]) => addPoly(x!, y!));
  }

  xor(width: number, a: Term, b: Term): Term {
    if (a === b) return this.constant(width, 0);
    if (b.value === 0n) return a;
    if (a.value === 0n) return b;
    const term = this.#bit('xor', width, a, b);
    if (term.definition !== undefined || term.value !== undefined) return term;
    const [x, y] = a.value === undefined ? [a, b] : [b, a];
    // x xor -2^(w-1) is the unsigned value of x less 2^(w-1).
    if (y.value === lowest(width) && width < 64) {
      const poly = addPoly(this.exact(this.extend(2 * width, x, false)), ONE, lowest(width));
      return this.#define(term, poly, [lowest(width), highest(width)]);
    }
    if (y.value === -1n) {
      const poly = addPoly(constant(-1n), this.exact(x), -1n);
      return this.#define(term, poly, [lowest(width), highest(width)]);
    }
    return term;
  }

  /** Comparisons give -1 or 0, in the width of a lane. */
  compare(op: string, width: number, a: Term, b: Term): Term {
    const swapped: Record<string, string> = {
      gt_s: 'lt_s',
      ge_s: 'le_s',
      gt_u: 'lt_u',
      ge_u: 'le_u',
    };
    const other = swapped[op];
    if (other !== undefined) return this.compare(other, width, b, a);
    const [yes, no] = {
      lt_s: [a.high < b.low, a.low >= b.high],
      le_s: [a.high <= b.low, a.low > b.high],
      eq: [false, a.high < b.low || b.high < a.low],
    }[op] ?? [false, false];
    if (yes) return this.constant(width, -1);
    if (no) return this.constant(width, 0);
    return this.opaque(op, width, [a, b], [-1n, 0n]);
  }

  /** Whether a term isn't zero, as 0 or 1. */
  bool(x: Term): Term {
    if (x.value !== undefined) return this.constant(32, x.value === 0n ? 0 : 1);
    if (x.low >= 0n && x.high <= 1n) return this.resize(32, x);
    const [term, isNew] = this.#intern('bool', 32, [x]);
    if (!isNew) return term;
    [term.low, term.high] = [0n, 1n];
    if (x.low >= -1n && x.high <= 0n) {
      term.definition = addPoly(new Map(), this.exact(x), -1n);
    }
    return term;
  }

  /** Rule Q's quotient, (a b + 2^14) >> 15, saturated. */
  quotient(op: 'q15' | 'relaxedQ15', a: Term, b: Term): Term {
    if (a.value === 0n || b.value === 0n) return this.constant(16, 0);
    const [term, isNew] = this.#intern(op, 16, [a, b]);
    if (term.value !== undefined || !isNew) return term;
    if (a.low === lowest(16) && b.low === lowest(16)) {
      // Neither rule Q nor, if relaxed, the value holds: it is a term that no rule knows.
      if (op === 'relaxedQ15') this.faults.push('relaxed q15mulr: both operands may be -2^15');
      return this.opaque('saturating', 16, [a, b]);
    }
    [term.low, term.high] = quotientBounds(a, b);
    return term;
  }

  /** The remainder s of rule Q: 2^15 quotient = a b - s. */
  remainder(quotient: Term): Term {
    const [term, isNew] = this.#intern('remainder', 16, quotient.args);
    if (isNew) [term.low, term.high] = [-16384n, 16383n];
    return term;
  }

  extreme(op: 'min_s' | 'max_s', width: number, a: Term, b: Term): Term {
    const of = op === 'min_s' ? least : most;
    return this.opaque(op, width, [a, b], [of(a.low, b.low), of(a.high, b.high)]);
  }

  abs(width: number, a: Term): Term {
    const bounds = a.low > lowest(width) ? ([0n, most(-a.low, a.high)] as const) : undefined;
    return this.opaque('abs', width, [a], bounds && [...bounds]);
  }

  select(width: number, condition: Term, a: Term, b: Term): Term {
    if (condition.value !== undefined) return condition.value === 0n ? b : a;
    if (a === b) return a;
    const [term, isNew] = this.#intern('select', width, [condition, a, b]);
    if (!isNew) return term;
    [term.low, term.high] = [least(a.low, b.low), most(a.high, b.high)];
    // b + condition (a - b), if a - b is the same for all inputs
    const values = (x: Term): Poly[] => [this.exact(x), x.definition ?? this.exact(x)];
    const pairs = values(b).flatMap((y) => values(a).map((x) => [y, addPoly(x, y, -1n)] as const));
    const isConstant = ([, gap]: readonly [Poly, Poly]) =>
      [...gap.keys()].every((key) => key === 0);
    const [base, gap] = pairs.find(isConstant) ?? [];
    if (base !== undefined && gap !== undefined && condition.low >= 0n && condition.high <= 1n) {
      const step = mulPoly(this.exact(condition), gap)!;
      return this.#define(term, addPoly(base, step), [term.low, term.high]);
    }
    return term;
  }
}

const keyOf = (op: string, width: number, args: readonly Term[], immediate: number): string =>
  `${op},${width},${immediate}:${args.map(({ id }) => id).join()}`;

/** The bits of a field. */
export const rangeOf = ({ immediate }: Term): [from: number, to: number] => [
  immediate % 128,
  Math.floor(immediate / 128),
];

const widthFor = (bits: number): number => [8, 16, 32, 64].find((width) => width >= bits)!;
