/**
 * Writes `assembly/shared/nttPasses.gen.ts` and `assembly/shared/nttTables.gen.ts`: the transform of `nttPlan.ts` as
 * straight-line passes over eight vectors of eight 16-bit lanes.
 *
 * A block of 512 coefficients goes through memory three times, three levels each time (radix 8):
 *
 *   forward   pass 1  distances 256, 128, 64   vectors 128 bytes apart
 *             pass 2  distances 32, 16, 8      vectors next to each other
 *             pass 3  distances 4, 2, 1        the same 64 coefficients, transposed 8 x 8 first
 *   inverse   pass 1  distances 1, 2, 4, transposed back, then 8, 16, 32
 *             pass 2  distances 64, 128, 256, for n = 512 with the untwist
 *
 * Degree 1024 is one more level on both halves, before (forward) or after (inverse).
 */
import {
  companion,
  FORWARD_REDUCES,
  forwardTwiddle,
  INVERSE_REDUCES,
  inverseTwiddle,
  untwist,
} from './nttPlan.ts';

const LANES = [0, 1, 2, 3, 4, 5, 6, 7];
const x = (i: number) => `x${i}`;

/** The two operands of a product by a table entry, as expressions: w and w'. */
type Twiddle = readonly [w: string, companion: string];
/** Entry k of a table of scalar pairs (w, w'), spread over all lanes. */
const scalarEntry = (k: number): Twiddle => [
  `v128.load16_splat(table, ${4 * k})`,
  `v128.load16_splat(table, ${4 * k + 2})`,
];
/** Entry k of a table of vector pairs (8 w, 8 w'). */
const vectorEntry = (k: number): Twiddle => [
  `v128.load(table, ${32 * k})`,
  `v128.load(table, ${32 * k + 16})`,
];

/** (a, b) -> (a + w b, a - w b) */
function butterfly(a: number, b: number, [w, w1]: Twiddle, reduces: boolean): string[] {
  return [
    `t = mulmod(${x(b)}, ${w}, ${w1}, q);`,
    ...(reduces ? [`${x(a)} = reduce(${x(a)}, q);`] : []),
    `${x(b)} = i16x8.sub(${x(a)}, t);`,
    `${x(a)} = i16x8.add(${x(a)}, t);`,
  ];
}

/** The same with w = 1. */
const plainButterfly = (a: number, b: number): string[] => [
  `t = ${x(b)};`,
  `${x(b)} = i16x8.sub(${x(a)}, t);`,
  `${x(a)} = i16x8.add(${x(a)}, t);`,
];

const loads = (stride: number) => LANES.map((i) => `let ${x(i)} = v128.load(a, ${stride * i});`);
const stores = (stride: number) => LANES.map((i) => `v128.store(a, ${x(i)}, ${stride * i});`);

/** Three levels; `steps[k]` lists the butterflies that use table entry k. Entries are loaded just before their use. */
function radix8(
  steps: readonly (readonly [a: number, b: number])[][],
  entry: (k: number) => Twiddle,
  reduces: (k: number) => boolean,
): string[] {
  return steps.flatMap((pairs, k) => {
    const [w, w1] = entry(k);
    return [
      `const w${k} = ${w};`,
      `const c${k} = ${w1};`,
      ...pairs.flatMap(([a, b]) => butterfly(a, b, [`w${k}`, `c${k}`], reduces(k))),
    ];
  });
}

const levelOf = (k: number) => (k === 0 ? 0 : k < 3 ? 1 : 2);
/** Forward: halves, then quarters, then neighbours; entry 0, entries 1-2, entries 3-6. */
const FORWARD_STEPS: [number, number][][] = [
  [0, 1, 2, 3].map((i) => [i, i + 4]),
  ...[0, 4].map((h): [number, number][] => [
    [h, h + 2],
    [h + 1, h + 3],
  ]),
  ...[0, 2, 4, 6].map((h): [number, number][] => [[h, h + 1]]),
];
/** Inverse: neighbours, then quarters, then halves, twiddles by position within the block. */
const INVERSE_STEPS: [number, number][][] = [
  [0, 2, 4, 6].map((h) => [h, h + 1]),
  ...[0, 1].map((h): [number, number][] => [
    [h, h + 2],
    [h + 4, h + 6],
  ]),
  ...[0, 1, 2, 3].map((h): [number, number][] => [[h, h + 4]]),
];

/** 8 x 8 transposition of 16-bit lanes; every pattern is one interleaving instruction on x86 and ARM. */
function transpose(): string[] {
  const lo = (width: number) => interleave(width, 0);
  const hi = (width: number) => interleave(width, 8);
  const shuffle = (a: string, b: string, pattern: string) =>
    `i8x16.shuffle(${a}, ${b}, ${pattern})`;
  const lines: string[] = [];
  for (const i of [0, 2, 4, 6]) {
    lines.push(`const y${i} = ${shuffle(x(i), x(i + 1), lo(2))};`);
    lines.push(`const y${i + 1} = ${shuffle(x(i), x(i + 1), hi(2))};`);
  }
  for (const [half, base] of [
    [0, 0],
    [4, 4],
  ] as const) {
    for (const i of [0, 1]) {
      lines.push(`const z${half + 2 * i} = ${shuffle(`y${base + i}`, `y${base + i + 2}`, lo(4))};`);
      lines.push(
        `const z${half + 2 * i + 1} = ${shuffle(`y${base + i}`, `y${base + i + 2}`, hi(4))};`,
      );
    }
  }
  for (const i of [0, 1, 2, 3]) {
    lines.push(`${x(2 * i)} = ${shuffle(`z${i}`, `z${i + 4}`, lo(8))};`);
    lines.push(`${x(2 * i + 1)} = ${shuffle(`z${i}`, `z${i + 4}`, hi(8))};`);
  }
  return lines;
}

