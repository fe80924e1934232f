/**
 * Babai's reduction of (F, G) by (f, g), at the depths where coefficients have many words.
 *
 * The round-3 reference computes quotients in doubles, and rejects (f, g) when one exceeds 31 bits.
 * At depths with 2 to 8 coefficients this happens to 1 % of the candidates for n = 512 and to 8 %
 * for n = 1024, and depends on rounding errors. To produce the same key for every seed, the doubles
 * here are bit-identical to the reference's: the same window of words, order of operations and
 * schedule of scales. The integers are exact, so their arithmetic is independent of the
 * reference's.
 */
import * as R from './real';
import { adjointProductIm, adjointProductRe } from './fpr';
import { fft, ifft } from './fft';
import { CRT, CURRENT, FLOATS, PRODUCT_KFG, ROW, WIDE } from './keygenLayout';
import { fgAt, nttPair, pairCount, wordsLarge, wordsSmall } from './ntruLevels';
import { PRIME } from './keygenTables.gen';
import { P0I, fromSigned4, inverseOfN, mulMont4 } from './rns';
import { rnsInttScaled, rnsNtt } from './rnsNtt';
import { zintFromRns, zintMod, zintSubScaled, zintToDouble } from './zint';
import { extendForProduct, subProduct } from './zintProduct';

/** Bits of the largest coefficient of f, g by depth, as the reference measured them: average. */
const BITS_AVERAGE: usize = memory.data<u16>(
  [4, 11, 24, 50, 102, 202, 401, 794, 1577, 3138, 6308],
  4,
);
/** The same bits: standard deviation. */
const BITS_DEVIATION: usize = memory.data<u16>([0, 1, 1, 1, 1, 2, 4, 5, 8, 13, 25], 4);

/** Words in the window that is converted to doubles. */
const WINDOW: i32 = 10;
/** log2 of the smallest degree at which k f is computed by NTT. */
const NTT_FROM: i32 = 5;

/**
 * 1 / (|f|^2 + |g|^2), value by value.
 *
 * Spec:   reference's order: (re^2 + im^2 of f) + (re^2 + im^2 of g), then one division
 * Shape:  fg: f64[2m], both transformed -> out: f64[m/2]
 * Memory: out
 * Secret: fg
 * Proof:  none: key generation
 */
export function inverseNorms(out: usize, fg: usize, logm: i32): void {
  const half = <usize>4 << logm;
  const g = fg + 2 * half;
  if (logm == 1) {
    const f0 = load<u64>(fg);
    const f1 = load<u64>(fg, 8);
    const g0 = load<u64>(fg, 16);
    const g1 = load<u64>(fg, 24);
    const ff = R.add1(R.mul1(f0, f0), R.mul1(f1, f1));
    const gg = R.add1(R.mul1(g0, g0), R.mul1(g1, g1));
    store<u64>(out, R.inverse1(R.add1(ff, gg)));
    return;
  }
  for (let i: usize = 0; i < half; i += 16) {
    const fRe = v128.load(fg + i);
    const fIm = v128.load(fg + half + i);
    const gRe = v128.load(g + i);
    const gIm = v128.load(g + half + i);
    const ff = R.add(R.mul(fRe, fRe), R.mul(fIm, fIm));
    const gg = R.add(R.mul(gRe, gRe), R.mul(gIm, gIm));
    v128.store(out + i, R.inverse(R.add(ff, gg)));
  }
}

/**
 * (F adj f + G adj g) * norms, value by value; replaces F.
 *
 * Spec:   reference's order of operations
 * Shape:  FG: f64[2m], fg: f64[2m], norms: f64[m/2] -> FG: f64[m]
 * Memory: FG
 * Secret: all
 * Proof:  none: key generation
 */
