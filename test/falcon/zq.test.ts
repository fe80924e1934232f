import { describe, expect, test } from 'vitest';
import * as modular from '../../scripts/generate/modular.ts';
import {
  companionByLanes,
  FORWARD_REDUCES,
  forwardBounds,
  forwardTwiddle,
  inverseBounds,
  inverseTwiddle,
  Q,
  untwist,
} from '../../scripts/generate/nttPlan.ts';
import { BOTH_MODULES, compileEntry } from '../support/assembly.ts';

const { LANE_MAX } = modular;
const mod = (x: number) => ((x % Q) + Q) % Q;
/** All lane values, in runs that fit the test module's regions. */
const RUN = 65536;
const allLanes = Int16Array.from({ length: RUN }, (_, i) => i - 32768);

describe.each(BOTH_MODULES)('lanes mod q, %s module', async (module) => {
  const { exports, at } = await compileEntry('zq', module);
  const lanes = (region: string) => new Int16Array(exports.memory.buffer, at(region), RUN);

  test('reduce: all 65536 lanes are congruent and at most 12288', () => {
    lanes('A').set(allLanes);
    exports.reduce!(2 * RUN);
    const out = lanes('OUT');
    let worst = 0;
    for (let i = 0; i < RUN; i++) {
      if (mod(out[i]!) !== mod(allLanes[i]!)) throw new Error(`reduce(${allLanes[i]})`);
      worst = Math.max(worst, Math.abs(out[i]!));
    }
    expect(worst).toBeLessThanOrEqual(12288);
    expect(worst).toBeLessThanOrEqual(modular.reducedBound(32768, Q));
  });

  test('centre: all 65536 lanes', () => {
    lanes('A').set(allLanes);
    exports.centre!(2 * RUN);
    const wrong = lanes('OUT').findIndex((x, i) => x !== modular.centred(allLanes[i]!, Q));
    expect(wrong).toBe(-1);
  });

  test('companion: all 24577 values that it is for, as the plan computes it', () => {
    const ws = Array.from({ length: 24577 }, (_, i) => i - 12288);
    lanes('A').set(ws);
    exports.companion!(2 * RUN);
    const out = lanes('OUT');
    for (const [i, w] of ws.entries()) {
      if (out[i] !== companionByLanes(w)) throw new Error(`companion(${w}) = ${out[i]}`);
    }
  });

  test('mulmod by every twiddle: all 65536 lanes are congruent and within the bound', () => {
    const ws = new Set<number>();
    for (const logn of [9, 10]) {
      for (let i = 1; i < 1 << logn; i++) ws.add(forwardTwiddle(logn, i));
    }
    const sample = [...ws].filter((_, i) => i % 16 === 0);
    lanes('A').set(allLanes);
    for (const w of sample) {
      lanes('B').fill(w);
      lanes('C').fill(modular.companion(w, Q));
      exports.mulmod!(2 * RUN);
      const out = lanes('OUT');
      const bound = modular.productBound(32768, w, Q);
      const step = mod(w);
      let want = mod(-32768 * w);
      for (let a = 0; a < RUN; a++) {
        const got = out[a]!;
        if (Math.abs(got) > bound || mod(got) !== want) throw new Error(`${a - 32768} * ${w}`);
        want = want + step >= Q ? want + step - Q : want + step;
      }
    }
    expect(sample.length).toBeGreaterThan(60);
  });

  test('mulmod with a computed companion: extremes and a spread of both factors', () => {
    const a = [-32768, -32767, -32766, -12345, -1, 0, 1, 6144, 20000, 32604, 32767];
    for (const x of a) {
      const ws = Int16Array.from({ length: 24577 }, (_, i) => i - 12288);
      lanes('A').fill(x);
      lanes('B').set(ws);
      lanes('C').set(ws.map(companionByLanes));
      exports.mulmod!(2 * RUN);
      const out = lanes('OUT');
      for (const [i, w] of ws.entries()) {
        if (mod(out[i]!) !== mod(x * w) || Math.abs(out[i]!) > 13219) {
          throw new Error(`${x} * ${w} = ${out[i]}`);
        }
      }
    }
  });
});

describe('the plan of the transform', () => {
  test('its roots are what they should be', () => {
    expect(modular.powMod(7, 1024, Q)).toBe(Q - 1);
    for (const logn of [9, 10]) {
      expect(mod(forwardTwiddle(logn, 1) ** 2)).toBe(Q - 1); // X^n = -1 splits at a root of -1
      expect(mod(inverseTwiddle(logn, 1, 0))).toBe(1);
      expect(mod(untwist(logn, 0) * (1 << logn))).toBe(1);
    }
    for (let a = 1; a < Q; a += 97) expect((a * modular.inverseMod(a, Q)) % Q).toBe(1);
  });

  test.each([9, 10])('no lane overflows, logn %i', (logn) => {
    for (const bound of [2047, 6144]) {
      const bounds = forwardBounds(logn, bound);
      expect(bounds).toHaveLength(logn);
      expect(Math.max(...bounds)).toBeLessThanOrEqual(LANE_MAX);
    }
    // What ntt.ts promises: ntt gives at most 32604, products at most 13219, intt takes that and
    // gives at most 12288.
    expect(
      Math.max(forwardBounds(logn, 6144).at(-1)!, forwardBounds(logn, 2047).at(-1)!),
    ).toBeLessThanOrEqual(32604);
    let deviation = 0;
    let largest = 0;
    for (let w = -12288; w <= 12288; w++) {
      largest = Math.max(largest, Math.abs(companionByLanes(w)));
      deviation = Math.max(deviation, Math.abs(32768 * w - Q * companionByLanes(w)));
    }
    expect(Math.floor((LANE_MAX * deviation + Q * 16384) / 32768)).toBeLessThanOrEqual(13219);
    expect(largest).toBeLessThanOrEqual(LANE_MAX);
    const bounds = inverseBounds(logn, 13219);
    expect(Math.max(...bounds)).toBeLessThanOrEqual(LANE_MAX);
    expect(bounds.at(-1)).toBeLessThanOrEqual(12288);
  });

  test('the reductions are needed: without any one of them the bound breaks', () => {
    for (const logn of [9, 10]) {
      for (const level of FORWARD_REDUCES[logn]!) {
        const fewer = new Set(FORWARD_REDUCES[logn]);
        fewer.delete(level);
        expect(Math.max(...forwardBounds(logn, 6144, fewer))).toBeGreaterThan(LANE_MAX);
      }
    }
  });
});
