import { createHash } from 'node:crypto';
import { shake256 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import { roundConstants } from '../../scripts/generate/keccak.ts';
import { BOTH_MODULES, compileEntry } from '../support/assembly.ts';
import { testRandom } from '../support/random.ts';

/** For each of the two words and each lane of a block's vectors an input whose point meets it. */
const EDGES: Record<number, Uint8Array[]> = {
  9: inputsWith([61444, 61445], 512),
  10: inputsWith([61444, 61445], 1024),
};

test('round constants as FIPS 202 lists them', () => {
  const constants = roundConstants();
  expect(constants).toHaveLength(24);
  expect(constants[0]).toBe(1n);
  expect(constants[1]).toBe(0x8082n);
  expect(constants[23]).toBe(0x8000000080008008n);
});

describe.each(BOTH_MODULES)('SHAKE256, %s module', async (module) => {
  const { exports, at } = await compileEntry('keccak', module);
  const memory = new Uint8Array(exports.memory.buffer);
  const [STATE, STATES, A, B, OUT_A, OUT_B] = [
    'STATE',
    'STATES',
    'INPUT_A',
    'INPUT_B',
    'OUT_A',
    'OUT_B',
  ].map(at) as [number, number, number, number, number, number];
  const random = testRandom('keccak');

  test('every input length up to five blocks, in pieces, against two other implementations', () => {
    for (let length = 0; length <= 700; length++) {
      const input = random.bytes(length);
      const cut = length === 0 ? 0 : random.bytes(1)[0]! % (length + 1);
      const outCut = 1 + (random.bytes(1)[0]! % 200);
      memory.set(input, A);
      exports.shakeInit!(STATE);
      exports.shakeAbsorb!(STATE, A, cut);
      exports.shakeAbsorb!(STATE, A + cut, length - cut);
      exports.shakeFlip!(STATE);
      exports.shakeSqueeze!(STATE, OUT_A, outCut);
      exports.shakeSqueeze!(STATE, OUT_A + outCut, 400 - outCut);
      const got = Buffer.from(memory.subarray(OUT_A, OUT_A + 400)).toString('hex');
      const node = createHash('shake256', { outputLength: 400 }).update(input).digest('hex');
      expect(got).toBe(node);
      if (length % 50 === 0) {
        expect(got).toBe(Buffer.from(shake256(input, { dkLen: 400 })).toString('hex'));
      }
    }
  });

  test('absorbed byte by byte', () => {
    const input = random.bytes(300);
    memory.set(input, A);
    exports.shakeInit!(STATE);
    for (let i = 0; i < 300; i++) exports.shakeAbsorb!(STATE, A + i, 1);
    exports.shakeFlip!(STATE);
    for (let i = 0; i < 300; i++) exports.shakeSqueeze!(STATE, OUT_A + i, 1);
    expect(Buffer.from(memory.subarray(OUT_A, OUT_A + 300))).toEqual(
      Buffer.from(shake256(input, { dkLen: 300 })),
    );
  });

  test('two states at once are two states', () => {
    const a = random.bytes(200);
    const b = random.bytes(200);
    for (let round = 0; round < 20; round++) {
      for (let lane = 0; lane < 25; lane++) {
        memory.set(a.subarray(8 * lane, 8 * lane + 8), STATES + 16 * lane);
        memory.set(b.subarray(8 * lane, 8 * lane + 8), STATES + 16 * lane + 8);
      }
      exports.keccakF2!(STATES);
      for (const state of [a, b]) {
        memory.set(state, STATE);
        exports.keccakF!(STATE);
        state.set(memory.subarray(STATE, STATE + 200));
      }
      for (let lane = 0; lane < 25; lane++) {
        const at = STATES + 16 * lane;
        expect(memory.slice(at, at + 8)).toEqual(a.slice(8 * lane, 8 * lane + 8));
        expect(memory.slice(at + 8, at + 16)).toEqual(b.slice(8 * lane, 8 * lane + 8));
      }
    }
  });

  test('points: one and two at a time, all combinations of block counts, against the definition', () => {
    const lengths = [40, 72, 134, 135, 136, 137, 271, 272, 273, 1000, 4136];
    for (const logn of [9, 10]) {
      const n = 1 << logn;
      for (const lengthA of lengths) {
        for (const lengthB of lengths) {
          const inputA = random.bytes(lengthA);
          const inputB = random.bytes(lengthB);
          memory.set(inputA, A);
          memory.set(inputB, B);
          memory.fill(0xff, A + lengthA, A + 4600);
          const blocksA = exports.padInput!(A, lengthA);
          const blocksB = exports.padInput!(B, lengthB);
          exports.squeezeTwoPoints!(OUT_A, OUT_B, STATES, A, blocksA, B, blocksB, logn);
          const twoA = new Int16Array(exports.memory.buffer, OUT_A, n).slice();
          const twoB = new Int16Array(exports.memory.buffer, OUT_B, n).slice();
          for (const [input, two] of [
            [inputA, twoA],
            [inputB, twoB],
          ] as const) {
            const want = point(input, n);
            expect(two.every((x, i) => x + 32768 === want[i])).toBe(true);
            memory.set(input, A);
            exports.shakeInit!(STATE);
            exports.shakeAbsorb!(STATE, A, input.length);
            exports.shakeFlip!(STATE);
            exports.squeezePoint!(OUT_A, STATE, logn);
            const one = new Int16Array(exports.memory.buffer, OUT_A, n);
            expect(one.every((x, i) => x + 32768 === want[i])).toBe(true);
          }
        }
      }
    }
  });

  test.each([9, 10])('points, logn %i: the largest word taken and the first refused', (logn) => {
    const n = 1 << logn;
    const long = random.bytes(6000);
    const inputs = EDGES[logn]!;
    expect(inputs).toHaveLength(16);
    for (const [i, input] of inputs.entries()) {
      const want = point(input, n);
      const check = (at: number) => {
        const got = new Int16Array(exports.memory.buffer, at, n);
        expect(got.findIndex((x, j) => x + 32768 !== want[j])).toBe(-1);
      };
      memory.set(input, A);
      exports.shakeInit!(STATE);
      exports.shakeAbsorb!(STATE, A, input.length);
      exports.shakeFlip!(STATE);
      exports.squeezePoint!(OUT_A, STATE, logn);
      check(OUT_A);
      // either of two, beside one as short, and beside one that still absorbs
      for (const other of [inputs[(i + 1) % 16]!, long]) {
        for (const [a, b, out] of [
          [input, other, OUT_A],
          [other, input, OUT_B],
        ] as const) {
          memory.set(a, A);
          memory.set(b, B);
          const blocksA = exports.padInput!(A, a.length);
          const blocksB = exports.padInput!(B, b.length);
          exports.squeezeTwoPoints!(OUT_A, OUT_B, STATES, A, blocksA, B, blocksB, logn);
          check(out);
        }
      }
    }
  });
});

/**
 * For each of the words and each of eight lanes, an input whose point has or passes over that word
 * there: vectors of eight words, beginning anew with each block of 68.
 */
function inputsWith(words: readonly number[], n: number): Uint8Array[] {
  const missing = new Set(
    words.flatMap((word) => Array.from({ length: 8 }, (_, i) => 8 * word + i)),
  );
  const found: Uint8Array[] = [];
  for (let number = 0; missing.size > 0; number++) {
    const input = new Uint8Array(40);
    new DataView(input.buffer).setUint32(0, number);
    const stream = createHash('shake256', { outputLength: 4096 }).update(input).digest();
    for (let i = 0, kept = 0; kept < n; i++) {
      const word = stream.readUInt16BE(2 * i);
      if (word < 61445) kept++;
      if (missing.delete(8 * word + ((i % 68) % 8))) found.push(input);
    }
  }
  return found;
}

/** The accepted words of SHAKE256(input), not yet reduced mod q. */
function point(input: Uint8Array, n: number): number[] {
  const stream = createHash('shake256', { outputLength: 4096 }).update(input).digest();
  const words: number[] = [];
  for (let i = 0; words.length < n; i += 2) {
    const word = stream.readUInt16BE(i);
    if (word < 61445) words.push(word);
  }
  return words;
}
