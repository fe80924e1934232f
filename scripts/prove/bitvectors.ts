/**
 * Runs functions of a decoded module on bit vectors, and writes results as formulas of SMT-LIB.
 * Addresses and branches must be known; shift counts needn't be. This covers the arithmetic on
 * reals (reals.ts), which execute.ts cannot: it has no formulas, only facts about values.
 */
import { I32, type Instruction, type Module, V128 } from './decode.ts';
import { literal } from './smt.ts';

/** A node of a formula: `format` with `$0`, `$1` and `$2` for its arguments. */
export interface Bits {
  readonly width: number;
  readonly format: string;
  readonly args: readonly Bits[];
  readonly value?: bigint;
}
/** Two lanes of 64 bits, the lower one first. */
export type Lanes = readonly [Bits, Bits];
export type Value = Bits | Lanes;

const isLanes = (value: Value): value is Lanes => Array.isArray(value);

export const constant = (width: number, value: bigint | number): Bits => ({
  ...{ width, format: literal(value, width), args: [] },
  value: BigInt.asUintN(width, BigInt(value)),
});
export const unknown = (width: number, name: string): Bits => ({ width, format: name, args: [] });
const node = (width: number, format: string, ...args: Bits[]): Bits => ({ width, format, args });

const FOLDED: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  bvadd: (a, b) => a + b,
  bvsub: (a, b) => a - b,
  bvor: (a, b) => a | b,
  bvshl: (a, b) => a << b,
};
const BINARY: Readonly<Record<string, string>> = {
  ...{ add: 'bvadd', sub: 'bvsub', mul: 'bvmul', and: 'bvand', or: 'bvor', xor: 'bvxor' },
};
const SHIFTS: Readonly<Record<string, string>> = { shl: 'bvshl', shr_s: 'bvashr', shr_u: 'bvlshr' };
const COMPARED: Readonly<Record<string, string>> = {
  ...{ eq: '=', ne: 'distinct', lt_s: 'bvslt', lt_u: 'bvult', gt_s: 'bvsgt', gt_u: 'bvugt' },
  ...{ le_s: 'bvsle', le_u: 'bvule', ge_s: 'bvsge', ge_u: 'bvuge' },
};

function binary(name: string, a: Bits, b: Bits): Bits {
  const fold = FOLDED[name];
  if (fold && a.value !== undefined && b.value !== undefined) {
    return constant(a.width, fold(a.value, b.value));
  }
  return node(a.width, `(${name} $0 $1)`, a, b);
}

/** Counts are taken modulo the width. */
function shift(name: string, a: Bits, count: Bits): Bits {
  const wide = count.width < a.width ? zeroExtend(a.width, count) : count;
  const most = constant(a.width, a.width - 1);
  const known =
    count.value === undefined ? undefined : constant(a.width, count.value & most.value!);
  return binary(name, a, known ?? binary('bvand', wide, most));
}

function compare(name: string, a: Bits, b: Bits, yes: Bits, no: Bits): Bits {
  if (a.value !== undefined && b.value !== undefined) {
    const asSigned = (x: Bits) => BigInt.asIntN(x.width, x.value!);
    const known = { '=': a.value === b.value, distinct: a.value !== b.value }[name];
    const less = { bvslt: asSigned(a) < asSigned(b) }[name];
    const holds = known ?? less;
    if (holds !== undefined) return holds ? yes : no;
  }
  return node(yes.width, `(ite (${name} $0 $1) $2 $3)`, a, b, yes, no);
}

function zeroExtend(width: number, a: Bits): Bits {
  if (a.value !== undefined) return constant(width, a.value);
  return node(width, `((_ zero_extend ${width - a.width}) $0)`, a);
}

export function extract(a: Bits, from: number, width: number): Bits {
  if (a.value !== undefined) return constant(width, a.value >> BigInt(from));
  const [high, low] = a.args;
  if (a.format === '(concat $0 $1)' && width === low!.width && from % width === 0) {
    return from === 0 ? low! : high!;
  }
  return node(width, `((_ extract ${from + width - 1} ${from}) $0)`, a);
}

/** The number of leading zeros, by halves. */
function leadingZeros(a: Bits): Bits {
  const { width } = a;
  let [count, rest] = [constant(width, 0), a];
  for (let half = width / 2; half >= 1; half /= 2) {
    const top = extract(rest, width - half, half);
    const zero = constant(half, 0);
    const size = constant(width, half);
    count = compare('=', top, zero, binary('bvadd', count, size), count);
    rest = compare('=', top, zero, binary('bvshl', rest, size), rest);
  }
  const one = binary('bvadd', count, constant(width, 1));
  return compare('=', extract(rest, width - 1, 1), constant(1, 0), one, count);
}