/** Byte indices that interleave pieces of `width` bytes of two vectors, beginning at byte `from` of each. */
function interleave(width: number, from: number): string {
  const indices: number[] = [];
  for (let piece = from; indices.length < 16; piece += width) {
    for (const vector of [0, 16]) {
      for (let byte = 0; byte < width; byte++) indices.push(vector + piece + byte);
    }
  }
  return indices.join(', ');
}

/** Pass 1 of the inverse on transposed vectors, distances 1, 2, 4: entries 0-2 are w8, w8^2 = w4, w8^3. */
function inverseStart(): string[] {
  const w = (k: number): Twiddle => [`w${k}`, `c${k}`];
  return [
    ...[0, 2, 4, 6].flatMap((i) => plainButterfly(i, i + 1)),
    ...[0, 1, 2, 4, 5, 6].map((i) => `${x(i)} = reduce(${x(i)}, q);`),
    ...[0, 4].flatMap((h) => [
      ...plainButterfly(h, h + 2),
      ...butterfly(h + 1, h + 3, w(1), false),
    ]),
    ...[0, 4].map((i) => `${x(i)} = reduce(${x(i)}, q);`),
    ...plainButterfly(0, 4),
    ...[1, 2, 3].flatMap((i) => butterfly(i, i + 4, w(i - 1), false)),
  ];
}

const indent = (lines: string[], by: number) =>
  lines.map((line) => `${' '.repeat(by)}${line}`).join('\n');

function forward512(logn: number): string {
  const first = logn - 9;
  const reduces = (pass: number) => (k: number) =>
    FORWARD_REDUCES[logn]!.has(first + 3 * pass + levelOf(k));
  return `/** Forward passes over 512 coefficients, as part of degree ${1 << logn}. */
export function forward512of${1 << logn}(a: usize, scalars: usize, vectors: usize): void {
  const q = v128.load(Q_LANES);
  let t: v128;
  let table = scalars;
  for (let end: usize = a + 128; a < end; a += 16) {
${indent([...loads(128), ...radix8(FORWARD_STEPS, scalarEntry, reduces(0)), ...stores(128)], 4)}
  }
  a -= 128;
  for (let end: usize = a + 1024; a < end; a += 128) {
    table += 28;
${indent([...loads(16), ...radix8(FORWARD_STEPS, scalarEntry, reduces(1)), ...stores(16)], 4)}
  }
  a -= 1024;
  table = vectors;
  for (let end: usize = a + 1024; a < end; a += 128) {
${indent([...loads(16), ...transpose(), ...radix8(FORWARD_STEPS, vectorEntry, reduces(2)), ...stores(16)], 4)}
    table += 224;
  }
}`;
}

const inverseReduces = (length: number) => (k: number) => INVERSE_REDUCES.has(length << levelOf(k));

/** Pass 1 of the inverse, which is the same for both degrees. */
function inverse64(): string {
  return `/** Inverse pass over 512 coefficients, distances 1 to 32. */
function inverse64(a: usize): void {
  const q = v128.load(Q_LANES);
  let t: v128;
  for (let end: usize = a + 1024; a < end; a += 128) {
    let table: usize = INVERSE_START;
${indent(loads(16), 4)}
    {
${indent(
  [0, 1, 2].flatMap((k) => [
    `const w${k} = ${scalarEntry(k)[0]};`,
    `const c${k} = ${scalarEntry(k)[1]};`,
  ]),
  6,
)}
${indent([...inverseStart(), ...transpose()], 6)}
    }
    table = INVERSE_MIDDLE;
${indent([...radix8(INVERSE_STEPS, vectorEntry, inverseReduces(8)), ...stores(16)], 4)}
  }
}`;
}

function inverse512(untwists: boolean): string {
  const last = untwists
    ? LANES.map(
        (i) =>
          `${x(i)} = mulmod(${x(i)}, v128.load(twist, ${32 * i}), v128.load(twist, ${32 * i + 16}), q);`,
      )
    : [];
  return `/** Inverse passes over 512 coefficients${untwists ? ', with the untwist of degree 512' : ', as half of degree 1024'}. */
export function inverse512of${untwists ? 512 : 1024}(a: usize): void {
  inverse64(a);
  const q = v128.load(Q_LANES);
  let t: v128;
  let table: usize = INVERSE_END;${untwists ? '\n  let twist: usize = UNTWIST_512;' : ''}
  for (let end: usize = a + 128; a < end; a += 16) {
${indent([...loads(128), ...radix8(INVERSE_STEPS, vectorEntry, inverseReduces(64)), ...last, ...stores(128)], 4)}
    table += 224;${untwists ? '\n    twist += 256;' : ''}
  }
}`;
}