export function quotientFft(FG: usize, fg: usize, norms: usize, logm: i32): void {
  const half = <usize>4 << logm;
  const G = FG + 2 * half;
  const g = fg + 2 * half;
  if (logm == 1) {
    const F0 = load<u64>(FG);
    const F1 = load<u64>(FG, 8);
    const G0 = load<u64>(FG, 16);
    const G1 = load<u64>(FG, 24);
    const f0 = load<u64>(fg);
    const f1 = load<u64>(fg, 8);
    const g0 = load<u64>(fg, 16);
    const g1 = load<u64>(fg, 24);
    const norm = load<u64>(norms);
    let x = R.add1(R.mul1(F0, f0), R.mul1(F1, f1));
    let y = R.add1(R.mul1(G0, g0), R.mul1(G1, g1));
    store<u64>(FG, R.mul1(R.add1(x, y), norm));
    x = R.sub1(R.mul1(F1, f0), R.mul1(F0, f1));
    y = R.sub1(R.mul1(G1, g0), R.mul1(G0, g1));
    store<u64>(FG, R.mul1(R.add1(x, y), norm), 8);
    return;
  }
  for (let i: usize = 0; i < half; i += 16) {
    const FRe = v128.load(FG + i);
    const FIm = v128.load(FG + half + i);
    const GRe = v128.load(G + i);
    const GIm = v128.load(G + half + i);
    const fRe = v128.load(fg + i);
    const fIm = v128.load(fg + half + i);
    const gRe = v128.load(g + i);
    const gIm = v128.load(g + half + i);
    const norm = v128.load(norms + i);
    let x = adjointProductRe(FRe, FIm, fRe, fIm);
    let y = adjointProductRe(GRe, GIm, gRe, gIm);
    v128.store(FG + i, R.mul(R.add(x, y), norm));
    x = adjointProductIm(FRe, FIm, fRe, fIm);
    y = adjointProductIm(GRe, GIm, gRe, gIm);
    v128.store(FG + half + i, R.mul(R.add(x, y), norm));
  }
}

/**
 * Scales and rounds the quotient: k = round(x 2^e), ties to even; false if any |x 2^e| >= 2^31 - 1.
 * For m < 4 only m values are written.
 */
function roundQuotient(k: usize, x: usize, logm: i32, e: i32): bool {
  const scale = i64x2.splat(R.powerOfTwo(e));
  const limit = R.splat(2147483647);
  let good = i64x2.splat(-1);
  for (const end = x + (<usize>8 << logm); x < end; x += 16) {
    const v = R.scale(v128.load(x), scale);
    good = v128.and(good, R.less(R.abs(v), limit));
    store<u64>(k, i64x2.extract_lane(R.toI32(v), 0));
    k += 8;
  }
  return i64x2.all_true(good);
}

/**
 * Prepares f, g mod the first len primes for the product with k: NTT form, times 2^32 / m, which
 * includes the scaling of the inverse transform.
 */
function prepareNttProduct(out: usize, depth: i32, logm: i32, len: i32): void {
  const count = pairCount(logm);
  const row = <usize>count << 2;
  for (let u = 0; u < len; u++) {
    zintMod(out, fgAt(depth), wordsSmall(depth), count, u, true);
    nttPair(out, logm, u);
    const P = v128.load32_splat(PRIME + (<usize>u << 2));
    const I = v128.load32_splat(P0I + (<usize>u << 2));
    const S = i32x4.splat(inverseOfN(u, logm, 2));
    for (const end = out + row; out < end; out += 16) {
      v128.store(out, mulMont4(v128.load(out), S, P, I));
    }
  }
}

/** k f and k g as integers of len words, by NTT mod len primes. */
function nttProduct(out: usize, prepared: usize, k: usize, logm: i32, len: i32): void {
  const count = pairCount(logm);
  const row = <usize>count << 2;
  const half = row >> 1;
  for (let u = 0; u < len; u++) {
    const P = v128.load32_splat(PRIME + (<usize>u << 2));
    const I = v128.load32_splat(P0I + (<usize>u << 2));
    const a = out + row * <usize>u;
    for (let i: usize = 0; i < half; i += 16) {
      // |k| may slightly exceed p
      const x = fromSigned4(fromSigned4(v128.load(k + i), P), P);
      v128.store(ROW + i, i32x4.min_u(x, i32x4.sub(x, P)));
    }
    rnsNtt(ROW, logm, u);
    for (let i: usize = 0; i < half; i += 16) {
      const x = v128.load(ROW + i);
      v128.store(a + i, mulMont4(x, v128.load(prepared + i), P, I));
      v128.store(a + half + i, mulMont4(x, v128.load(prepared + half + i), P, I));
    }
    rnsInttScaled(a, logm, u);
    rnsInttScaled(a + half, logm, u);
    prepared += row;
  }
  zintFromRns(out, len, count, true, CRT);
}

