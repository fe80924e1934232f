/**
 * Writes `assembly/labrador/chacha.gen.ts`: four blocks of ChaCha with 12 rounds at once, word w of all four in one vector.
 *
 * Blocks of a stream differ in word 12 only, so that the first round is the same for all of them but for its first column.
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

export function chachaSource(): string {
  const indent = (lines: string[], by: number) =>
    lines.map((line) => `${' '.repeat(by)}${line}`).join('\n');
  const stores = [0, 4, 8, 12].flatMap((w) => {
    const [a, b, c, d] = [w, w + 1, w + 2, w + 3].map((i) => `x${i}`);
    const block = (i: number, from: string, to: string, lanes: string) =>
      `v128.store(out, i32x4.add(row, v128.shuffle<u64>(${from}, ${to}, ${lanes})), ${64 * i + 4 * w});`;
    return [
      `y0 = v128.shuffle<u32>(${a}, ${b}, 0, 4, 1, 5);`,
      `y1 = v128.shuffle<u32>(${a}, ${b}, 2, 6, 3, 7);`,
      `y2 = v128.shuffle<u32>(${c}, ${d}, 0, 4, 1, 5);`,
      `y3 = v128.shuffle<u32>(${c}, ${d}, 2, 6, 3, 7);`,
      `row = v128.load(state, ${4 * w});`,
      block(0, 'y0', 'y2', '0, 2'),
      block(1, 'y0', 'y2', '1, 3'),
      block(2, 'y1', 'y3', '0, 2'),
      block(3, 'y1', 'y3', '1, 3'),
    ];
  });
  const [columns, diagonals] = [QUARTERS.slice(0, 4), QUARTERS.slice(4)];
  const start = (w: number) => {
    if (w === 12) return 'let x12 = i32x4.add(v128.load32_splat(state, 48), v128.load(CONSTANTS));';
    return `let x${w} = v128.load32_splat(${w % 4 === 0 ? 'state' : 'mixed'}, ${4 * w});`;
  };
  return `/** 0, 1, 2, 3; then masks that rotate 32-bit lanes by 16 and by 8. */
const CONSTANTS: usize = memory.data<u32>([
  0, 1, 2, 3, 0x01000302, 0x05040706, 0x09080b0a, 0x0d0c0f0e, 0x02010003, 0x06050407, 0x0a09080b, 0x0e0d0c0f,
], 16);

// @ts-ignore: decorator
@inline
function rotate(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits));
}

// @ts-ignore: decorator
@inline
function rotate16(x: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i8x16.relaxed_swizzle(x, v128.load(CONSTANTS, 16));
  return v128.shuffle<u16>(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
}

// @ts-ignore: decorator
@inline
function rotate8(x: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i8x16.relaxed_swizzle(x, v128.load(CONSTANTS, 32));
  return rotate(x, 8);
}

/** The state after the first round's columns 1 to 3, which the counter, word 12, has no part in: words 0, 4, 8, 12 are not used. */
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
 * Four blocks from the state's counter on, one after the other: 256 bytes. Masks are below 16: relaxed is exact.
 *
 * mixed: what mixColumns made of the state, with any counter
 */
export function fourBlocks(out: usize, state: usize, mixed: usize): void {
${indent(WORDS.map(start), 2)}
${indent(quarterRounds(columns.slice(0, 1)), 2)}
  let rounds = 12;
  while (true) {
${indent(quarterRounds(diagonals), 4)}
    rounds -= 2;
    if (rounds == 0) break;
${indent(quarterRounds(columns), 4)}
  }
  x12 = i32x4.add(x12, v128.load(CONSTANTS));
  let row: v128;
  let y0: v128;
  let y1: v128;
  let y2: v128;
  let y3: v128;
${indent(stores, 2)}
}
`;
}
