/**
 * Does the time of an operation on reals depend on its operands? Medians over many calls, by class
 * of operands, on both builds. The control is division by subnormal numbers in the f64 build.
 *
 * Does the time of signing distinguish keys? Welch's t-test between one fixed key and many, as in
 * dudect: calls of both classes in random order, without the slowest tenth (interruptions); |t|
 * above 10 counts as a difference.
 *
 * A large |t| shows a leak; a small one only shows that this test found none, on this engine and
 * machine. The control shows that the test can find one: the same calls, followed by a loop whose
 * length depends on the key.
 */
import { type ExpandedSecretKey, falcon512, falcon1024 } from '../src/falcon/index.ts';
import * as integer from '../src/falcon/integer.ts';
import { compileEntry } from '../test/support/assembly.ts';
import { testRandom } from '../test/support/random.ts';
import type { BenchOptions } from './main.ts';
import { machine } from './support/machine.ts';

const KEYS = 32;
const SUSPICIOUS = 10;

interface Operation {
  name: string;
  /** Signs with key `key`. */
  operate: (key: number, message: Uint8Array) => unknown;
  /** Whether a difference is expected. */
  control: boolean;
}

export async function run({ quick }: BenchOptions): Promise<void> {
  const operands = await byOperands(quick ? 60 : 600);
  const results = [];
  for (const falcon of [falcon512, falcon1024, integer.falcon512, integer.falcon1024]) {
    const build = falcon.module === 'integer' ? 'integer ' : '';
    const random = testRandom(`timing ${falcon.name}`);
    // Many copies of one key, then as many different keys: a single copy would stay in the
    // processor's cache, and the test would detect that.
    const fixed = falcon.keygen(random.bytes(48));
    const keys = [
      ...Array.from({ length: KEYS }, () => ({ secretKey: fixed.secretKey.slice() })),
      ...Array.from({ length: KEYS }, () => falcon.keygen(random.bytes(48))),
    ];
    const expanded: ExpandedSecretKey[] = keys.map(({ secretKey }) =>
      falcon.expandSecretKey(secretKey),
    );
    // A loop whose length is a byte of f: a few tenths of a per cent of the signing time.
    const leak = (key: number): number => {
      let sum = key;
      const length = (build === '' ? 64 : 512) * keys[key]!.secretKey[9]!;
      for (let i = 0; i < length; i++) sum = (sum * 31 + i) | 0;
      return sum;
    };
    const operations: Operation[] = [
      {
        name: 'sign',
        operate: (key, message) => falcon.sign(message, keys[key]!.secretKey),
        control: false,
      },
      {
        name: 'sign expanded',
        operate: (key, message) => falcon.sign(message, expanded[key]!),
        control: false,
      },
      {
        name: 'sign expanded, leaking on purpose',
        operate: (key, message) => [falcon.sign(message, expanded[key]!), leak(key)],
        control: true,
      },
    ];
    for (const { name, operate, control } of operations) {
      const t = welch(operate, quick ? 4_000 : 40_000, random.below);
      const differs = Math.abs(t) > SUSPICIOUS;
      const verdict = control
        ? differs
          ? 'the control is found'
          : 'the control is NOT found: this run says nothing'
        : differs
          ? 'DIFFERS between keys'
          : 'no difference found';
      console.log(
        `${falcon.name} ${(build + name).padEnd(42)} t = ${t.toFixed(2).padStart(8)}   ${verdict}`,
      );
      results.push({ set: falcon.name, operation: build + name, t: Number(t.toFixed(2)), verdict });
    }
    for (const key of expanded) key.destroy();
  }
  console.log(JSON.stringify({ bench: 'timing', quick, machine: machine(), operands, results }));
}

const PAIRS = 4096;
/** Numbers of the operations in assembly/test/real.ts. */
const OPERATIONS = {
  ...{ inverse: 0, sqrt: 1, trunc: 2, nearest: 3, fromI32: 6, toI32: 7, floor: 8, times55: 9 },
  ...{ add: 10, sub: 11, mul: 12, scale: 13, min: 14, max: 15, less: 16, floorPlus: 17 },
};
const CLASSES: Readonly<Record<string, (x: number, below: (bound: number) => number) => number[]>> =
  {
    random: (x, below) => [x, 0.5 + below(2 ** 31) / 2 ** 31],
    zeros: () => [0, 0],
    cancelling: (x) => [x, -x],
    'powers of two': (_, below) => [2 ** below(30), 2 ** below(30)],
    'far apart': (x) => [x, x * 2 ** -90],
    'full mantissas': () => [2 - 2 ** -52, 2 - 2 ** -52],
    large: (x, below) => [x * 2 ** (20 + below(10)), x * 2 ** 25],
    subnormal: (x) => [x * 2 ** -1040, x * 2 ** -1040],
  };