const parts = (a: Lanes): Bits[] =>
  a.flatMap((lane) => [extract(lane, 0, 32), extract(lane, 32, 32)]);
const joined = ([a, b, c, d]: readonly Bits[]): Lanes => [
  node(64, '(concat $0 $1)', b!, a!),
  node(64, '(concat $0 $1)', d!, c!),
];

/** The operation on lanes. @returns undefined if it is not known */
function vector(op: string, [a, b]: readonly Lanes[]): Lanes | undefined {
  const [shape, name] = op.split('.') as [string, string];
  const each = (make: (x: Bits, y: Bits) => Bits): Lanes => [
    make(a![0], b![0]),
    make(a![1], b![1]),
  ];
  if (shape === 'v128') {
    if (name === 'andnot') return each((x, y) => node(64, '(bvand $0 (bvnot $1))', x, y));
    return each((x, y) => binary(BINARY[name]!, x, y));
  }
  const multiplied = /^extmul_(low|high)_i32x4_u$/.exec(name);
  if (multiplied) {
    const from = multiplied[1] === 'low' ? 0 : 2;
    const [x, y] = [parts(a!), parts(b!)];
    const wide = (i: number) => binary('bvmul', zeroExtend(64, x[i]!), zeroExtend(64, y[i]!));
    return [wide(from), wide(from + 1)];
  }
  if (shape === 'i32x4') {
    const limit = { min_u: 'bvult', max_u: 'bvugt' }[name];
    const make = (x: Bits, y: Bits) =>
      limit ? compare(limit, x, y, x, y) : binary(BINARY[name]!, x, y);
    if (!limit && !/^(add|sub|mul)$/.test(name)) return undefined;
    return joined(parts(a!).map((x, i) => make(x, parts(b!)[i]!)));
  }
  if (shape !== 'i64x2') return undefined;
  if (/^(add|sub|mul)$/.test(name)) return each((x, y) => binary(BINARY[name]!, x, y));
  const test = COMPARED[name];
  if (test === undefined) return undefined;
  return each((x, y) => compare(test, x, y, constant(64, -1), constant(64, 0)));
}

interface Label {
  readonly height: number;
  readonly target: number;
  readonly isLoop: boolean;
}

/** Runs a function. */
export class Run {
  readonly module: Module;
  readonly #memory: Uint8Array;
  readonly #locals: Value[];
  readonly #stack: Value[] = [];
  readonly #labels: Label[] = [];
  #at = 0;
  /** Sees the locals each time the body of a loop begins. */
  readonly onLoop: ((locals: Value[]) => void) | undefined;
  readonly results: Value[];

  constructor(module: Module, index: number, args: readonly Value[], onLoop?: Run['onLoop']) {
    this.module = module;
    this.onLoop = onLoop;
    this.#memory = new Uint8Array(module.pages * 65536);
    for (const { at, bytes } of module.data) this.#memory.set(bytes, at);
    const { locals, code } = module.bodies[index]!;
    const zero = (type: number): Value => {
      const none = constant(type === I32 ? 32 : 64, 0);
      return type === V128 ? [none, none] : none;
    };
    this.#locals = [...args, ...locals.map(zero)];
    while (this.#at < code.length) this.#step(code[this.#at++]!);
    const count = module.types[module.functions[index]!]!.results.length;
    this.results = this.#stack.slice(-count);
  }

  #bits(): Bits {
    const value = this.#stack.pop();
    if (value === undefined || isLanes(value)) throw new Error('a number is missing');
    return value;
  }

