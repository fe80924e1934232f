/**
 * The instructions on values of which it is known on what they depend. Integers are computed where
 * they are known; other results depend on whatever the operands do.
 */
import type { Instruction } from './decode.ts';
import { evaluate } from './evaluate.ts';
import type { State } from './flow.ts';
import { bounded, within } from './ranges.ts';
import {
  type Cells,
  cellsOf,
  isCells,
  isSecret,
  join,
  numberOf,
  plain,
  type Range,
  rangeOf,
  SECRET,
  SECRET_CELL,
  SEEN,
  SEEN_CELL,
  secretOf,
  Unknown,
  unknown,
  type Value,
} from './worlds.ts';

const pop = ({ stack }: State): Value => {
  const value = stack.pop();
  if (value === undefined) throw new Error('the stack is empty');
  return value;
};

export function popNumber(state: State): bigint | Unknown {
  const value = pop(state);
  if (isCells(value)) throw new Error('a vector instead of a number');
  return value;
}

function popCells(state: State): Cells {
  const value = pop(state);
  if (!isCells(value)) throw new Error('a number instead of a vector');
  return value;
}

/** A number that must be known. */
export function known(state: State, what: string): number {
  const value = popNumber(state);
  if (typeof value === 'bigint') return Number(BigInt.asUintN(32, value));
  throw new Error(`${what} ${isSecret(value) ? 'depends on an input' : 'is not known'}`);
}

/** A number that mustn't depend on secrets. */
function visible(state: State, what: string): bigint | Unknown {
  const value = popNumber(state);
  if (isSecret(value)) throw new Error(`${what} depends on an input`);
  return value;
}

/** The result of an operation that isn't computed. */
const mixed = (...args: readonly Value[]): Unknown => (args.some(isSecret) ? SECRET : SEEN);

const filled = (value: Unknown): Cells =>
  Array<number>(16).fill(value === SEEN ? SEEN_CELL : SECRET_CELL);

/** A result of which some bits are declared to be revealed. */
export function revealed(value: Value, mask: bigint): Value {
  if (isCells(value)) throw new Error('a vector is revealed');
  return typeof value === 'bigint' ? value : unknown(value.secret & ~mask);
}

/** A function of few strings, which are parsed again and again. */
function once<T>(parse: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const old = known.get(text);
    if (old !== undefined) return old;
    const value = parse(text);
    known.set(text, value);
    return value;
  };
}

const partsOf = once((op) => op.split('.') as [type: string, name: string]);
const lanesOf = once((op) => Number(/x(\d+)\./.exec(op)?.[1] ?? 1));

const TYPES: Readonly<Record<string, number>> = { i32: 32, i64: 64, f32: 32, f64: 64 };

/** @returns whether a number is shifted by a count that depends on secrets */
export function operate(state: State, instruction: Instruction): boolean {
  const { op, index, value } = instruction;
  const { stack, locals, world } = state;
  switch (op) {
    case 'nop':
      return false;
    case 'unreachable':
      throw new Error('unreachable');
    case 'drop':
      pop(state);
      return false;
    case 'local.get':
      stack.push(locals[index!]!);
      return false;
    case 'local.set':
      locals[index!] = pop(state);
      return false;
    case 'local.tee':
      locals[index!] = stack.at(-1)!;
      return false;
    case 'global.get':
      stack.push(world.globals[index!]!);
      return false;
    case 'global.set':
      world.globals[index!] = plain(pop(state));
      return false;
    case 'i32.const':
    case 'i64.const':
    case 'f64.const':
      stack.push(value!);
      return false;
    case 'select':
      stack.push(select(state));
      return false;
    case 'memory.copy':
    case 'memory.fill':
      bulk(state, op);
      return false;
    default: {
      const [type, name] = partsOf(op);
      const width = TYPES[type];
      if (access(state, instruction, width ?? 128, name)) return false;
      if (width !== undefined) return number(state, width, type.startsWith('i'), name);
      vector(state, instruction, name);
      return false;
    }
  }
}

function select(state: State): Value {
  const condition = popNumber(state);
  const [b, a] = [pop(state), pop(state)];
  if (typeof condition === 'bigint') return condition === 0n ? b : a;
  if (!isSecret(condition)) return join(a, b);
  if (isCells(a)) throw new Error('a select of vectors depends on an input');
  return SECRET;
}

