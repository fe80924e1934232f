/**
 * Writes `assembly/shared/nttPasses.gen.ts` and `assembly/shared/nttTables.gen.ts`: the transform
 * of `nttPlan.ts` as straight-line passes over eight vectors of eight 16-bit lanes.
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
import { companion } from './modular.ts';
import {
  FORWARD_REDUCES,
  forwardTwiddle,
  INVERSE_REDUCES,
  inverseTwiddle,
  Q,
  untwist,
} from './nttPlan.ts';
import { indent, LANES, modulo, TRANSPOSE_IMPORTS, type Twiddle, transpose, x } from './passes.ts';
import { rowsOf, table } from './table.ts';

const { butterfly, plainButterfly, forwardLevels, inverseLevels } = modulo({
  name: 'q',
  reduce: (value) => `reduce(${value}, q)`,
});

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

const loads = (stride: number) => LANES.map((i) => `let ${x(i)} = v128.load(a, ${stride * i});`);
const stores = (stride: number) => LANES.map((i) => `v128.store(a, ${x(i)}, ${stride * i});`);

/**
 * Pass 1 of the inverse on transposed vectors, distances 1, 2, 4: entries 0-2 are w8, w8^2 = w4,
 * w8^3.
 */
function inverseStart(): string[] {
  const w = (k: number): Twiddle => [`w${k}`, `c${k}`];
  return [
    ...[0, 2, 4, 6].flatMap((i) => plainButterfly(i, i + 1, false)),
    ...[0, 1, 2, 4, 5, 6].map((i) => `${x(i)} = reduce(${x(i)}, q);`),
    ...[0, 4].flatMap((h) => [
      ...plainButterfly(h, h + 2, false),
      ...butterfly(h + 1, h + 3, w(1), false),
    ]),
    `${x(4)} = reduce(${x(4)}, q);`,
    ...plainButterfly(0, 4, false),
    ...[1, 2, 3].flatMap((i) => butterfly(i, i + 4, w(i - 1), false)),
  ];
}

/** Where the variables that every pass uses are declared. */
const DECLARED = indent(
  ['const q = v128.load(Q_LANES);', ...['t', 'w', 'c'].map((name) => `let ${name}: v128;`)],
  2,
);

/** A pass over vectors `stride` bytes apart, as the body of a loop. */
const pass = (stride: number, lines: readonly string[]) =>
  indent([...loads(stride), ...lines, ...stores(stride)], 4);

function forward512(logn: number): string {
  const first = logn - 9;
  const levels = (number: number, entry: (k: number) => Twiddle) =>
    forwardLevels(entry, (_, level) => FORWARD_REDUCES[logn]!.has(first + 3 * number + level));
  return `/** Forward passes over 512 coefficients, as part of degree ${1 << logn}. */
export function forward512of${1 << logn}(a: usize, scalars: usize, vectors: usize): void {
${DECLARED}
  let table = scalars;
  for (let end: usize = a + 128; a < end; a += 16) {
${pass(128, levels(0, scalarEntry))}
  }
  a -= 128;
  for (let end: usize = a + 1024; a < end; a += 128) {
    table += 28;
${pass(16, levels(1, scalarEntry))}
  }
  a -= 1024;
  table = vectors;
  for (let end: usize = a + 1024; a < end; a += 128) {
${pass(16, [...transpose(), ...levels(2, vectorEntry)])}
    table += 224;
  }
}`;
}

/** Three levels of the inverse, from distance `length` on. */
const inverseFrom = (length: number) =>
  inverseLevels(vectorEntry, (_, level) => INVERSE_REDUCES.has(length << level));

/** Pass 1 of the inverse, which is the same for both degrees. */
function inverse64(): string {
  const constants = [0, 1, 2].flatMap((k) => [
    `const w${k} = ${scalarEntry(k)[0]};`,
    `const c${k} = ${scalarEntry(k)[1]};`,
  ]);
  return `/** Inverse pass over 512 coefficients, distances 1 to 32. */
function inverse64(a: usize): void {
${DECLARED}
  for (let end: usize = a + 1024; a < end; a += 128) {
    let table: usize = INVERSE_START;
${indent(loads(16), 4)}
    {
${indent([...constants, ...inverseStart(), ...transpose()], 6)}
    }
    table = INVERSE_MIDDLE;
${indent([...inverseFrom(8), ...stores(16)], 4)}
  }
}`;
}

