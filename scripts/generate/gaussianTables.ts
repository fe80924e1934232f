/**
 * Writes `src/aggregate/gaussianTables.gen.ts`: the integer frequencies of the bundle's coder.
 *
 * For k = 0..2047, with w(k) = exp(-k^2 / (2 sigma^2)) and W = w(0) + 2 (w(1) + .. + w(2047)):
 *
 *   f(k) = 1 + round((2^24 - 4095) * w(k) / W)         for k >= 1
 *   f(0) = 2^24 - 2 (f(1) + .. + f(2047))
 *
 * so that the 4095 values -2047..2047 share exactly 2^24, each at least 1. All arithmetic is on
 * big integers; the script refuses to write a value whose rounding its precision cannot decide.
 */
const MAX = 2047;
const TOTAL = 1n << 24n;
/** Fixed point: a real v is kept as floor(v * 2^PRECISION). */
const PRECISION = 320n;
const ONE = 1n << PRECISION;
/** Every w(k)/W below is good to far better than this many units of 2^-PRECISION. */
const ERROR = 1n << 40n;

/** sigma of each set as the specification prints it (table 3.3), in units of 1e-9. */
const SIGMA_E9 = { falcon512: 165_736_617_183n, falcon1024: 168_388_571_447n };

/** exp(-numerator/denominator) for an argument in (0, 1), by its alternating series. */
function expMinus(numerator: bigint, denominator: bigint): bigint {
  let term = ONE;
  let sum = ONE;
  for (let i = 1n; term !== 0n; i++) {
    term = (term * numerator) / (denominator * i);
    sum += i % 2n === 1n ? -term : term;
  }
  return sum;
}

/** w(0), .., w(2047) by w(k+1) = w(k) r^(2k+1), r = exp(-1 / (2 sigma^2)). */
function weights(sigmaE9: bigint): bigint[] {
  const r = expMinus(10n ** 18n, 2n * sigmaE9 * sigmaE9);
  const rSquared = (r * r) >> PRECISION;
  const w = [ONE];
  let ratio = r;
  for (let k = 0; k < MAX; k++) {
    w.push((w[k]! * ratio) >> PRECISION);
    ratio = (ratio * rSquared) >> PRECISION;
  }
  return w;
}

export function frequencies(sigmaE9: bigint): number[] {
  const w = weights(sigmaE9);
  const sum = 2n * w.reduce((a, b) => a + b) - w[0]!;
  const spread = TOTAL - BigInt(2 * MAX + 1);
  const f = w.map((weight, k) => {
    const scaled = (spread * weight * ONE) / sum;
    const rounded = (scaled + ONE / 2n) >> PRECISION;
    const toBoundary = ((scaled + ONE / 2n) % ONE) - ERROR;
    if (k > 0 && (toBoundary < 0n || toBoundary > ONE - 2n * ERROR)) {
      throw new Error(`the rounding of f(${k}) is not decided at this precision`);
    }
    return 1 + Number(rounded);
  });
  f[0] = Number(TOTAL) - 2 * f.slice(1).reduce((a, b) => a + b);
  return f;
}

function lines(values: readonly number[]): string {
  let text = '';
  let line = ' ';
  for (const value of values) {
    if (line.length + String(value).length + 2 > 100) {
      text += `${line}\n`;
      line = ' ';
    }
    line += ` ${value},`;
  }
  return `${text}${line}\n`;
}

export function gaussianTablesSource(): string {
  const table = (name: string, set: keyof typeof SIGMA_E9) =>
    `export const ${name}: readonly number[] = [\n${lines(frequencies(SIGMA_E9[set]))}];\n`;
  return `/**
 * Frequencies f(0), .., f(2047) of |x| for a coefficient x of s2, out of 2^24 shared by the 4095
 * values -2047..2047; f(-x) = f(x). The formula is in the script and in docs/bundle-format.md.
 */

/** sigma = 165.736617183 */
${table('FREQUENCIES_512', 'falcon512')}
/** sigma = 168.388571447 */
${table('FREQUENCIES_1024', 'falcon1024')}`;
}