function bulk(state: State, op: string): void {
  if (op === 'memory.copy') {
    const size = known(state, 'a length');
    const from = known(state, 'an address');
    const to = known(state, 'an address');
    state.world.store(to, state.world.load(from, size));
  } else {
    const size = limits(state, 'a length');
    const cells = cellsOf(popNumber(state), 1);
    const at = limits(state, 'an address');
    if (size.length + at.length > 2) state.world.blur(at[0], at.at(-1)! + size.at(-1)!, cells);
    else state.world.store(at[0], Array<number>(size[0]).fill(cells[0]!));
  }
}

/** A number that is known or whose bounds are: one or both of them. */
function limits(state: State, what: string): [least: number, most?: number] {
  const { stack } = state;
  const { range } = (stack.at(-1) ?? {}) as Partial<Unknown>;
  if (range === undefined || range[0] < 0n) return [known(state, what)];
  stack.pop();
  return [Number(range[0]), Number(range[1])];
}

/** What may be in memory at an address that is seen; what is anywhere may be a secret. */
function cellWithin({ world }: State, range: Range | undefined, offset: number, size: number) {
  if (range === undefined || range[0] < 0n) return SECRET_CELL;
  const [from, to] = [Number(range[0]) + offset, Number(range[1]) + offset + size];
  return world.isSecret(from, to) ? SECRET_CELL : SEEN_CELL;
}

/** Loads and stores. @returns whether it is one */
function access(state: State, { offset, lane }: Instruction, width: number, name: string): boolean {
  if (offset === undefined) return false;
  const { stack, world } = state;
  const [, kind, bits, rest] = /^(load|store)(\d*)(.*)$/.exec(name)!;
  const isVector = width === 128;
  const isLane = rest === '_lane';
  const size = rest!.startsWith('x') ? 8 : Number(bits || width) / 8;
  if (kind === 'store') {
    const value = pop(state);
    const cells = isLane ? (value as Cells).slice(lane! * size, lane! * size + size) : value;
    const [from, to] = limits(state, 'an address');
    if (to === undefined) world.store(from + offset, cellsOf(cells, size));
    else world.blur(from + offset, to + offset + size, cellsOf(cells, size));
    return true;
  }
  const old = isLane ? popCells(state) : [];
  const address = visible(state, 'an address');
  const cells =
    typeof address === 'bigint'
      ? world.load(Number(BigInt.asUintN(32, address)) + offset, size)
      : Array<number>(size).fill(cellWithin(state, address.range, offset, size));
  if (!isVector) {
    const signed = numberOf(cells);
    const isUnsigned = rest === '_u' && typeof signed === 'bigint';
    if (signed === SEEN && bits !== '') {
      const half = 1n << BigInt(8 * size - 1);
      stack.push(within(rest === '_u' ? [0n, 2n * half - 1n] : [-half, half - 1n]));
    } else stack.push(isUnsigned ? BigInt.asUintN(8 * size, signed) : signed);
  } else if (size === 16) stack.push(cells);
  else stack.push(filled(mixed(cells, old)));
  return true;
}

const SHIFTS = new Set(['shl', 'shr_s', 'shr_u', 'rotl', 'rotr']);
const DIVISIONS = new Set(['div_s', 'div_u', 'rem_s', 'rem_u']);
const UNARY = new RegExp(
  '^(abs|neg|not|sqrt|ceil|floor|trunc|nearest|popcnt|clz|ctz|eqz|any_true|all_true|bitmask' +
    '|wrap_.*|extend\\w*|extadd_.*|convert_.*|trunc_.*|reinterpret_.*|demote_.*|promote_.*)$',
);

