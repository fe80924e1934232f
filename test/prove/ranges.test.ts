/** Bounds of numbers that aren't known: of operations, and after branches. */
import { describe, expect, test } from 'vitest';
import type { Instruction, Module } from '../../scripts/prove/decode.ts';
import { Flow } from '../../scripts/prove/flow.ts';
import { bounded, narrow, within } from '../../scripts/prove/ranges.ts';
import {
  join,
  type Range,
  rangeOf,
  Unknown,
  type Value,
  World,
} from '../../scripts/prove/worlds.ts';

const WIDTH = 3;
const NUMBERS = [-4n, -3n, -2n, -1n, 0n, 1n, 2n, 3n];
const RANGES = NUMBERS.flatMap((low) =>
  NUMBERS.filter((high) => high >= low).map((high) => [low, high] as const),
);
const unsigned = (value: bigint) => BigInt.asUintN(WIDTH, value);
const signed = (value: bigint) => BigInt.asIntN(WIDTH, value);
const membersOf = ([low, high]: Range) => NUMBERS.filter((one) => one >= low && one <= high);
const holds = (value: Value, number: bigint): boolean => {
  const range = rangeOf(value);
  return range === undefined || (number >= range[0] && number <= range[1]);
};

const OPERATIONS: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};
const SHIFTS: typeof OPERATIONS = {
  shl: (a, b) => a << b,
  shr_s: (a, b) => a >> b,
  shr_u: (a, b) => unsigned(a) >> b,
};
const COMPARISONS: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt_s: (a, b) => a < b,
  le_s: (a, b) => a <= b,
  gt_s: (a, b) => a > b,
  ge_s: (a, b) => a >= b,
  lt_u: (a, b) => unsigned(a) < unsigned(b),
  le_u: (a, b) => unsigned(a) <= unsigned(b),
  gt_u: (a, b) => unsigned(a) > unsigned(b),
  ge_u: (a, b) => unsigned(a) >= unsigned(b),
};

describe('numbers of three bits, within all bounds', () => {
  test.each(Object.entries({ ...OPERATIONS, ...SHIFTS }))('%s', (name, operate) => {
    const counts = RANGES.filter(([low, high]) => low === high && low >= 0n && low < 3n);
    for (const a of RANGES) {
      for (const b of name in SHIFTS ? counts : RANGES) {
        const result = bounded(WIDTH, name, within(a), within(b));
        for (const x of membersOf(a)) {
          for (const y of membersOf(b)) {
            if (!holds(result, signed(operate(x, y)))) throw new Error(`${a} ${name} ${b}`);
          }
        }
      }
    }
    const small = bounded(32, name, new Unknown(0n, [1n, 2n]), 1n);
    if (name !== 'mul') expect(rangeOf(small)).toBeDefined();
  });

  test.each(Object.entries(COMPARISONS))('%s, and what a branch on it says', (name, compare) => {
    for (const a of RANGES) {
      for (const b of RANGES) {
        const values = [within(a), within(b)];
        const one = bounded(WIDTH, name, ...(values as [Value, Value]));
        for (const condition of [one, bounded(WIDTH, 'eqz', bounded(WIDTH, 'eqz', one))]) {
          const after = [true, false].map((taken) => {
            const list: Value[] = [...values];
            if (condition instanceof Unknown) narrow([list], condition, taken);
            return list;
          });
          for (const x of membersOf(a)) {
            for (const y of membersOf(b)) {
              const result = compare(x, y);
              const [left, right] = after[result ? 0 : 1]!;
              const isRight =
                holds(condition, result ? 1n : 0n) && holds(left!, x) && holds(right!, y);
              if (!isRight) throw new Error(`${a} ${name} ${b}: ${x}, ${y}`);
            }
          }
        }
      }
    }
  });

  test('joined ones', () => {
    for (const a of RANGES) {
      for (const b of RANGES) {
        const joined = join(within(a), within(b));
        expect([...membersOf(a), ...membersOf(b)].every((one) => holds(joined, one))).toBe(true);
      }
    }
  });
});

