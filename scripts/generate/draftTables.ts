/**
 * Writes `assembly/falcon/draftTables.gen.ts`: the Gaussian tables of the FN-DSA draft profile, as
 * rust-fn-dsa 0.4.0 has them (docs/references.md). All of them follow from formulas:
 *
 *   base sampler     round(2^79 P(x > k)), k = 0..17, for x >= 0 with weights exp(-x^2 / 2 s^2),
 *                    s = 1.8205
 *   key generation   round(2^15 P(|x| > k)), k = 0, 1, .. while it is not 0, for all integers x,
 *                    s = 1.17 sqrt(12289 / 2n)
 */
import { rowsOf, table } from './table.ts';

const BITS = 400n;
const ONE = 1n << BITS;
/** Weights from here on are below every table's last digit. */
const VALUES = 60;

/** exp(-numerator / denominator) in fixed point: the series of a small part, squared again. */
function expMinus(numerator: bigint, denominator: bigint): bigint {
  let halvings = 0n;
  while (numerator > denominator << halvings) halvings++;
  let term = ONE;
  let sum = ONE;
  for (let i = 1n; term !== 0n; i++) {
    term = (term * numerator) / ((denominator * i) << halvings);
    sum += i % 2n === 1n ? -term : term;
  }
  for (let i = 0n; i < halvings; i++) sum = (sum * sum) >> BITS;
  return sum;
}

/** exp(-x^2 / (2 s^2)) for x = 0, 1, ..; s^2 is a fraction. */
const weights = (numerator: bigint, denominator: bigint): bigint[] =>
  Array.from({ length: VALUES }, (_, x) => expMinus(BigInt(x * x) * denominator, 2n * numerator));

const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n);

/** round(2^bits part / whole) */
const scaled = (part: bigint, whole: bigint, bits: bigint): bigint =>
  ((part << (bits + 1n)) / whole + 1n) >> 1n;

/** The base sampler's entries, 79 bits each. */
export function baseEntries(): bigint[] {
  const w = weights(18205n * 18205n, 10n ** 8n);
  return Array.from({ length: 18 }, (_, k) => scaled(sum(w.slice(k + 1)), sum(w), 79n));
}

/** The entries of key generation, 15 bits each. */
export function keyEntries(n: bigint): bigint[] {
  const w = weights(117n * 117n * 12289n, 10_000n * 2n * n);
  const whole = 2n * sum(w) - w[0]!;
  const entries = w.map((_, k) => scaled(2n * sum(w.slice(k + 1)), whole, 15n));
  return entries.slice(0, entries.indexOf(0n));
}

export function draftTablesSource(): string {
  const base = baseEntries();
  const hex = (x: number | bigint) => `0x${x.toString(16)}`;
  const ofKeys = (n: bigint) => {
    const entries = keyEntries(n);
    return `/** Entries of the next table. */
export const DRAFT_GAUSS_${n}_ENTRIES: i32 = ${entries.length};
${table(`2^15 P(|x| > k), n = ${n}.`, `DRAFT_GAUSS_${n}`, 'u16', rowsOf(entries, 9))}`;
  };
  const low = rowsOf(
    base.map((x) => x & ((1n << 64n) - 1n)),
    4,
    hex,
  );
  const high = rowsOf(
    base.map((x) => x >> 64n),
    9,
    hex,
  );
  return `${table('Base sampler, 2^79 P(x > k): bits 0..63.', 'DRAFT_BASE_LOW', 'u64', low)}
${table('Bits 64..78.', 'DRAFT_BASE_HIGH', 'u64', high)}
${ofKeys(512n)}
${ofKeys(1024n)}`;
}