function inverse512(untwists: boolean): string {
  const untwist = LANES.flatMap((i) => [
    `w = v128.load(twist, ${32 * i});`,
    `c = v128.load(twist, ${32 * i + 16});`,
    `${x(i)} = mulmod(${x(i)}, w, c, q);`,
  ]);
  const name = untwists ? 'with the untwist of degree 512' : 'as half of degree 1024';
  return `/** Inverse passes over 512 coefficients, ${name}. */
export function inverse512of${untwists ? 512 : 1024}(a: usize): void {
  inverse64(a);
${DECLARED}
  let table: usize = INVERSE_END;${untwists ? '\n  let twist: usize = UNTWIST_512;' : ''}
  for (let end: usize = a + 128; a < end; a += 16) {
${pass(128, [...inverseFrom(64), ...(untwists ? untwist : [])])}
    table += 224;${untwists ? '\n    twist += 256;' : ''}
  }
}`;
}

export function nttPassesSource(): string {
  return `import { ${TRANSPOSE_IMPORTS} } from './lanes';
import { mulmod, Q_LANES, reduce } from './zq';
import { INVERSE_END, INVERSE_MIDDLE, INVERSE_START, UNTWIST_512 } from './nttTables.gen';

${forward512(9)}

${forward512(10)}

${inverse64()}

${inverse512(true)}

${inverse512(false)}
`;
}

/** One entry per w: w, w'. */
const scalars = (ws: number[]) => ws.flatMap((w) => [w, companion(w, Q)]);
/** One entry per 8 w: the 8 w, then their 8 companions. */
function vectors(ws: number[]): number[] {
  const out: number[] = [];
  for (let i = 0; i < ws.length; i += 8) {
    const eight = ws.slice(i, i + 8);
    out.push(...eight, ...eight.map((w) => companion(w, Q)));
  }
  return out;
}

const tableOf = (name: string, doc: string, values: number[]): string =>
  table(doc, name, 'i16', rowsOf(values, 16));

/**
 * Twiddles of one block of 512: passes 1 and 2 as scalars, pass 3 as vectors over eight
 * neighbouring groups.
 */
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
    tableOf(
      `FORWARD_SCALARS_${name}`,
      'Passes 1 and 2: (w, companion).',
      scalars([...tree(0, 0), ...LANES.flatMap((b) => tree(3, b))]),
    ),
    tableOf(`FORWARD_VECTORS_${name}`, 'Pass 3: eight w, eight companions.', vectors(last)),
  ];
}

export function nttTablesSource(): string {
  // The roots of order up to 512 are the same in both degrees, so both share the inverse tables up
  // to distance 256.
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
    tableOf('FORWARD_FIRST_1024', 'Level 0 of degree 1024.', scalars([forwardTwiddle(10, 1)])),
    ...forwardTables(10, 0),
    ...forwardTables(10, 1),
    tableOf(
      'INVERSE_START',
      'Distances 2 and 4: w8, w8^2, w8^3.',
      scalars([1, 2, 3].map((j) => inverseTwiddle(9, 4, j))),
    ),
    tableOf('INVERSE_MIDDLE', 'Distances 8, 16, 32.', vectors(middle)),
    tableOf('INVERSE_END', 'Distances 64, 128, 256, by column of eight.', vectors(end)),
    tableOf('UNTWIST_512', 'n^-1 psi^-i, by column.', vectors(twist512)),
    tableOf('INVERSE_LAST_1024', 'Distance 512.', vectors(last1024)),
    tableOf('UNTWIST_1024', 'n^-1 psi^-i, by column, both halves.', vectors(twist1024)),
  ].join('\n')}`;
}