  #lanes(): Lanes {
    const value = this.#stack.pop();
    if (value === undefined || !isLanes(value)) throw new Error('a vector is missing');
    return value;
  }

  #known(what: string): bigint {
    const { value, format } = this.#bits();
    if (value === undefined) throw new Error(`${what} depends on an input: ${format}`);
    return value;
  }

  #branch(depth: number): void {
    const place = this.#labels.length - 1 - depth;
    const label = this.#labels[place];
    if (label === undefined) {
      this.#at = Number.POSITIVE_INFINITY;
      return;
    }
    this.#stack.length = label.height;
    this.#labels.length = label.isLoop ? place + 1 : place;
    this.#at = label.target;
    if (label.isLoop) this.onLoop?.(this.#locals);
  }

  #step(instruction: Instruction): void {
    const { op, index, end } = instruction;
    const height = this.#stack.length;
    if (op === 'loop') {
      this.#labels.push({ height, target: this.#at, isLoop: true });
      this.onLoop?.(this.#locals);
    } else if (op === 'block' || (op === 'if' && this.#known('a branch') !== 0n)) {
      this.#labels.push({ height: this.#stack.length, target: end! + 1, isLoop: false });
    } else if (op === 'if') this.#at = end! + 1;
    else if (op === 'end') this.#labels.pop();
    else if (op === 'br') this.#branch(index!);
    else if (op === 'br_if') {
      if (this.#known('a branch') !== 0n) this.#branch(index!);
    } else if (op === 'return') this.#at = Number.POSITIVE_INFINITY;
    else if (op === 'local.get') this.#stack.push(this.#locals[index!]!);
    else if (op === 'local.set') this.#locals[index!] = this.#stack.pop()!;
    else if (op === 'local.tee') this.#locals[index!] = this.#stack.at(-1)!;
    else if (op === 'call') {
      const { parameters } = this.module.types[this.module.functions[index!]!]!;
      const args = this.#stack.splice(-parameters.length, parameters.length);
      this.#stack.push(...new Run(this.module, index!, args).results);
    } else this.#stack.push(this.#operate(instruction));
  }

  #operate(instruction: Instruction): Value {
    const { op, value, halves } = instruction;
    const [type, name] = op.split('.') as [string, string];
    if (value !== undefined) return constant(type === 'i32' ? 32 : 64, value);
    if (halves) return [constant(64, halves[0]), constant(64, halves[1])];
    if (name.startsWith('load')) return this.#load(instruction);
    if (type === 'i32' || type === 'i64') return this.#scalar(type === 'i32' ? 32 : 64, name);
    return this.#vector(instruction, type, name);
  }

  #load({ op, offset }: Instruction): Value {
    const at = Number(this.#known('an address')) + offset!;
    const word = (from: number, bytes: number) => {
      const all = this.#memory.subarray(from, from + bytes);
      return constant(
        8 * bytes,
        all.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n),
      );
    };
    const known = this.module.data.some(
      (one) => at >= one.at - 16 && at < one.at + one.bytes.length,
    );
    if (!known) throw new Error(`a load of what may change, at ${at}`);
    if (op === 'v128.load64_splat') return [word(at, 8), word(at, 8)];
    if (op === 'v128.load') return [word(at, 8), word(at + 8, 8)];
    throw new Error(`${op} is unknown`);
  }

  #scalar(width: number, name: string): Bits {
    const [one, none] = [constant(32, 1), constant(32, 0)];
    if (name === 'wrap_i64') return extract(this.#bits(), 0, 32);
    if (name === 'extend_i32_u') return zeroExtend(64, this.#bits());
    if (name === 'extend_i32_s') return node(64, '((_ sign_extend 32) $0)', this.#bits());
    if (name === 'clz') return leadingZeros(this.#bits());
    if (name === 'eqz') return compare('=', this.#bits(), constant(width, 0), one, none);
    const [b, a] = [this.#bits(), this.#bits()];
    if (BINARY[name]) return binary(BINARY[name], a, b);
    if (SHIFTS[name]) return shift(SHIFTS[name], a, b);
    if (COMPARED[name]) return compare(COMPARED[name], a, b, one, none);
    throw new Error(`${name} is unknown`);
  }

  #vector({ op, lane, map }: Instruction, shape: string, name: string): Value {
    if (name === 'splat' && shape === 'i64x2') {
      const bits = this.#bits();
      return [bits, bits];
    }
    if (name === 'extract_lane') {
      const lanes = this.#lanes();
      return shape === 'i64x2' ? lanes[lane!]! : parts(lanes)[lane!]!;
    }
    if (name === 'replace_lane' && shape === 'i64x2') {
      const bits = this.#bits();
      const [low, high] = this.#lanes();
      return lane === 0 ? [bits, high] : [low, bits];
    }
    if (SHIFTS[name] && shape === 'i64x2') {
      const count = this.#bits();
      const [low, high] = this.#lanes();
      return [shift(SHIFTS[name], low, count), shift(SHIFTS[name], high, count)];
    }
    const [b, a] = [this.#lanes(), this.#lanes()];
    if (name === 'shuffle') {
      const words = [...parts(a), ...parts(b)];
      const isWhole = map!.every((from, i) => from === map![i & ~3]! + (i & 3));
      if (!isWhole || map!.some((from, i) => i % 4 === 0 && from % 4 !== 0)) {
        throw new Error('a shuffle of bytes');
      }
      return joined([0, 4, 8, 12].map((i) => words[map![i]! / 4]!));
    }
    const result = vector(op, [a, b]);
    if (result === undefined) throw new Error(`${op} is unknown`);
    return result;
  }
}

/** Writes formulas, each node once, numbered in order, so that equal claims are equal texts. */
export class Formulas {
  readonly lines: string[] = [];
  readonly #names = new Map<Bits, string>();

  /** Declares an unknown; in place of a node, if one is given. */
  declare(width: number, name: string, instead?: Bits): string {
    this.lines.push(`(declare-const ${name} (_ BitVec ${width}))`);
    if (instead) this.#names.set(instead, name);
    return name;
  }

  of(bits: Bits): string {
    const known = this.#names.get(bits);
    if (known !== undefined) return known;
    if (bits.args.length === 0) return bits.format;
    const args = bits.args.map((arg) => this.of(arg));
    const text = bits.format.replaceAll(/\$(\d)/g, (_, i) => args[Number(i)]!);
    const name = `t${this.#names.size}`;
    this.#names.set(bits, name);
    this.lines.push(`(define-fun ${name} () (_ BitVec ${bits.width}) ${text})`);
    return name;
  }
}

/** All nodes below one, each once. */
export function nodesOf(bits: Bits, found = new Set<Bits>()): Set<Bits> {
  if (found.has(bits)) return found;
  found.add(bits);
  for (const arg of bits.args) nodesOf(arg, found);
  return found;
}

/** A statement: z3 is to find no counterexample. */
export interface Claim {
  readonly name: string;
  readonly lines: readonly string[];
}

const NAME = 'assembly/falcon/realInteger/';

export function functionOf(module: Module, name: string): number {
  const found = [...module.names].filter(([, full]) => full === NAME + name);
  if (found.length !== 1) throw new Error(`${found.length} functions are called ${name}`);
  return found[0]![0];
}

/** What a function makes of unknowns. */
export const resultOf = (module: Module, name: string, ...args: Value[]): Value =>
  new Run(module, functionOf(module, name), args).results[0]!;

export const pairOf = (name: string): [Bits, Bits] => [
  unknown(64, `${name}0`),
  unknown(64, `${name}1`),
];

/** Definitions for an operand: sign, exponent field, mantissa of 53 bits, and its range. */
export const definitions = (x: string): string[] => [
  `(define-fun s_${x} () (_ BitVec 1) ((_ extract 63 63) ${x}))`,
  `(define-fun e_${x} () (_ BitVec 11) ((_ extract 62 52) ${x}))`,
  `(define-fun m_${x} () (_ BitVec 53) (concat #b1 ((_ extract 51 0) ${x})))`,
  `(define-fun zero_${x} () Bool (= ((_ extract 62 0) ${x}) ${literal(0, 63)}))`,
  `(define-fun normal_${x} () Bool (and (bvuge e_${x} ${literal(123, 11)})
    (bvule e_${x} ${literal(1923, 11)})))`,
];

export const wide = (bits: number, width: number, text: string) =>
  `((_ zero_extend ${bits - width}) ${text})`;
export const asDouble = (pattern: string) => `((_ to_fp 11 53) ${pattern})`;
/** 2^52 times an exponent of 11 bits, plus a constant. */
export const exponent = (e: string, plus: number) =>
  `(bvshl (bvadd ${wide(64, 11, e)} ${literal(plus, 64)}) ${literal(52, 64)})`;
/**
 * That the magnitude of r is `integer` 2^k, rounded by the theory of floating point; `power` is k,
 * times 2^52.
 */
export const isRounded = (integer: string, power: string) =>
  `(= ${asDouble(`(bvsub (bvand r ${literal((1n << 63n) - 1n, 64)}) ${power})`)}
    ((_ to_fp_unsigned 11 53) RNE ${integer}))`;

export const claimOf = (name: string, formulas: Formulas, ...more: string[]): Claim => ({
  name,
  lines: [...formulas.lines, ...more],
});
export const assertions = (...texts: string[]) => texts.map((text) => `(assert ${text})`);
export const denial = (claim: string) => `(assert (not ${claim}))`;

/** A result named r, of operands that are named x and y, and with some nodes left unknown. */
export function formulasOf(
  result: Bits,
  operands: Record<string, Bits>,
  open: Record<string, Bits> = {},
): Formulas {
  const formulas = new Formulas();
  for (const [name, node] of Object.entries({ ...operands, ...open })) {
    formulas.declare(64, name, node);
    if (Object.hasOwn(operands, name)) formulas.lines.push(...definitions(name));
  }
  const r = formulas.of(result);
  formulas.lines.push(`(define-fun r () (_ BitVec ${result.width}) ${r})`);
  return formulas;
}

/** Whether a node is this operation, with a known second argument if one is given. */
export const isOf = ({ format, args }: Bits, operation: string, second?: number): boolean =>
  format === `(${operation} $0 $1)` && (second === undefined || args[1]!.value === BigInt(second));