describe('a store to an address that is not known', () => {
  type Code = Omit<Instruction, 'at'>[];
  /** The cells that the first of some functions may have written; it begins in memory that is 0. */
  function writtenBy(code: Code, other: Code = [], arity: [number, number] = [0, 0]): number[] {
    const bodies = [code, other].map((one) => ({
      locals: [0x7f, 0x7f],
      code: [...one, { op: 'end' }].map((instruction, at) => ({ ...instruction, at })),
    }));
    const [parameters, results] = arity.map((length) => Array(length).fill(0x7f));
    const types = [
      { parameters: [], results: [] },
      { parameters, results },
    ];
    const module = { types, functions: [0, 1], bodies, names: new Map() } as unknown as Module;
    const cells = new Uint16Array(1024).fill(0);
    cells.fill(257, 1000);
    const opened = new Map([[0, [[1000, 1002] as const]]]);
    const [, world] = new Flow(module, new Map(), opened).call(0, [], World.of([], cells));
    return world.load(0, 1000).flatMap((cell, at) => (cell === 0 ? [] : [at]));
  }
  const get = (index: number) => ({ op: 'local.get', index });
  const constant = (value: bigint) => ({ op: 'i32.const', value });
  const setFrom = (at: bigint, index: number) => [
    ...[constant(at), { op: 'i32.load8_u', offset: 0 }, { op: 'local.set', index }],
  ];
  const isBelowFour = (index: number, end: number) => [
    ...[get(index), constant(4n), { op: 'i32.lt_u' }, { op: 'if', results: 0, end }],
  ];
  const store = (index: number) => [get(index), constant(7n), { op: 'i32.store8', offset: 100 }];
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => 100 + i);

  const loads = [...setFrom(1000n, 0), ...setFrom(1001n, 1)];
  const end = { op: 'end' };

  test('goes wherever the branches on it leave', () => {
    const code = [...setFrom(1000n, 0), ...isBelowFour(0, 10), ...store(0), end];
    expect(writtenBy(code)).toEqual(numbers(4));
  });

  test('is not narrowed by a branch on another number', () => {
    const code = [...loads, ...isBelowFour(0, 13), ...store(1), end];
    expect(writtenBy(code)).toEqual(numbers(256));
  });

  test('is not narrowed by a branch on what was there before', () => {
    const code: Code = [...setFrom(1000n, 0), get(0), ...setFrom(1000n, 0)];
    code.push(constant(4n), { op: 'i32.lt_u' }, { op: 'if', results: 0, end: 13 });
    expect(writtenBy([...code, ...store(0), end])).toEqual(numbers(256));
  });

  test('is not narrowed by a branch on what is the same on another path', () => {
    const copy: Code = [constant(1000n), { op: 'i32.load8_u', offset: 0 }];
    copy.push({ op: 'if', results: 0, otherwise: 11, end: 13 });
    copy.push(get(1), { op: 'local.set', index: 0 }, { op: 'else', end: 13 }, { op: 'nop' }, end);
    const code = [...loads, ...copy, ...isBelowFour(0, 21), ...store(1), end];
    expect(writtenBy(code)).toEqual(numbers(256));
  });

  const long = Array(500).fill({ op: 'nop' });
  const call = { op: 'call', index: 1 };

  test('is not narrowed by what a long call was told of an earlier argument', () => {
    const isSmall = [get(0), constant(4n), { op: 'i32.lt_u' }];
    const callee = [...long, get(1), { op: 'if', results: 0, end: 505 }, ...store(0), end];
    // The second call begins where it ends, and so does the third, if it is taken for the same.
    const code = [0, 0, 1].flatMap((index) => [get(index), ...isSmall, call]);
    expect(writtenBy([...loads, ...code], callee, [2, 0])).toEqual(numbers(256));
  });

  test('is not narrowed by a branch on the result of an earlier call', () => {
    const calls = [0, 1].flatMap((index) => [get(index), call, { op: 'local.set', index }]);
    const code = [...loads, ...calls, ...isBelowFour(0, 19), ...store(1), end];
    expect(writtenBy(code, [...long, get(0)], [1, 1])).toEqual(numbers(256));
  });

  test('of secrets stops the run', () => {
    expect(() => writtenBy([...setFrom(1002n, 0), ...store(0)])).toThrow('depends on an input');
  });
});
