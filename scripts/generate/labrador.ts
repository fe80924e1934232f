/**
 * Writes `assembly/labrador/nttPasses.gen.ts` and `assembly/labrador/nttTables.gen.ts`: the transforms of
 * `labradorPlan.ts` as straight-line code over eight vectors of eight 16-bit lanes, and their tables.
 *
 *   forward   distances 32, 16, 8 between the vectors, an 8 x 8 transposition, then 4, 2, 1 between the vectors again
 *   inverse   distances 1, 2, 4, transposed back, then 8, 16, 32
 *
 * The transposed order stays: vector i, lane v holds the value of bit-reversed index 8v + i.
 */
import {
  afterMred,
  centred,
  centredQ,
  cofactor,
  companion,
  FORWARD_REDUCES,
  formFactor,
  forwardTwiddle,
  INVERSE_REDUCES,
  inverseTwiddle,
  limbs,
  PRIMES,
  PRODUCT,
  powMod,
  reciprocal,
  SMALL_REDUCES,
  untwistOfForm,
  untwistOfSums,
} from './labradorPlan.ts';

const LANES = [0, 1, 2, 3, 4, 5, 6, 7];
const x = (i: number) => `x${i}`;

/** Rows of 16 bytes of a prime's table, in order, with the names under which the module finds them. */
function tableOf(prime: number): { name: string; rows: number[][] }[] {
  const p = PRIMES[prime]!;
  const all = (value: number) => LANES.map(() => value);
  const low = (value: number) => LANES.map((lane) => (lane % 2 === 0 ? value : 0));
  const pair = (w: number) => [all(w), all(companion(w, p))];
  const power = (exponent: number) => pair(centred(powMod(2, exponent, p), p));
  const vectorPair = (w: (lane: number) => number) => {
    const values = LANES.map(w);
    return [values, values.map((value) => companion(value, p))];
  };
  const inverseModWord = (() => {
    let inverse = 1; // Newton, mod 2^16
    for (let i = 0; i < 4; i++) inverse = (inverse * (2 - p * inverse)) & 0xffff;
    return (inverse << 16) >> 16;
  })();
  const distances: [number, (block: number) => (lane: number) => number][] = [
    [1, () => (lane) => forwardTwiddle(prime, 8 + lane)],
    [2, (k) => (lane) => forwardTwiddle(prime, 16 + 2 * lane + k)],
    [4, (k) => (lane) => forwardTwiddle(prime, 32 + 4 * lane + k)],
  ];
  const inverseVectors = [1, 2, 4].flatMap((count, level) =>
    Array.from({ length: count }, (_, k) =>
      vectorPair((lane) => inverseTwiddle(prime, 8 << level, 8 * k + lane)),
    ).flat(),
  );
  return [
    { name: 'P', rows: [all(p)] },
    { name: 'ONE', rows: [all(companion(1, p))] },
    { name: 'P_LOW', rows: [low(p)] },
    { name: 'INVERSE_LOW', rows: [low(inverseModWord)] },
    { name: 'FACTOR', rows: pair(centred(formFactor(p), p)) },
    { name: 'LIMB1', rows: power(14) },
    { name: 'LIMB2', rows: power(30) },
    { name: 'AFTER_PRODUCT', rows: power(30) },
    { name: 'AFTER_MRED', rows: pair(centred(afterMred(1, p), p)) },
    { name: 'AFTER_TWO', rows: pair(centred(afterMred(2, p), p)) },
    { name: 'AS_IS', rows: power(15) },
    { name: 'COMPANION', rows: [all(Math.round((32768 / p - 2) * 32768))] },
    {
      name: 'FORWARD',
      rows: [1, 2, 3, 4, 5, 6, 7].flatMap((index) => pair(forwardTwiddle(prime, index))),
    },
    {
      name: 'FORWARD_VECTORS',
      rows: distances.flatMap(([count, w]) =>
        Array.from({ length: count }, (_, k) => vectorPair(w(k))).flat(),
      ),
    },
    { name: 'INVERSE', rows: [1, 2, 3].flatMap((j) => pair(inverseTwiddle(prime, 4, j))) },
    { name: 'INVERSE_VECTORS', rows: inverseVectors },
    {
      name: 'UNTWIST_FORM',
      rows: LANES.flatMap((i) => vectorPair((lane) => untwistOfForm(prime, 8 * i + lane))),
    },
    {
      name: 'UNTWIST_SUMS',
      rows: LANES.flatMap((i) => vectorPair((lane) => untwistOfSums(prime, 8 * i + lane))),
    },
  ];
}

