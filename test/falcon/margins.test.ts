/** What the transform mod q leaves free of 16 bits, computed from its text. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { companion } from '../../scripts/generate/modular.ts';
import { nttPassesSource, nttTablesSource } from '../../scripts/generate/ntt.ts';
import { forwardBounds, inverseBounds, Q } from '../../scripts/generate/nttPlan.ts';
import {
  functionOf,
  IntervalMachine,
  type Lanes,
  lanes,
  Overflow,
  product,
  scriptOf,
} from '../support/intervals.ts';

/** The rest of the transform: the level that only degree 1024 has. */
const source = readFileSync(new URL('../../assembly/shared/ntt.ts', import.meta.url), 'utf8');
const script = scriptOf(`${nttPassesSource()}\n${source}`);
const tables = [
  ...nttTablesSource().matchAll(/const (\w+): usize = memory\.data<i16>\(([^)]*)\)/g),
];
const DATA = 0;
const Q_LANES = 4096;
const TABLES = 8192;
const ONE = lanes(() => [1, 1]);
const COMPANION = lanes(() => [companion(1, Q), companion(1, Q)]);

/** The largest magnitudes in and behind a transform of values within a bound. */
function extentOf(text: string, name: string, logn: number, bound: number) {
  const machine = new IntervalMachine();
  const scope: Record<string, unknown> = {
    ...machine.instructions,
    Q_LANES,
    reduce: (a: Lanes, q: Lanes) => machine.checked(product(a, ONE, COMPANION, q)),
  };
  machine.putConstants(Q_LANES, new Array<number>(8).fill(Q));
  let at = TABLES;
  for (const [, table, list] of tables) {
    const values = /\[([^\]]*)\]/.exec(list!)![1]!.match(/-?\d+/g)!.map(Number);
    scope[table!] = at;
    machine.putConstants(at, values);
    at += 2 * values.length;
  }
  const n = 1 << logn;
  machine.put(
    DATA,
    Array.from({ length: n }, () => [-bound, bound]),
  );
  functionOf(text, name, scope)(DATA, logn);
  return { inside: machine.inside, result: machine.largest(DATA, n) };
}

/**
 * `inside` is the largest lane, 0.1 bits below 2^15; `result` the largest value, and `promised` the
 * bound that ntt.ts states.
 */
const TRANSFORMS = [
  { name: 'ntt', logn: 9, bound: 6144, inside: 30576, result: 30576, promised: 32604 },
  { name: 'ntt', logn: 10, bound: 6144, inside: 30576, result: 21607, promised: 32604 },
  { name: 'intt', logn: 9, bound: 13219, inside: 30319, result: 11532, promised: 12288 },
  { name: 'intt', logn: 10, bound: 13219, inside: 30319, result: 9993, promised: 12288 },
] as const;

test.each(TRANSFORMS)('$name, n = 2^$logn: no lane overflows', (transform) => {
  const { name, logn, bound, inside, result, promised } = transform;
  expect(extentOf(script, name, logn, bound)).toEqual({ inside, result });
  expect(result).toBeLessThanOrEqual(promised);
  // the plan takes one bound for a whole level
  const planned = name === 'ntt' ? forwardBounds(logn, bound) : inverseBounds(logn, bound);
  expect(inside).toBeLessThanOrEqual(Math.max(...planned));
  expect(result).toBeLessThanOrEqual(planned.at(-1)!);
});

test('without any one of its reductions some lane overflows', () => {
  const lines = script.split('\n');
  const end = lines.findIndex((line) => line.startsWith('function preparePoly('));
  const reductions = lines
    .slice(0, end)
    .flatMap((line, i) => (line.includes(' = reduce(') ? [i] : []));
  expect(reductions.length).toBeGreaterThan(40);
  const idle = reductions.filter((at) => {
    const without = lines.with(at, lines[at]!.replace(/reduce\((.*), q\)/, '$1')).join('\n');
    try {
      return TRANSFORMS.every(
        ({ name, logn, bound, promised }) =>
          extentOf(without, name, logn, bound).result <= promised,
      );
    } catch (error) {
      expect(error).toBeInstanceOf(Overflow);
      return false;
    }
  });
  expect(idle.map((at) => lines[at])).toEqual([]);
});