/**
 * Reduces (F, G) of the given depth (2 .. logn - 1).
 *
 * Spec:   Falcon round 3, Algorithm 7 (Reduce), on the reference's schedule: k has 25 bits per
 *         round
 * Shape:  WIDE: pair, large(d) words -> CURRENT: pair, small(d) words
 * Memory: WIDE, CURRENT, FG, FLOATS, PRODUCT_KFG, ROW, CRT
 * Secret: all. The number of rounds and all lengths depend on the depth only
 * Errors: false if a quotient is out of range: (f, g) is to be rejected
 * Proof:  none: key generation; a quotient out of range ends it
 */
export function babaiReduce(logn: i32, depth: i32): bool {
  const logm = logn - depth;
  const count = pairCount(logm);
  const row = <usize>count << 2;
  const small = wordsSmall(depth);
  const large = wordsLarge(depth);
  const windowFg = min(WINDOW, small);
  const average = <i32>load<u16>(BITS_AVERAGE + (<usize>depth << 1));
  const deviation = <i32>load<u16>(BITS_DEVIATION + (<usize>depth << 1));
  const leastFg = average - 6 * deviation;
  const mostFg = average + 6 * deviation;

  // FLOATS:  FG (2m) | fg (2m) | norms (m/2) | k (m words)
  const FGf = FLOATS;
  const fgf = FGf + (<usize>16 << logm);
  const norms = fgf + (<usize>16 << logm);
  const k = norms + max(16, <usize>4 << logm);
  zintToDouble(fgf, fgAt(depth) + row * <usize>(small - windowFg), windowFg, count);
  fft(fgf, logm);
  fft(fgf + (<usize>8 << logm), logm);
  inverseNorms(norms, fgf, logm);

  const byNtt = logm >= NTT_FROM;
  // PRODUCT_KFG: f, g ready for products | k f, k g
  const product = PRODUCT_KFG + row * <usize>(small + 1);
  if (byNtt) prepareNttProduct(PRODUCT_KFG, depth, logm, small + 1);
  else extendForProduct(PRODUCT_KFG, fgAt(depth), small, logm);

  let len = large;
  let mostFG = 31 * large;
  let scaleK = mostFG - leastFg;
  while (true) {
    const window = min(WINDOW, len);
    zintToDouble(FGf, WIDE + row * <usize>(len - window), window, count);
    fft(FGf, logm);
    fft(FGf + (<usize>8 << logm), logm);
    quotientFft(FGf, fgf, norms, logm);
    ifft(FGf, logm);
    const scale = 31 * (len - window) - 31 * (small - windowFg) - scaleK;
    if (!roundQuotient(k, FGf, logm, scale)) return false;
    if (byNtt) {
      nttProduct(product, PRODUCT_KFG, k, logm, small + 1);
      zintSubScaled(WIDE, len, product, small + 1, count, scaleK / 31, scaleK % 31);
    } else {
      subProduct(WIDE, len, PRODUCT_KFG, small, k, logm, scaleK);
    }
    const most = scaleK + mostFg + 10;
    if (most < mostFG) {
      mostFG = most;
      if (len * 31 >= mostFG + 31) len--;
    }
    if (scaleK <= 0) break;
    scaleK = max(0, scaleK - 25);
  }
  takeReduced(row, len, small);
  return true;
}

/** Copies the pair in WIDE to CURRENT; if it is shorter than small(d) words, extends its sign. */
function takeReduced(row: usize, len: i32, small: i32): void {
  memory.copy(CURRENT, WIDE, row * <usize>min(len, small));
  const top = WIDE + row * <usize>(len - 1);
  for (let i: usize = 0; i < row; i += 16) {
    const sign = i32x4.shr_u(i32x4.shr_s(i32x4.shl(v128.load(top + i), 1), 31), 1);
    for (let j = len; j < small; j++) v128.store(CURRENT + row * <usize>j + i, sign);
  }
}
