/**
 * Writes `assembly/labrador/nttPasses.gen.ts`, `assembly/labrador/nttTables.gen.ts` and
 * `assembly/labrador/modulus.gen.ts`: the transforms of `labradorPlan.ts` as straight-line code
 * over eight vectors of eight 16-bit lanes, their tables, and the modulus of the proof.
 *
 *   forward   distances 32, 16, 8 between the vectors, an 8 x 8 transposition, then 4, 2, 1 between
 *             the vectors again
 *   inverse   distances 1, 2, 4, transposed back, then 8, 16, 32
 *
 * The transposed order stays: vector i, lane v holds the value of bit-reversed index 8v + i.
 */
import {
  afterMred,
  centredQ,
  cofactor,
  EXCESS,
  FORWARD_REDUCES,
  formFactor,
  forwardTwiddle,
  IDLE_REDUCTIONS,
  INVERSE_REDUCES,
  inverseTwiddle,
  limbs,
  PRIMES,
  PRODUCT,
  Q,
  reciprocal,
  SMALL_REDUCES,
  untwistOfForm,
  untwistOfSums,
} from './labradorPlan.ts';
import { centred, companion, powMod } from './modular.ts';
import { indent, LANES, modulo, TRANSPOSE_IMPORTS, type Twiddle, transpose, x } from './passes.ts';
import { rowsOf, table } from './table.ts';

const { butterfly, plainButterfly, forwardLevels, inverseLevels } = modulo({
  name: 'p',
  reduce: (value) => `reduceLane(${value}, one, p)`,
});

/** 1/p mod 2^16, centred. */
function inverseModWord(p: number): number {
  let inverse = 1; // Newton
  for (let i = 0; i < 4; i++) inverse = (inverse * (2 - p * inverse)) & 0xffff;
  return (inverse << 16) >> 16;
}

/**
 * Rows of 16 bytes of a prime's table, in order, with the names under which the module finds them.
 */
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
    { name: 'INVERSE_LOW', rows: [low(inverseModWord(p))] },
    { name: 'FACTOR', rows: pair(centred(formFactor(p), p)) },
    { name: 'LIMB1', rows: power(14) },
    { name: 'LIMB2', rows: power(30) },
    { name: 'AFTER_PRODUCT', rows: power(30) },
    { name: 'AFTER_MRED', rows: pair(centred(afterMred(1, p), p)) },
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

export const labradorModulusSource = (): string => `/** The modulus q = 2^44 - ${EXCESS}. */
export const Q: i64 = ${Q};
/** (q - 1) / 2: centred values are in [-HALF_Q, HALF_Q]. */
export const HALF_Q: i64 = ${(Q - 1n) / 2n};
/** 2^44 mod q. */
export const EXCESS: i64 = ${EXCESS};
/** 2^44 - 1 */
export const MASK_44: i64 = ${2n ** 44n - 1n};
`;

export function labradorTablesSource(): string {
  const tables = PRIMES.map((_, prime) => tableOf(prime));
  const offsets: string[] = [];
  let offset = 0;
  for (const { name, rows } of tables[0]!) {
    offsets.push(`export const T_${name}: usize = ${offset};`);
    offset += 16 * rows.length;
  }
  const values = tables.flatMap((table) => table.flatMap(({ rows }) => rows.flat()));
  return `// Offsets into the table of a prime, in bytes; w and its companion w' follow each other.
${offsets.join('\n')}
export const TABLE_SIZE: usize = ${offset};

${table(`One table for each prime: ${PRIMES.join(', ')}.`, 'TABLES', 'i16', rowsOf(values, 16))}
${table(
  'Pairs of reciprocals, 3 limbs of the pairs of cofactors mod q, 3 limbs of P mod q.',
  'RECONSTRUCTION',
  'i16',
  rowsOf(reconstructionTable(), 16),
)}`;
}

const entry =
  (base: string) =>
  (k: number): Twiddle => [
    `v128.load(table, ${base} + ${32 * k})`,
    `v128.load(table, ${base} + ${32 * k + 16})`,
  ];

/** What a transform reads its eight vectors from: constants, and vector i as an expression. */
interface Input {
  readonly constants: readonly [name: string, value: string][];
  vector(i: number): string;
}

const LANES_INPUT: Input = { constants: [], vector: (i) => `v128.load(a, ${16 * i})` };
const LIMBS_INPUT: Input = {
  constants: [
    ['w1', 'v128.load(table, T_LIMB1)'],
    ['companion1', 'v128.load(table, T_LIMB1 + 16)'],
    ['w2', 'v128.load(table, T_LIMB2)'],
    ['companion2', 'v128.load(table, T_LIMB2 + 16)'],
  ],
  vector(i) {
    const limbs = [0, 128, 256].map((at) => `v128.load(a, ${at + 16 * i})`);
    return `fromLimbs(${limbs.join(', ')}, w1, w2, companion1, companion2, p)`;
  },
};
const SUMS_INPUT: Input = {
  constants: [
    ['low', 'v128.load(table, T_P_LOW)'],
    ['inverseLow', 'v128.load(table, T_INVERSE_LOW)'],
  ],
  vector(i) {
    const halves = [0, 16].map((at) => `mred(v128.load(a, ${32 * i + at}), low, inverseLow)`);
    return `i16x8.narrow_i32x4_s(${halves.join(', ')})`;
  },
};