/** Constants of the reconstruction, see crt.ts. */
function reconstructionTable(): number[] {
  const rows: number[][] = [];
  const pairs = [0, 2, 4];
  const lanesOf = (a: number, b: number) => [a, b, a, b, a, b, a, b];
  for (const i of pairs) rows.push(lanesOf(reciprocal(PRIMES[i]!), reciprocal(PRIMES[i + 1]!)));
  for (const limb of [0, 1, 2] as const) {
    for (const i of pairs) {
      const [a, b] = [i, i + 1].map((prime) => limbs(centredQ(cofactor(prime)))[limb]);
      rows.push(lanesOf(a!, b!));
    }
  }
  // k (P mod q): the quotient stands in the low half of each 32-bit lane
  for (const limb of limbs(centredQ(PRODUCT))) rows.push(lanesOf(limb, 0));
  return rows.flat();
}

export function labradorTablesSource(): string {
  const tables = PRIMES.map((_, prime) => tableOf(prime));
  const offsets: string[] = [];
  let offset = 0;
  for (const { name, rows } of tables[0]!) {
    offsets.push(`export const T_${name}: usize = ${offset};`);
    offset += 16 * rows.length;
  }
  const lines = (values: number[]) => {
    const out: string[] = [];
    for (let i = 0; i < values.length; i += 16)
      out.push(`  ${values.slice(i, i + 16).join(', ')},`);
    return out.join('\n');
  };
  const values = tables.flatMap((table) => table.flatMap(({ rows }) => rows.flat()));
  return `// Offsets into the table of a prime, in bytes; w and its companion w' follow each other.
${offsets.join('\n')}
export const TABLE_SIZE: usize = ${offset};

/** One table for each prime: ${PRIMES.join(', ')}. */
export const TABLES: usize = memory.data<i16>([
${lines(values)}
], 16);

/** Pairs of reciprocals, 3 limbs of the pairs of cofactors mod q, 3 limbs of P mod q. */
export const RECONSTRUCTION: usize = memory.data<i16>([
${lines(reconstructionTable())}
], 16);
`;
}

type Twiddle = readonly [w: string, companion: string];
const entry =
  (base: string) =>
  (k: number): Twiddle => [
    `v128.load(table, ${base} + ${32 * k})`,
    `v128.load(table, ${base} + ${32 * k + 16})`,
  ];

/** (a, b) -> (a + w b, a - w b) */
const butterfly = (a: number, b: number, [w, w1]: Twiddle, reduces: boolean): string[] => [
  `t = mulmod(${x(b)}, ${w}, ${w1}, p);`,
  ...(reduces ? [`${x(a)} = reduce(${x(a)}, one, p);`] : []),
  `${x(b)} = i16x8.sub(${x(a)}, t);`,
  `${x(a)} = i16x8.add(${x(a)}, t);`,
];

/** The same with w = 1; when it reduces, both legs: nothing multiplies the other one. */
const plainButterfly = (a: number, b: number, reduces: boolean): string[] => [
  `t = ${reduces ? `reduce(${x(b)}, one, p)` : x(b)};`,
  ...(reduces ? [`${x(a)} = reduce(${x(a)}, one, p);`] : []),
  `${x(b)} = i16x8.sub(${x(a)}, t);`,
  `${x(a)} = i16x8.add(${x(a)}, t);`,
];