/** Nanoseconds for a pair of numbers, by build, operation and class: the median of the rounds. */
async function byOperands(rounds: number) {
  const random = testRandom('operands');
  const lists = Object.entries(CLASSES).map(([name, make]) => {
    const pairs = Array.from({ length: 2 * PAIRS }, () =>
      make(1 + random.below(2 ** 31) / 2 ** 31, random.below),
    );
    return { name, a: pairs.map(([a]) => a!), b: pairs.map(([, b]) => b!) };
  });
  const rows = [];
  for (const module of ['plain', 'integer'] as const) {
    const { exports, at } = await compileEntry('real', module);
    const region = (name: string) => new Float64Array(exports.memory.buffer, at(name), 2 * PAIRS);
    for (const [operation, number] of Object.entries(OPERATIONS)) {
      // subnormal numbers are outside the range of the other build
      const classes = lists
        .filter(({ name }) => name !== 'subnormal' || module === 'plain')
        .map((list) => ({ ...list, times: [] as number[] }));
      for (let round = -20; round < rounds; round++) {
        for (let i = 0; i < classes.length; i++) {
          const { a, b, times } = classes[(i + random.below(classes.length)) % classes.length]!;
          region('A').set(a);
          region('B').set(b);
          const start = performance.now();
          exports.apply!(number, PAIRS);
          if (round >= 0) times.push((1e6 * (performance.now() - start)) / PAIRS);
        }
      }
      const median = (times: number[]) =>
        times.toSorted((x, y) => x - y)[times.length >> 1] ?? Number.NaN;
      const figures = Object.fromEntries(
        classes.map(({ name, times }) => [name, Number(median(times).toFixed(3))]),
      );
      const all = Object.values(figures);
      const spread = Number((Math.max(...all) / Math.min(...all) - 1).toFixed(4));
      const list = Object.entries(figures).map(([name, ns]) => `${name} ${ns}`);
      console.log(
        `${module.padEnd(8)} ${operation.padEnd(8)} ${(100 * spread).toFixed(1)} % apart:`,
      );
      console.log(`  ${list.join(', ')} ns`);
      rows.push({ module, operation, spread, figures });
    }
  }
  const { subnormal, random: usual } = rows[0]!.figures; // of the division in the f64 build
  console.log(
    `${(subnormal! / usual!).toFixed(2)} times the time for division by subnormal numbers:`,
  );
  console.log(
    `  the control is ${subnormal! > 1.2 * usual! ? 'found' : 'NOT found: this run says nothing'}`,
  );
  return rows;
}

/** The t value of the times with the fixed key against those with the others. */
function welch(
  operate: Operation['operate'],
  samples: number,
  below: (bound: number) => number,
): number {
  const times: [number[], number[]] = [[], []];
  const message = new Uint8Array(32);
  for (let i = -samples / 10; i < samples; i++) {
    const isFixed = below(2) === 0;
    const key = below(KEYS) + (isFixed ? 0 : KEYS);
    new DataView(message.buffer).setInt32(0, i);
    const start = performance.now();
    operate(key, message);
    const time = performance.now() - start;
    if (i >= 0) times[isFixed ? 0 : 1].push(time);
  }
  // The same limit for both classes, or cutting would itself create or hide a difference.
  const limit = times.flat().toSorted((a, b) => a - b)[Math.floor(0.9 * samples)]!;
  const [a, b] = times.map((list) => moments(list.filter((time) => time <= limit)));
  return (a!.mean - b!.mean) / Math.sqrt(a!.variance / a!.count + b!.variance / b!.count);
}

function moments(values: readonly number[]): { mean: number; variance: number; count: number } {
  const count = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / count;
  const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (count - 1);
  return { mean, variance, count };
}