/** The lines without some of their reductions. */
function withoutIdle(lines: readonly string[], idle: readonly number[]): string[] {
  let count = 0;
  const kept = lines.map((line) =>
    line.includes('= reduceLane(') && idle.includes(count++)
      ? line.replace(/reduceLane\((\w+), one, p\)/, '$1')
      : line,
  );
  return kept.filter((line) => !/^(\w+) = \1;$/.test(line));
}

/** A function of the module: `lines` work on x0 to x7. */
function transform(name: string, doc: string, input: Input, lines: readonly string[]): string {
  const constants = [
    ['p', 'v128.load(table, T_P)'],
    ['one', 'v128.load(table, T_ONE)'],
  ];
  const declared = [...constants, ...input.constants];
  const all = [
    ...declared.map(([constant, value]) => `const ${constant} = ${value};`),
    ...['t', 'w', 'c'].map((variable) => `let ${variable}: v128;`),
    ...LANES.map((i) => `let ${x(i)} = ${input.vector(i)};`),
    ...withoutIdle(lines, IDLE_REDUCTIONS[name] ?? []),
  ];
  return `/** ${doc} */
export function ${name}(out: usize, a: usize, table: usize): void {
${indent(all, 2)}
}`;
}

function forward(name: string, doc: string, input: Input, set: ReadonlySet<number>): string {
  const vectors = entry('T_FORWARD_VECTORS');
  return transform(name, doc, input, [
    ...forwardLevels(entry('T_FORWARD'), (k) => set.has(k)),
    ...transpose(),
    ...forwardLevels(vectors, (k) => set.has(7 + k)),
    'w = v128.load(table, T_FACTOR);',
    'c = v128.load(table, T_FACTOR + 16);',
    ...LANES.map((i) => `v128.store(out, mulmod(${x(i)}, w, c, p), ${16 * i});`),
  ]);
}

function inverse(name: string, doc: string, input: Input, untwist: string): string {
  const set = INVERSE_REDUCES;
  const vectors = entry('T_INVERSE_VECTORS');
  /** Loads a twiddle into w and c. */
  const load = ([w, c]: Twiddle) => [`w = ${w};`, `c = ${c};`];
  return transform(name, doc, input, [
    ...[0, 2, 4, 6].flatMap((i) => plainButterfly(i, i + 1, false)),
    ...load(entry('T_INVERSE')(1)),
    ...[0, 4].flatMap((h) => [
      ...plainButterfly(h, h + 2, true),
      ...butterfly(h + 1, h + 3, ['w', 'c'], set.has(2)),
    ]),
    ...plainButterfly(0, 4, true),
    ...[1, 2, 3].flatMap((i) => [
      ...load(entry('T_INVERSE')(i - 1)),
      ...butterfly(i, i + 4, ['w', 'c'], set.has(4)),
    ]),
    ...transpose(),
    ...inverseLevels(vectors, (_, level) => set.has(8 << level)),
    ...LANES.flatMap((i) => [
      ...load(entry(untwist)(i)),
      `v128.store(out, mulmod(${x(i)}, w, c, p), ${16 * i});`,
    ]),
  ]);
}

export function labradorPassesSource(): string {
  const passes = [
    forward(
      'forwardSmall',
      'Lanes of at most SMALL_MAX in magnitude to NTT form.',
      LANES_INPUT,
      SMALL_REDUCES,
    ),
    forward('forwardAny', 'Any lanes to NTT form.', LANES_INPUT, FORWARD_REDUCES),
    forward(
      'forwardLimbs',
      'Three vectors of limbs, i16[3][64], to NTT form.',
      LIMBS_INPUT,
      FORWARD_REDUCES,
    ),
    inverse(
      'inverseOfForm',
      'NTT form to residues times the inverse cofactor.',
      LANES_INPUT,
      'T_UNTWIST_FORM',
    ),
    inverse(
      'inverseOfSums',
      'Sums of reduced products, i32[64], to residues times the inverse cofactor.',
      SUMS_INPUT,
      'T_UNTWIST_SUMS',
    ),
  ];
  return `import { ${TRANSPOSE_IMPORTS} } from '../shared/lanes';
import { mulmod } from '../shared/zq';
import { fromLimbs, mred, reduceLane } from './lanes';
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

${passes.join('\n\n')}
`;
}
