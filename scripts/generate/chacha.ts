/**
 * Writes ChaCha as straight-line code: four blocks at once, word w of all four in one vector.
 *
 *   assembly/falcon/chacha20.gen.ts     20 rounds; the generator of the sampler
 *   assembly/labrador/chacha8.gen.ts    8 rounds; the stream of challenges and keys
 */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;
const WORDS = Array.from({ length: 16 }, (_, i) => i);
type Quarter = readonly [number, number, number, number];

/** Quarter rounds of columns or diagonals, instruction by instruction, so that they overlap. */
function quarterRounds(quarters: readonly Quarter[]): string[] {
  const lines: string[] = [];
  const step = (f: (q: Quarter) => string) => {
    for (const quarter of quarters) lines.push(f(quarter));
  };
  const mix = (rotation: string) => {
    step(([a, b]) => `x${a} = i32x4.add(x${a}, x${b});`);
    step(([a, , , d]) => `x${d} = ${rotation}(v128.xor(x${d}, x${a}));`);
  };
  const fold = (bits: number) => {
    step(([, , c, d]) => `x${c} = i32x4.add(x${c}, x${d});`);
    step(([, b, c]) => `x${b} = rotate(v128.xor(x${b}, x${c}), ${bits});`);
  };
  mix('rotate16');
  fold(12);
  mix('rotate8');
  fold(7);
  return lines;
}

const indent = (lines: readonly string[], by: number) =>
  lines.map((line) => `${' '.repeat(by)}${line}`).join('\n');
const [COLUMNS, DIAGONALS] = [QUARTERS.slice(0, 4), QUARTERS.slice(4)];

/**
 * The reference's layout: word w of block b at out + 32 w + 4 b; the counter is XORed into the last
 * two words.
 */
export function chacha20Source(): string {
  const start = (w: number) => {
    if (w < 4) return `let x${w} = v128.load32_splat(CONSTANTS, ${4 * w});`;
    if (w < 14) return `let x${w} = v128.load32_splat(key, ${4 * (w - 4)});`;
    return `let x${w} = ${w === 14 ? 'low' : 'high'};`;
  };
  const end = (w: number) => {
    if (w < 4) return `v128.load32_splat(CONSTANTS, ${4 * w})`;
    if (w < 14) return `v128.load32_splat(key, ${4 * (w - 4)})`;
    return w === 14 ? 'low' : 'high';
  };
  return `import { evens, odds } from '../shared/lanes';
import { rotate, rotate16, rotate8 } from '../shared/rotate';

const CONSTANTS: usize = memory.data<u32>([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574], 16);
const COUNTERS: usize = memory.data<u64>([0, 1, 2, 3], 16);

/**
 * Four blocks from the counter on, which moves on by four.
 *
 * Spec:   RFC 8439, section 2.3, with 64 bits of counter; round-3 reference, prng_refill
 * Shape:  key: u32[12] (key and nonce), u64 (counter) -> word w of block b at out + 32 w + 4 b
 * Memory: key, out
 * Secret: key
 */
export function chacha20(out: usize, key: usize): void {
  const counter = v128.load64_splat(key, 48);
  const near = i64x2.add(counter, v128.load(COUNTERS));
  const far = i64x2.add(counter, v128.load(COUNTERS, 16));
  const low = v128.xor(evens(near, far), v128.load32_splat(key, 40));
  const high = v128.xor(odds(near, far), v128.load32_splat(key, 44));
  store<u64>(key, load<u64>(key, 48) + 4, 48);
${indent(WORDS.map(start), 2)}
  for (let round = 0; round < 10; round++) {
${indent([...quarterRounds(COLUMNS), ...quarterRounds(DIAGONALS)], 4)}
  }
${indent(
  WORDS.map((w) => `v128.store(out, i32x4.add(x${w}, ${end(w)}), ${32 * w});`),
  2,
)}
}
`;
}

/** Adds the state to the words of four blocks, transposes them, and stores the blocks. */
function transposedStores(): string[] {
  return [0, 4, 8, 12].flatMap((w) => {
    const [a, b, c, d] = [w, w + 1, w + 2, w + 3].map((i) => `x${i}`);
    const block = (i: number, half: string, from: string, to: string) =>
      `v128.store(out, i32x4.add(row, ${half}Halves(${from}, ${to})), ${64 * i + 4 * w});`;
    return [
      `y0 = zipLow(${a}, ${b});`,
      `y1 = zipHigh(${a}, ${b});`,
      `y2 = zipLow(${c}, ${d});`,
      `y3 = zipHigh(${c}, ${d});`,
      `row = v128.load(state, ${4 * w});`,
      block(0, 'low', 'y0', 'y2'),
      block(1, 'high', 'y0', 'y2'),
      block(2, 'low', 'y1', 'y3'),
      block(3, 'high', 'y1', 'y3'),
    ];
  });
}

/**
 * Block after block; those of a stream differ in word 12 only, so their first round is the same but
 * for its first column.
 */
export function chacha8Source(): string {
  const start = (w: number) => {
    if (w === 12) return 'let x12 = i32x4.add(v128.load32_splat(state, 48), v128.load(COUNTERS));';
    return `let x${w} = v128.load32_splat(${w % 4 === 0 ? 'state' : 'mixed'}, ${4 * w});`;
  };
  return `import { highHalves, lowHalves, zipHigh, zipLow } from '../shared/lanes';
import { rotate, rotate16, rotate8 } from '../shared/rotate';

const COUNTERS: usize = memory.data<u32>([0, 1, 2, 3], 16);

/**
 * The state after the first round's columns 1 to 3, in which the counter, word 12, has no part:
 * words 0, 4, 8, 12 of the result are not used.
 */
export function mixColumns(mixed: usize, state: usize): void {
  let x0 = v128.load(state);
  let x1 = v128.load(state, 16);
  let x2 = v128.load(state, 32);
  let x3 = v128.load(state, 48);
${indent(quarterRounds([[0, 1, 2, 3]]), 2)}
  v128.store(mixed, x0);
  v128.store(mixed, x1, 16);
  v128.store(mixed, x2, 32);
  v128.store(mixed, x3, 48);
}

/**
 * Four blocks from the state's counter on, one after the other: 256 bytes.
 *
 * mixed: what mixColumns made of the state, with any counter
 */
export function chacha8(out: usize, state: usize, mixed: usize): void {
${indent(WORDS.map(start), 2)}
${indent(quarterRounds(COLUMNS.slice(0, 1)), 2)}
  let rounds = 8;
  while (true) {
${indent(quarterRounds(DIAGONALS), 4)}
    rounds -= 2;
    if (rounds == 0) break;
${indent(quarterRounds(COLUMNS), 4)}
  }
  x12 = i32x4.add(x12, v128.load(COUNTERS));
  let row: v128;
  let y0: v128;
  let y1: v128;
  let y2: v128;
  let y3: v128;
${indent(transposedStores(), 2)}
}
`;
}
