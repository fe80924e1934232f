/**
 * Writes `src/aggregate/gaussianTables.gen.ts`: the integer frequencies of the bundle's coder and
 * of the proof's, out of 2^24 each.
 *
 * Bundle (docs/bundle-format.md, 3.1): for k = 0..2047, with w(k) = exp(-k^2 / (2 sigma^2)) and W =
 * w(0) + 2 (w(1) + .. + w(2047)),
 *
 *   f(k) = 1 + round((2^24 - 4095) * w(k) / W)         for k >= 1
 *   f(0) = 2^24 - 2 (f(1) + .. + f(2047))
 *
 * Proof (docs/protocol.md, 11.2): for j = 0..7 and h = 0..255, with sigma_j = 8 * 2^(j/8), w(h) =
 * exp(-(h + 1/2)^2 / (2 sigma_j^2)) and W = 2 (w(0) + .. + w(255)),
 *
 *   f_j(h) = 1 + round((2^24 - 512) * w(h) / W)        for h >= 1
 *   f_j(0) = 2^23 - (f_j(1) + .. + f_j(255))
 *
 * All arithmetic is on big integers; the script refuses to write a value whose rounding its
 * precision cannot decide.
 */
const TOTAL = 1n << 24n;
/** Fixed point: a real v is kept as floor(v * 2^PRECISION). */
const PRECISION = 320n;
const ONE = 1n << PRECISION;
/** Every w/W below is good to far better than this many units of 2^-PRECISION. */
const ERROR = 1n << 40n;

/** sigma of each set as the specification prints it (table 3.3), in units of 1e-9. */
const SIGMA_E9 = { falcon512: 165_736_617_183n, falcon1024: 168_388_571_447n };
/** Values |k| = 0..2047 of a bundle, h = 0..255 of a proof. */
const BUNDLE_VALUES = 2048;
const PROOF_VALUES = 256;
const PROOF_TABLES = 8;

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

/** `count` weights from 1 on; each is the one before times a ratio, and so is each ratio. */
function weights(count: number, firstRatio: bigint, step: bigint): bigint[] {
  const w = [ONE];
  for (let ratio = firstRatio; w.length < count; ratio = (ratio * step) >> PRECISION) {
    w.push((w.at(-1)! * ratio) >> PRECISION);
  }
  return w;
}

/** 1 + round(spread w/sum) of every weight but the first; all of them add up to 2^23. */
function frequenciesOf(w: readonly bigint[], sum: bigint, spread: bigint): number[] {
  const f = w.map((weight, k) => {
    const scaled = (spread * weight * ONE) / sum;
    const rounded = (scaled + ONE / 2n) >> PRECISION;
    const toBoundary = ((scaled + ONE / 2n) % ONE) - ERROR;
    if (k > 0 && (toBoundary < 0n || toBoundary > ONE - 2n * ERROR)) {
      throw new Error(`the rounding of f(${k}) is not decided at this precision`);
    }
    return 1 + Number(rounded);
  });
  f[0] = Number(TOTAL / 2n) - f.slice(1).reduce((a, b) => a + b);
  return f;
}

/** f(0), .., f(2047) of a bundle: w(k+1) = w(k) r^(2k+1), r = exp(-1 / (2 sigma^2)). */
export function frequencies(sigmaE9: bigint): number[] {
  const r = expMinus(10n ** 18n, 2n * sigmaE9 * sigmaE9);
  const w = weights(BUNDLE_VALUES, r, (r * r) >> PRECISION);
  const sum = 2n * w.reduce((a, b) => a + b) - ONE;
  const f = frequenciesOf(w, sum, TOTAL - BigInt(2 * BUNDLE_VALUES - 1));
  f[0]! *= 2; // zero has no negative to share its half with
  return f;
}

/** floor(sqrt(x)), by Newton's method from above. */
function squareRoot(x: bigint): bigint {
  for (let root = x; ; ) {
    const next = (root + x / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/**
 * f_j(0), .., f_j(255) of a proof: w(h+1) = w(h) r^(h+1), r = exp(-2 / (2 sigma_j^2)); a factor
 * that all weights share does not matter.
 */
export function proofFrequencies(j: number): number[] {
  // 2 sigma_j^2 = 128 * 2^(j/4)
  const fourthRoot = squareRoot(squareRoot(2n * ONE * ONE) * ONE);
  let power = ONE;
  for (let i = 0; i < j; i++) power = (power * fourthRoot) >> PRECISION;
  const r = expMinus(2n * ONE, 128n * power);
  const w = weights(PROOF_VALUES, r, r);
  const sum = 2n * w.reduce((a, b) => a + b);
  return frequenciesOf(w, sum, TOTAL - BigInt(2 * PROOF_VALUES));
}

function lines(values: readonly number[], indent = ' '): string {
  let text = '';
  let line = indent;
  for (const value of values) {
    if (line.length + String(value).length + 2 > 100) {
      text += `${line}\n`;
      line = indent;
    }
    line += ` ${value},`;
  }
  return `${text}${line}\n`;
}

/** The first value, then how much each differs from the one before. */
const differences = (values: readonly number[]): number[] =>
  values.map((value, i) => value - (values[i - 1] ?? 0));

export function gaussianTablesSource(): string {
  const table = (name: string, set: keyof typeof SIGMA_E9) =>
    `export const ${name}: readonly number[] = /* @__PURE__ */ sums(/* @__PURE__ */ sums([\n${lines(
      differences(differences(frequencies(SIGMA_E9[set]))),
    )}]));\n`;
  const ofProof = Array.from({ length: PROOF_TABLES }, (_, j) => {
    return `  [\n${lines(proofFrequencies(j), '   ')}  ],\n`;
  });
  return `/** Every value and all before it, together. */
function sums(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}

/**
 * Frequencies f(0), .., f(2047) of |x| for a coefficient x of s2, out of 2^24 shared by the 4095
 * values -2047..2047; f(-x) = f(x). The formula is in the script and in docs/bundle-format.md. As
 * second differences, which are short.
 */

/** sigma = 165.736617183 */
${table('FREQUENCIES_512', 'falcon512')}
/** sigma = 168.388571447 */
${table('FREQUENCIES_1024', 'falcon1024')}
/**
 * Frequencies f_j(0), .., f_j(255) of the high parts of a proof's values, out of 2^24 shared by
 * -256..255; f_j(-1-h) = f_j(h), j = 0..7. The formula is in the script and in docs/protocol.md.
 */
export const PROOF_FREQUENCIES: readonly (readonly number[])[] = [
${ofProof.join('')}];
`;
}
