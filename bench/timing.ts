/**
 * Does the time of signing distinguish keys? Welch's t-test between one fixed key and many, as in
 * dudect: calls of both classes in random order, without the slowest tenth (interruptions); |t|
 * above 10 counts as a difference.
 *
 * A large |t| shows a leak; a small one only shows that this test found none, on this engine and
 * machine. The control shows that the test can find one: the same calls, followed by a loop whose
 * length depends on the key.
 */
import { type ExpandedSecretKey, falcon512, falcon1024 } from '../src/falcon/index.ts';
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
  const results = [];
  for (const falcon of [falcon512, falcon1024]) {
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
      for (let i = 0; i < 64 * keys[key]!.secretKey[9]!; i++) sum = (sum * 31 + i) | 0;
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
      console.log(`${falcon.name} ${name.padEnd(36)} t = ${t.toFixed(2).padStart(8)}   ${verdict}`);
      results.push({ set: falcon.name, operation: name, t: Number(t.toFixed(2)), verdict });
    }
    for (const key of expanded) key.destroy();
  }
  console.log(JSON.stringify({ bench: 'timing', quick, machine: machine(), results }));
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
