/**
 * Writes the constant tables of signing: the roots of unity of the FFT, the table of the base
 * sampler.
 *
 * Roots. Slot h + i (h = 1, 2, .. 256; 0 <= i < h) holds exp(I * pi * bitrev10(2h + i) / 1024), so
 *   1/4 turn, 1/8 and 5/8 ... in the order in which the FFT's levels use them. Each part is the
 *   double nearest to the true value: sine and cosine are summed in 200-bit fixed point, far finer
 *   than the rounding.
 */
import { rowsOf, table } from './table.ts';

const BITS = 200n;
const ONE = 1n << BITS;

/**
 * The entries of Falcon's reverse cumulative distribution table (round-3 specification, table 3.1),
 * 72 bits each.
 */
export const RCDT: readonly bigint[] = [
  3024686241123004913666n,
  1564742784480091954050n,
  636254429462080897535n,
  199560484645026482916n,
  47667343854657281903n,
  8595902006365044063n,
  1163297957344668388n,
  117656387352093658n,
  8867391802663976n,
  496969357462633n,
  20680885154299n,
  638331848991n,
  14602316184n,
  247426747n,
  3104126n,
  28824n,
  198n,
  1n,
];

/** atan(1/x) in fixed point, by its series. */
function arctanInverse(x: bigint): bigint {
  let term = ONE / x;
  let sum = term;
  for (let k = 1n; term !== 0n; k++) {
    term /= -x * x;
    sum += term / (2n * k + 1n);
  }
  return sum;
}

/** pi in fixed point (Machin, 1706). */
const PI = 4n * (4n * arctanInverse(5n) - arctanInverse(239n));

/**
 * The double nearest to x / 2^200. BigInt to Number rounds to nearest, the division is by a power
 * of two.
 */
function toDouble(x: bigint): number {
  return Number(x) / 2 ** Number(BITS);
}

/** Cosine and sine of pi * k / 1024, each the nearest double. */
export function rootOfUnity(k: number): [cos: number, sin: number] {
  const angle = (PI * BigInt(k)) / 1024n;
  let cos = 0n;
  let sin = 0n;
  let term = ONE; // angle^j / j!
  for (let j = 0n; term !== 0n; j++) {
    const signed = j % 4n < 2n ? term : -term;
    if (j % 2n === 0n) cos += signed;
    else sin += signed;
    term = (term * angle) / ONE / (j + 1n);
  }
  return [toDouble(cos), toDouble(sin)];
}

function bitReverse10(k: number): number {
  let r = 0;
  for (let bit = 0; bit < 10; bit++) r |= ((k >> bit) & 1) << (9 - bit);
  return r;
}

/** The roots in the FFT's order, slot 0 unused. */
export function roots(): { re: number[]; im: number[] } {
  const re = [0];
  const im = [0];
  for (let h = 1; h <= 256; h *= 2) {
    for (let i = 0; i < h; i++) {
      const [cos, sin] = rootOfUnity(bitReverse10(2 * h + i));
      re.push(cos);
      im.push(sin);
    }
  }
  return { re, im };
}

function double(x: number | bigint): string {
  return Number.isInteger(x) ? Number(x).toFixed(1) : String(x);
}

export function fftTablesSource(): string {
  const { re, im } = roots();
  return `// The roots of unity of the FFT, nearest doubles.
// Slot h + i (h = 1, 2, .. 256; i < h): exp(I * pi * bitrev10(2h + i) / 1024). Slot 0 is not used.

${table('Real parts, f64[512].', 'ROOT_RE', 'f64', rowsOf(re, 4, double))}
${table('Imaginary parts, f64[512].', 'ROOT_IM', 'f64', rowsOf(im, 4, double))}`;
}

export function samplerTablesSource(): string {
  const mask = (1n << 31n) - 1n;
  const low = RCDT.map((x) => x & mask);
  const middle = RCDT.map((x) => (x >> 31n) & mask);
  const high = RCDT.map((x) => x >> 62n);
  const hex = (x: number | bigint) => `0x${x.toString(16)}`;
  const zeroFrom = (limbs: bigint[]) => `u32[18]; zero from entry ${limbs.indexOf(0n)} on.`;
  const limbTable = (doc: string, name: string, limbs: bigint[]) =>
    table(doc, name, 'u32', rowsOf(limbs, 6, hex));
  return `// The base sampler's 18 entries of 72 bits (Falcon round 3, table 3.1),
// cut into limbs of 31, 31 and 10 bits, least significant first.

${limbTable('Bits 0..30, u32[18].', 'RCDT_LOW', low)}
${limbTable(`Bits 31..61, ${zeroFrom(middle)}`, 'RCDT_MIDDLE', middle)}
${limbTable(`Bits 62..71, ${zeroFrom(high)}`, 'RCDT_HIGH', high)}`;
}
