/**
 * Writes `assembly/falcon/keygenTables.gen.ts`: the small primes of key generation and its Gaussian
 * table.
 *
 * Primes: the 308 largest p < 2^31 with p = 1 mod 2048, in decreasing order; for each
 *   g  the smallest x^((p-1)/2048), x = 2, 3, .., whose order is exactly 2048
 *   s  (p_0 p_1 .. p_(u-1))^-1 mod p_u
 * Gaussian: sigma^2 = 1.17^2 * 12289 / 2048; the first word is P(x = 0), the k-th P(x > k | x > 0),
 * scaled by 2^63 and rounded. The reference's table (version 20211101) was made in less than full
 * precision and differs from the formula in its last digits, so its words are listed here and held
 * against the formula to 1 part in 2^40 (or one unit).
 */
import { rowsOf, table } from './table.ts';

const COUNT = 308;

function power(base: bigint, exponent: bigint, p: bigint): bigint {
  let result = 1n;
  for (base %= p; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % p;
    base = (base * base) % p;
  }
  return result;
}

/** Miller-Rabin with bases 2, 3, 5, 7: exact below 3.2 * 10^9. */
function isPrime(p: bigint): boolean {
  let odd = p - 1n;
  let twos = 0;
  while ((odd & 1n) === 0n) {
    odd >>= 1n;
    twos++;
  }
  return [2n, 3n, 5n, 7n].every((base) => {
    let x = power(base, odd, p);
    if (x === 1n || x === p - 1n) return true;
    for (let i = 1; i < twos; i++) {
      x = (x * x) % p;
      if (x === p - 1n) return true;
    }
    return false;
  });
}

function rootOf(p: bigint): bigint {
  for (let x = 2n; ; x++) {
    const g = power(x, (p - 1n) / 2048n, p);
    if (power(g, 1024n, p) === p - 1n) return g;
  }
}

interface Prime {
  p: bigint;
  g: bigint;
  s: bigint;
}

function primes(): Prime[] {
  const found: Prime[] = [];
  let product = 1n;
  for (let p = (1n << 31n) - 2047n; found.length < COUNT; p -= 2048n) {
    if (!isPrime(p)) continue;
    found.push({ p, g: rootOf(p), s: power(product, p - 2n, p) });
    product *= p;
  }
  return found;
}

/** The reference's words: P(x = 0), then P(x > k | x > 0) for k = 1..26, times 2^63. */
const GAUSS = [
  1283868770400643928n,
  6416574995475331444n,
  4078260278032692663n,
  2353523259288686585n,
  1227179971273316331n,
  575931623374121527n,
  242543240509105209n,
  91437049221049666n,
  30799446349977173n,
  9255276791179340n,
  2478152334826140n,
  590642893610164n,
  125206034929641n,
  23590435911403n,
  3948334035941n,
  586753615614n,
  77391054539n,
  9056793210n,
  940121950n,
  86539696n,
  7062824n,
  510971n,
  32764n,
  1862n,
  94n,
  4n,
  0n,
];

/**
 * exp(-x^2 / (2 sigma^2)) = exp(-x^2 * 10^4 * 1024 / (117^2 * 12289)), in fixed point with
 * 200 bits.
 */
function gaussianWeight(x: bigint): bigint {
  const one = 1n << 200n;
  const numerator = x * x * 10_000n * 1024n;
  const denominator = 117n * 117n * 12289n;
  const halvings = 10n;
  let term = one;
  let sum = one;
  for (let i = 1n; term !== 0n; i++) {
    term = (term * numerator) / ((denominator * i) << halvings);
    sum += i & 1n ? -term : term;
  }
  for (let i = 0n; i < halvings; i++) sum = (sum * sum) >> 200n;
  return sum;
}

/** The words by the formula. */
function gaussByFormula(): bigint[] {
  const weights = Array.from({ length: 60 }, (_, i) => gaussianWeight(BigInt(i)));
  const above = (k: number) => weights.slice(k + 1).reduce((a, b) => a + b);
  const positive = above(0);
  const scale = (a: bigint, b: bigint) => ((a << 64n) / b + 1n) >> 1n;
  return GAUSS.map((_, k) =>
    k === 0 ? scale(weights[0]!, weights[0]! + 2n * positive) : scale(above(k), positive),
  );
}

function checkGauss(): void {
  gaussByFormula().forEach((exact, k) => {
    const error = exact > GAUSS[k]! ? exact - GAUSS[k]! : GAUSS[k]! - exact;
    if (error > 1n + (exact >> 40n)) {
      throw new Error(`Gaussian word ${k}: ${GAUSS[k]} is not ${exact}`);
    }
  });
}

export function keygenTablesSource(): string {
  checkGauss();
  const all = primes();
  const column = (doc: string, name: string, key: keyof Prime) => {
    const words = all.map((prime) => prime[key]);
    return table(doc, name, 'u32', rowsOf(words, 8));
  };
  return `/** Primes: the largest p < 2^31 with p = 1 mod 2048, decreasing. */
export const PRIME_COUNT: i32 = ${COUNT};
${column('', 'PRIME', 'p')}
${column('An element of order 2048 mod each prime.', 'PRIME_ROOT', 'g')}
${column('Inverse mod each prime of the product of all before it.', 'PRIME_CRT', 's')}
/** 2^63 P(x = 0), then 2^63 P(x > k | x > 0) for k = 1..26, sigma = 1.17 sqrt(12289 / 2048). */
export const GAUSS_WORDS: i32 = ${GAUSS.length};
${table('', 'GAUSS', 'u64', rowsOf(GAUSS, 4))}`;
}