function number(state: State, width: number, isInteger: boolean, name: string): boolean {
  const { stack } = state;
  if (SHIFTS.has(name)) {
    const count = popNumber(state);
    const value = popNumber(state);
    if (typeof count !== 'bigint') stack.push(mixed(value, count));
    else if (rangeOf(value) !== undefined && value instanceof Unknown) {
      stack.push(bounded(width, name, value, count));
    } else if (typeof value === 'bigint') stack.push(shifted(width, name, value, count));
    else stack.push(unknown(shifted(width, name, BigInt.asIntN(width, value.secret), count)));
    return isSecret(count);
  }
  const b = UNARY.test(name) ? undefined : popNumber(state);
  const a = popNumber(state);
  const args = b === undefined ? [a] : [a, b];
  if (DIVISIONS.has(name) && isInteger && args.some(isSecret)) {
    throw new Error(`${name} of an input`);
  }
  if (name.startsWith('reinterpret')) stack.push(plain(a));
  else if (isInteger && args.every((arg) => typeof arg === 'bigint')) {
    stack.push(computed(width, name, args as bigint[]));
  } else if (isInteger && !args.some(isSecret)) {
    stack.push(bounded(width, name, a, b));
  } else if (name === 'wrap_i64' && a instanceof Unknown) {
    stack.push(unknown(BigInt.asUintN(32, a.secret)));
  } else if (b !== undefined && /^(and|or|xor)$/.test(name)) {
    // Bits that are masked off don't count.
    const mask = name !== 'and' ? -1n : typeof a === 'bigint' ? a : typeof b === 'bigint' ? b : -1n;
    stack.push(unknown((secretOf(a) | secretOf(b)) & mask));
  } else stack.push(mixed(...args));
  return false;
}

function shifted(width: number, name: string, value: bigint, count: bigint): bigint {
  const bits = Number(BigInt.asUintN(64, count) % BigInt(width));
  if (name === 'shr_u') return BigInt.asIntN(width, BigInt.asUintN(width, value) >> BigInt(bits));
  if (name === 'rotr') return evaluate('rotl', width, [value], (width - bits) % width, width);
  return evaluate(name, width, [value], bits, width);
}

const SWAPPED: Readonly<Record<string, string>> = {
  ...{ gt_s: 'lt_s', ge_s: 'le_s', gt_u: 'lt_u', ge_u: 'le_u' },
};

/** The value of an operation on known integers, or that it is revealed. */
function computed(width: number, name: string, args: readonly bigint[]): bigint | Unknown {
  const [a, b] = args as [bigint, bigint];
  const swapped = SWAPPED[name];
  if (swapped !== undefined) return computed(width, swapped, [b, a]);
  if (/^(eq|ne|l[te]_[su])$/.test(name)) return -evaluate(name, width, args, 0, width);
  if (name === 'eqz') return a === 0n ? 1n : 0n;
  if (name === 'wrap_i64') return BigInt.asIntN(32, a);
  if (name === 'extend_i32_s') return a;
  if (name === 'extend_i32_u') return BigInt.asUintN(32, a);
  if (/^extend\d+_s$/.test(name)) return BigInt.asIntN(Number(/\d+/.exec(name)![0]), a);
  if (name.startsWith('trunc_')) return SEEN;
  if (DIVISIONS.has(name) && b === 0n) throw new Error('a division by zero');
  return evaluate(name, width, args, 0, width);
}

function vector(state: State, { op, lane, map, halves }: Instruction, name: string): void {
  const { stack } = state;
  const lanes = lanesOf(op);
  const size = 16 / lanes;
  if (name === 'const') {
    stack.push(halves!.flatMap((half) => cellsOf(half, 8)));
  } else if (name === 'splat') {
    const cells = cellsOf(popNumber(state), size);
    stack.push(Array.from({ length: lanes }, () => cells).flat());
  } else if (name.startsWith('extract_lane')) {
    const value = numberOf(popCells(state).slice(lane! * size, lane! * size + size));
    const isUnsigned = name.endsWith('_u') && typeof value === 'bigint';
    stack.push(isUnsigned ? BigInt.asUintN(8 * size, value) : value);
  } else if (name === 'replace_lane') {
    const cells = cellsOf(popNumber(state), size);
    stack.push(popCells(state).toSpliced(lane! * size, size, ...cells));
  } else if (name === 'shuffle') {
    const [right, left] = [popCells(state), popCells(state)];
    stack.push(map!.map((index) => [...left, ...right][index]!));
  } else if (/^sh[lr]/.test(name)) {
    const count = visible(state, 'a shift count');
    stack.push(filled(mixed(count, popCells(state))));
  } else {
    const count = UNARY.test(name) ? 1 : name === 'bitselect' ? 3 : 2;
    const result = mixed(...Array.from({ length: count }, () => popCells(state)));
    const isNumber = /^(any_true|all_true|bitmask)$/.test(name);
    const bits = name === 'bitmask' ? lanes : 1;
    if (isNumber) stack.push(result === SEEN ? within([0n, (1n << BigInt(bits)) - 1n]) : result);
    else stack.push(filled(result));
  }
}