export function nttPassesSource(): string {
  return `import { mulmod, reduce, Q_LANES } from './zq';
import { INVERSE_END, INVERSE_MIDDLE, INVERSE_START, UNTWIST_512 } from './nttTables.gen';

${forward512(9)}

${forward512(10)}

${inverse64()}

${inverse512(true)}

${inverse512(false)}
`;
}

/** One entry per w: w, w'. */
const scalars = (ws: number[]) => ws.flatMap((w) => [w, companion(w)]);
/** One entry per 8 w: the 8 w, then their 8 companions. */
function vectors(ws: number[]): number[] {
  const out: number[] = [];
  for (let i = 0; i < ws.length; i += 8) {
    const eight = ws.slice(i, i + 8);
    out.push(...eight, ...eight.map(companion));
  }
  return out;
}

function table(name: string, comment: string, values: number[]): string {
  const lines: string[] = [];
  for (let i = 0; i < values.length; i += 16)
    lines.push(`  ${values.slice(i, i + 16).join(', ')},`);
  return `/** ${comment} */
export const ${name}: usize = memory.data<i16>(
  [
${lines.map((line) => `  ${line}`).join('\n')}
  ],
  16,
);`;
}

/** Twiddles of one block of 512: passes 1 and 2 as scalars, pass 3 as vectors over eight neighbouring groups. */
function forwardTables(logn: number, block: number): string[] {
  const root = 1 << (logn - 9);
  const w = (level: number, i: number) =>
    forwardTwiddle(logn, (root << level) + (block << level) + i);
  const tree = (level: number, i: number) => [
    w(level, i),
    ...[0, 1].map((k) => w(level + 1, 2 * i + k)),
    ...[0, 1, 2, 3].map((k) => w(level + 2, 4 * i + k)),
  ];
  const last: number[] = [];
  for (let group = 0; group < 8; group++) {
    const perLane = LANES.map((lane) => tree(6, 8 * group + lane));
    for (let k = 0; k < 7; k++) last.push(...perLane.map((lane) => lane[k]!));
  }
  const name = `${1 << logn}${logn === 10 ? `_${block}` : ''}`;
  return [
    table(
      `FORWARD_SCALARS_${name}`,
      'Passes 1 and 2: (w, companion).',
      scalars([...tree(0, 0), ...LANES.flatMap((b) => tree(3, b))]),
    ),
    table(`FORWARD_VECTORS_${name}`, 'Pass 3: eight w, eight companions.', vectors(last)),
  ];
}

export function nttTablesSource(): string {
  // The roots of order up to 512 are the same in both degrees, so both share the inverse tables up to distance 256.
  const lanes = (length: number, k: number) =>
    LANES.map((lane) => inverseTwiddle(9, length, 8 * k + lane));
  const middle = [
    ...lanes(8, 0),
    ...[0, 1].flatMap((k) => lanes(16, k)),
    ...[0, 1, 2, 3].flatMap((k) => lanes(32, k)),
  ];
  const end = LANES.flatMap((c) => [
    ...lanes(64, c),
    ...[0, 1].flatMap((k) => lanes(128, c + 8 * k)),
    ...[0, 1, 2, 3].flatMap((k) => lanes(256, c + 8 * k)),
  ]);
  const twist512 = LANES.flatMap((c) =>
    LANES.flatMap((k) => LANES.map((lane) => untwist(9, 64 * k + 8 * c + lane))),
  );
  const columns = Array.from({ length: 64 }, (_, c) => c);
  const last1024 = columns.flatMap((c) =>
    LANES.map((lane) => inverseTwiddle(10, 512, 8 * c + lane)),
  );
  const twist1024 = columns.flatMap((c) =>
    [0, 1].flatMap((k) => LANES.map((lane) => untwist(10, 512 * k + 8 * c + lane))),
  );
  return `${[
    ...forwardTables(9, 0),
    table('FORWARD_FIRST_1024', 'Level 0 of degree 1024.', scalars([forwardTwiddle(10, 1)])),
    ...forwardTables(10, 0),
    ...forwardTables(10, 1),
    table(
      'INVERSE_START',
      'Distances 2 and 4: w8, w8^2, w8^3.',
      scalars([1, 2, 3].map((j) => inverseTwiddle(9, 4, j))),
    ),
    table('INVERSE_MIDDLE', 'Distances 8, 16, 32.', vectors(middle)),
    table('INVERSE_END', 'Distances 64, 128, 256, by column of eight.', vectors(end)),
    table('UNTWIST_512', 'n^-1 psi^-i, by column.', vectors(twist512)),
    table('INVERSE_LAST_1024', 'Distance 512.', vectors(last1024)),
    table('UNTWIST_1024', 'n^-1 psi^-i, by column, both halves.', vectors(twist1024)),
  ].join('\n\n')}\n`;
}