function radix8(
  steps: readonly (readonly [a: number, b: number])[][],
  twiddle: (k: number) => Twiddle,
  reduces: (k: number) => boolean,
): string[] {
  return steps.flatMap((pairs, k) => {
    const [w, w1] = twiddle(k);
    return [
      `w = ${w};`,
      `c = ${w1};`,
      ...pairs.flatMap(([a, b]) => butterfly(a, b, ['w', 'c'], reduces(k))),
    ];
  });
}

const levelOf = (k: number) => (k === 0 ? 0 : k < 3 ? 1 : 2);
const FORWARD_STEPS: [number, number][][] = [
  [0, 1, 2, 3].map((i) => [i, i + 4]),
  ...[0, 4].map((h): [number, number][] => [
    [h, h + 2],
    [h + 1, h + 3],
  ]),
  ...[0, 2, 4, 6].map((h): [number, number][] => [[h, h + 1]]),
];
const INVERSE_STEPS: [number, number][][] = [
  [0, 2, 4, 6].map((h) => [h, h + 1]),
  ...[0, 1].map((h): [number, number][] => [
    [h, h + 2],
    [h + 4, h + 6],
  ]),
  ...[0, 1, 2, 3].map((h): [number, number][] => [[h, h + 4]]),
];

/** 8 x 8 transposition of 16-bit lanes by interleaving. */
function transpose(): string[] {
  const lines: string[] = [];
  for (const i of [0, 2, 4, 6]) {
    lines.push(`const y${i} = v128.shuffle<u16>(${x(i)}, ${x(i + 1)}, 0, 8, 1, 9, 2, 10, 3, 11);`);
    lines.push(
      `const y${i + 1} = v128.shuffle<u16>(${x(i)}, ${x(i + 1)}, 4, 12, 5, 13, 6, 14, 7, 15);`,
    );
  }
  for (const base of [0, 4]) {
    for (const i of [0, 1]) {
      const [a, b] = [`y${base + i}`, `y${base + i + 2}`];
      lines.push(`const z${base + 2 * i} = v128.shuffle<u32>(${a}, ${b}, 0, 4, 1, 5);`);
      lines.push(`const z${base + 2 * i + 1} = v128.shuffle<u32>(${a}, ${b}, 2, 6, 3, 7);`);
    }
  }
  for (const i of [0, 1, 2, 3]) {
    lines.push(`${x(2 * i)} = v128.shuffle<u64>(z${i}, z${i + 4}, 0, 2);`);
    lines.push(`${x(2 * i + 1)} = v128.shuffle<u64>(z${i}, z${i + 4}, 1, 3);`);
  }
  return lines;
}

const body = (lines: string[]) => lines.map((line) => `  ${line}`).join('\n');

function forward(
  name: string,
  doc: string,
  input: (i: number) => string,
  set: ReadonlySet<number>,
) {
  return `/** ${doc} */
export function ${name}(out: usize, a: usize, table: usize): void {
  const p = v128.load(table, T_P);
  const one = v128.load(table, T_ONE);
  let t: v128;
  let w: v128;
  let c: v128;
${body([
  ...LANES.map((i) => `let ${x(i)} = ${input(i)};`),
  ...radix8(FORWARD_STEPS, entry('T_FORWARD'), (k) => set.has(k)),
  ...transpose(),
  ...radix8(FORWARD_STEPS, entry('T_FORWARD_VECTORS'), (k) => set.has(7 + k)),
  'w = v128.load(table, T_FACTOR);',
  'c = v128.load(table, T_FACTOR + 16);',
  ...LANES.map((i) => `v128.store(out, mulmod(${x(i)}, w, c, p), ${16 * i});`),
])}
}`;
}

