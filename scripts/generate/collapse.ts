/**
 * Writes `assembly/labrador/jlSums.gen.ts`: the additions of jlCollapse.ts, column by column and
 * without loops over the tables, so that every address but one is a constant.
 */
const OCTETS = Array.from({ length: 17 }, (_, k) => k);
/** Bytes of an entry: two i64 for each lift. */
const entryOf = (lifts: number) => 16 * lifts;

/** What octet k adds to a column and to the one 32 above. */
function additions(k: number, lifts: number): string[] {
  const at = (offset: number) => `SUBSETS + ${256 * entryOf(lifts) * k + offset}`;
  return [
    `a = <usize>load<u16>(index, ${128 * k});`,
    `b = <usize>load<u16>(index, ${128 * k + 64});`,
    `low = i64x2.add(i64x2.add(low, v128.load(a, ${at(0)})), v128.load(b, ${at(16)}));`,
    `high = i64x2.sub(i64x2.add(high, v128.load(b, ${at(0)})), v128.load(a, ${at(16)}));`,
    ...(lifts === 3
      ? [
          `third = i64x2.add(third, v128.load(a, ${at(32)}));`,
          `thirdAbove = i64x2.add(thirdAbove, v128.load(b, ${at(32)}));`,
        ]
      : []),
  ];
}

function sums(name: string, doc: string, lifts: number): string {
  const names = ['low', 'high', 'third', 'thirdAbove'].slice(0, lifts === 3 ? 4 : 2);
  const lines = [
    ...names.map((name) => `let ${name} = i64x2.splat(0);`),
    'let a: usize;',
    'let b: usize;',
    ...OCTETS.flatMap((k) => additions(k, lifts)),
    ...names.map((name, i) => `v128.store(sums, ${name}, ${16 * i});`),
  ];
  return `/** ${doc} */
export function ${name}(sums: usize): void {
  for (let index: usize = INDEX; index < INDEX + 64; index += 2, sums += ${16 * names.length}) {
${lines.map((line) => `    ${line}`).join('\n')}
  }
}`;
}

export function collapseSource(): string {
  const bytes = OCTETS.length * 256 * entryOf(3);
  return `/**
 * Subset sums of omega, an entry for each of the 256 values of eight bits: i64[17][256][2 lifts]:
 * lifts 0 and 1 of G_0, lifts 0 and 1 of G_1, then, if there are three, lift 2 of G_0 and G_1.
 */
export const SUBSETS: usize = memory.data(${bytes}, 64);
/** Where the entries of a polynomial stand in their tables, in bytes, u16[17][64]. */
export const INDEX: usize = memory.data(2176, 64);

${sums('sumTwo', 'H of two lifts, i64[32][2][2]: at column c, and at column 32 + c.', 2)}

${sums(
  'sumThree',
  'The same, then lift 2 of G_0 and G_1 at column c, and at column 32 + c: i64[32][4][2].',
  3,
)}
`;
}
