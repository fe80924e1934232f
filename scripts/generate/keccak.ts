/**
 * Writes `assembly/shared/keccakF.gen.ts`: Keccak-f[1600] (FIPS 202, section 3.3) as straight-line
 * code, two rounds per turn, once on 25 u64 locals and once on 25 v128 locals that hold two states
 * side by side.
 *
 * Straight-line, because AssemblyScript has no arrays of locals: a loop over lanes would go through
 * memory and takes 2-3 times as long. Two rounds per turn, because the second can write back into
 * the names the first has read.
 *
 * Scalar WebAssembly has no "and not", so the scalar version keeps lanes 1, 2, 8, 12, 17 and 20
 * complemented (the Keccak team's "lane complementing"): chi then needs one NOT per row instead of
 * five. SIMD has v128.andnot and needs no trick.
 */

/** Rotation of lane x + 5y by rho, FIPS 202 section 3.2.2. */
function rhoOffsets(): number[] {
  const offsets = new Array<number>(25).fill(0);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t++) {
    offsets[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return offsets;
}

/**
 * Round constants of iota, FIPS 202 section 3.2.5: the bits of an 8-bit LFSR at positions 2^j - 1.
 */
export function roundConstants(): bigint[] {
  const constants: bigint[] = [];
  let lfsr = 1;
  for (let round = 0; round < 24; round++) {
    let rc = 0n;
    for (let j = 0; j < 7; j++) {
      if (lfsr & 1) rc |= 1n << BigInt(2 ** j - 1);
      lfsr = (lfsr << 1) ^ (lfsr & 0x80 ? 0x171 : 0);
    }
    constants.push(rc);
  }
  return constants;
}

const RHO = rhoOffsets();
const COMPLEMENTED = new Set([1, 2, 8, 12, 17, 20]);

/** How one flavour (scalar or two-way) spells the operations. */
interface Flavour {
  type: string;
  xor(a: string, b: string): string;
  rotl(a: string, bits: number): string;
  /** The five outputs of chi for a row of five names; may declare a helper in `lines`. */
  chi(row: string[], y: number, lines: string[]): string[];
  roundConstant(round: number): string;
}

const scalar: Flavour = {
  type: 'u64',
  xor: (a, b) => `(${a} ^ ${b})`,
  rotl: (a, bits) => `rotl<u64>(${a}, ${bits})`,
  // With the six lanes complemented, every row of chi is a mix of OR and AND with one NOT (two
  // forms of it in row 0 and 1).
  chi([b0, b1, b2, b3, b4], y, lines) {
    const not = (name: string) => {
      lines.push(`const not_${name} = ~${name};`);
      return `not_${name}`;
    };
    if (y === 0) {
      const n2 = not(b2!);
      return [
        `${b0} ^ (${b1} | ${b2})`,
        `${b1} ^ (${n2} | ${b3})`,
        `${b2} ^ (${b3} & ${b4})`,
        `${b3} ^ (${b4} | ${b0})`,
        `${b4} ^ (${b0} & ${b1})`,
      ];
    }
    if (y === 1) {
      const n4 = not(b4!);
      return [
        `${b0} ^ (${b1} | ${b2})`,
        `${b1} ^ (${b2} & ${b3})`,
        `${b2} ^ (${b3} | ${n4})`,
        `${b3} ^ (${b4} | ${b0})`,
        `${b4} ^ (${b0} & ${b1})`,
      ];
    }
    const n = not(y === 4 ? b1! : b3!);
    if (y === 2) {
      return [
        `${b0} ^ (${b1} | ${b2})`,
        `${b1} ^ (${b2} & ${b3})`,
        `${b2} ^ (${n} & ${b4})`,
        `${n} ^ (${b4} | ${b0})`,
        `${b4} ^ (${b0} & ${b1})`,
      ];
    }
    if (y === 3) {
      return [
        `${b0} ^ (${b1} & ${b2})`,
        `${b1} ^ (${b2} | ${b3})`,
        `${b2} ^ (${n} | ${b4})`,
        `${n} ^ (${b4} & ${b0})`,
        `${b4} ^ (${b0} | ${b1})`,
      ];
    }
    return [
      `${b0} ^ (${n} & ${b2})`,
      `${n} ^ (${b2} | ${b3})`,
      `${b2} ^ (${b3} & ${b4})`,
      `${b3} ^ (${b4} | ${b0})`,
      `${b4} ^ (${b0} & ${b1})`,
    ];
  },
  roundConstant: (round) => `load<u64>(rc, ${8 * round})`,
};

const twoWay: Flavour = {
  type: 'v128',
  xor: (a, b) => `v128.xor(${a}, ${b})`,
  // Shifts also for the byte-wise rotations: V8 rebuilds a shuffle mask at every use.
  rotl: (a, bits) =>
    bits === 1
      ? `v128.or(i64x2.add(${a}, ${a}), i64x2.shr_u(${a}, 63))`
      : `v128.or(i64x2.shl(${a}, ${bits}), i64x2.shr_u(${a}, ${64 - bits}))`,
  // v128.andnot(p, q) is p & ~q
  chi: (row) =>
    row.map((b, x) => `v128.xor(${b}, v128.andnot(${row[(x + 2) % 5]}, ${row[(x + 1) % 5]}))`),
  roundConstant: (round) => `v128.load64_splat(rc, ${8 * round})`,
};

/**
 * One round from the lanes `from0..24` to `to0..24`; `declare` says whether the targets are new
 * names.
 */
function round(flavour: Flavour, from: string, to: string, declare: boolean, index: number) {
  const { xor, rotl } = flavour;
  const lines: string[] = [];
  const lane = (i: number) => `${from}${i}`;
  for (let x = 0; x < 5; x++) {
    const [a0, a1, a2, a3, a4] = [0, 5, 10, 15, 20].map((y) => lane(x + y)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    lines.push(`const c${x} = ${xor(a0, xor(xor(a1, a2), xor(a3, a4)))};`);
  }
  for (let x = 0; x < 5; x++) {
    lines.push(`const d${x} = ${xor(`c${(x + 4) % 5}`, rotl(`c${(x + 1) % 5}`, 1))};`);
  }
  const sources = new Array<number>(25);
  for (let x = 0; x < 5; x++) {
    for (let y = 0; y < 5; y++) sources[y + 5 * ((2 * x + 3 * y) % 5)] = x + 5 * y;
  }
  for (let y = 0; y < 5; y++) {
    const row: string[] = [];
    for (let x = 0; x < 5; x++) {
      const source = sources[x + 5 * y]!;
      const mixed = xor(lane(source), `d${source % 5}`);
      lines.push(`const b${x + 5 * y} = ${RHO[source] ? rotl(mixed, RHO[source]) : mixed};`);
      row.push(`b${x + 5 * y}`);
    }
    const results = flavour.chi(row, y, lines);
    for (const [x, value] of results.entries()) {
      const last = x + y === 0 ? xor(`(${value})`, flavour.roundConstant(index)) : value;
      lines.push(`${declare ? 'const ' : ''}${to}${x + 5 * y} = ${last};`);
    }
  }
  return lines;
}

function permutation(name: string, flavour: Flavour, stride: number, complement: boolean): string {
  const isVector = flavour.type === 'v128';
  const load = (i: number) =>
    isVector ? `v128.load(state, ${stride * i})` : `load<u64>(state, ${stride * i})`;
  const store = (i: number, value: string) =>
    isVector
      ? `v128.store(state, ${value}, ${stride * i})`
      : `store<u64>(state, ${value}, ${stride * i})`;
  const flip = (i: number) => (complement && COMPLEMENTED.has(i) ? '~' : '');
  const out: string[] = [`export function ${name}(state: usize): void {`];
  for (let i = 0; i < 25; i++) out.push(`  let a${i} = ${flip(i)}${load(i)};`);
  out.push('  for (let rc: usize = RC, end: usize = RC + 192; rc < end; rc += 16) {');
  // The even round declares e0..e24; the odd one reads them and writes a0..a24, which it no longer
  // needs.
  const even = round(flavour, 'a', 'e', true, 0);
  const odd = round(flavour, 'e', 'a', false, 1).map((line) =>
    line.replace(/\b(not_b|b|c|d)(\d+)\b/g, '$1$2_'),
  );
  for (const line of [...even, ...odd]) out.push(`    ${line}`);
  out.push('  }');
  for (let i = 0; i < 25; i++) out.push(`  ${store(i, `${flip(i)}a${i}`)};`);
  out.push('}');
  return out.join('\n');
}

export function keccakSource(): string {
  const constants = roundConstants().map((rc) => `0x${rc.toString(16)}`);
  return `// Round constants of iota.
const RC: usize = memory.data<u64>([
${constants.map((c) => `  ${c},`).join('\n')}
]);

/**
 * Keccak-f[1600] on one state.
 *
 * Spec:   FIPS 202, section 3.3
 * Shape:  state: u64[25], little-endian lanes x + 5y
 * Memory: none beyond state
 * Secret: state (straight-line)
 */
${permutation('keccakF', scalar, 8, true)}

/**
 * Keccak-f[1600] on two states at once.
 *
 * Spec:   FIPS 202, section 3.3
 * Shape:  state: u64[25][2], lane i of both states side by side
 * Memory: none beyond state
 * Secret: state (straight-line)
 */
${permutation('keccakF2', twoWay, 16, false)}
`;
}