function inverse(name: string, doc: string, input: (i: number) => string, untwist: string) {
  const w = (k: number): Twiddle => entry('T_INVERSE')(k);
  const set = INVERSE_REDUCES;
  return `/** ${doc} */
export function ${name}(out: usize, a: usize, table: usize): void {
  const p = v128.load(table, T_P);
  const one = v128.load(table, T_ONE);
  let t: v128;
  let w: v128;
  let c: v128;
${body([
  ...LANES.map((i) => `let ${x(i)} = ${input(i)};`),
  ...[0, 2, 4, 6].flatMap((i) => plainButterfly(i, i + 1, false)),
  `w = ${w(1)[0]};`,
  `c = ${w(1)[1]};`,
  ...[0, 4].flatMap((h) => [
    ...plainButterfly(h, h + 2, true),
    ...butterfly(h + 1, h + 3, ['w', 'c'], set.has(2)),
  ]),
  ...plainButterfly(0, 4, true),
  ...[1, 2, 3].flatMap((i) => [
    `w = ${w(i - 1)[0]};`,
    `c = ${w(i - 1)[1]};`,
    ...butterfly(i, i + 4, ['w', 'c'], set.has(4)),
  ]),
  ...transpose(),
  ...radix8(INVERSE_STEPS, entry('T_INVERSE_VECTORS'), (k) => set.has(8 << levelOf(k))),
  ...LANES.map(
    (i) =>
      `v128.store(out, mulmod(${x(i)}, v128.load(table, ${untwist} + ${32 * i}), v128.load(table, ${untwist} + ${32 * i + 16}), p), ${16 * i});`,
  ),
])}
}`;
}

export function labradorPassesSource(): string {
  const load = (i: number) => `v128.load(a, ${16 * i})`;
  const fromLimbs = (i: number) =>
    `fromLimbs(v128.load(a, ${16 * i}), v128.load(a, ${128 + 16 * i}), v128.load(a, ${256 + 16 * i}), w1, w2, companion1, companion2, p)`;
  const fromSums = (i: number) =>
    `i16x8.narrow_i32x4_s(mred(v128.load(a, ${32 * i}), low, inverseLow), mred(v128.load(a, ${32 * i + 16}), low, inverseLow))`;
  const sums = inverse(
    'inverseOfSums',
    'Sums of reduced products, i32[64], to residues times the inverse cofactor.',
    fromSums,
    'T_UNTWIST_SUMS',
  ).replace(
    '  let t: v128;\n',
    '  const low = v128.load(table, T_P_LOW);\n  const inverseLow = v128.load(table, T_INVERSE_LOW);\n  let t: v128;\n',
  );
  const limbs = forward(
    'forwardLimbs',
    'Three vectors of limbs, i16[3][64], to NTT form.',
    fromLimbs,
    FORWARD_REDUCES,
  ).replace(
    '  let t: v128;\n',
    `  const w1 = v128.load(table, T_LIMB1);
  const companion1 = v128.load(table, T_LIMB1 + 16);
  const w2 = v128.load(table, T_LIMB2);
  const companion2 = v128.load(table, T_LIMB2 + 16);
  let t: v128;
`,
  );
  return `import { fromLimbs, mred, mulmod, reduce } from './lanes';
import {
  T_FACTOR,
  T_FORWARD,
  T_FORWARD_VECTORS,
  T_INVERSE,
  T_INVERSE_LOW,
  T_INVERSE_VECTORS,
  T_LIMB1,
  T_LIMB2,
  T_ONE,
  T_P,
  T_P_LOW,
  T_UNTWIST_FORM,
  T_UNTWIST_SUMS,
} from './nttTables.gen';

${forward('forwardSmall', 'Lanes of at most SMALL_MAX in magnitude to NTT form.', load, SMALL_REDUCES)}

${forward('forwardAny', 'Any lanes but -2^15 to NTT form.', load, FORWARD_REDUCES)}

${limbs}

${inverse('inverseOfForm', 'NTT form to residues times the inverse cofactor.', load, 'T_UNTWIST_FORM')}

${sums}
`;
}
