/**
 * Expansion of a secret key: values needed for signing, computed once. All divisions and square
 * roots of signing are here.
 *
 *   EXPANDED, in f64[n] = 8n bytes; b01 = FFT(-f), b11 = FFT(-F)
 *   | b01 | b11 | tree: logn + 1        | then prepared h: 4n bytes | sponges: 1 KiB |
 *
 * Only reproducible.ts reads and writes the sponges. An expanded key has all of them only when it
 * leaves the module.
 *
 * The other half of the basis, b00 = FFT(g) and b10 = FFT(G), is not kept: the signer computes s1
 * from h.
 *
 *   tree of degree n > 2:  | l10: f64[n] | left tree, of d00, degree n/2 | right tree, of d11 |
 *   tree of degree 2:      | l10: re, im | 1/sigma' left | 1/sigma' right |
 *
 * The values are bit-identical to those of the reference's `sign_dyn`, which agree with its
 * `expand_privkey`.
 */
import * as R from './real';
import { SHAKE_STATE } from '../shared/keccak';
import { highHalves, lowHalves, swapHalves } from '../shared/lanes';
import { E_SK_INVALID, OK } from '../shared/status';
import { fft } from './fft';
import { splitPair } from './fftSplit';
import { ROOT_IM, ROOT_RE } from './fftTables.gen';
import {
  adjointProductIm,
  adjointProductRe,
  inverseSigma,
  productIm,
  productRe,
  sigmaMin,
  SIGMA_MAX,
} from './fpr';
import { preparePoly } from '../shared/ntt';
import { decodeSecretKey, quotientNtt, recoverG } from './secretKey';
import { smallToDouble } from './smallPoly';

/** Secret. Room for n = 1024: 13 f64[n], the prepared key, the sponges. */
export const EXPANDED: usize = memory.data(111616, 64);
/**
 * Secret, scratch of signing and expanding. Room for n = 1024: 8 f64[n].
 *
 *   expanding   | g00 | g01 | g11 | children of the tree, level by level: 4 f64[n] |
 *               | f g F G, i8[n] each; i16[n] x 2 |
 *   signing     | t0 | t1 | halves, level by level: 2 f64[n] |
 */
export const SIGN_TMP: usize = memory.data(65536, 64);
/** Minimum and maximum 1/sigma' so far, two lanes each. */
const LEAF_RANGE: usize = memory.data(32, 16);

/** Bytes of the expanded key that are f64. */
// @ts-ignore: decorator
@inline
function treeEnd(logn: i32): usize {
  return <usize>(logn + 3) << (logn + 3);
}

/**
 * Bytes of an expanded key.
 *
 * Shape: logn -> 52,224 (n = 512), 111,616 (n = 1024)
 */
export function expandedLength(logn: i32): i32 {
  return <i32>(expandedSponges(logn) - EXPANDED) + 4 * SHAKE_STATE;
}

/** Address of the basis column b01; b11 follows it. */
// @ts-ignore: decorator
@inline
export function expandedBasis(): usize {
  return EXPANDED;
}

/** Address of the tree. */
// @ts-ignore: decorator
@inline
export function expandedTree(logn: i32): usize {
  return EXPANDED + (<usize>16 << logn);
}

/** Address of the prepared public key. */
// @ts-ignore: decorator
@inline
export function expandedPrepared(logn: i32): usize {
  return EXPANDED + treeEnd(logn);
}

/** Address of the sponges. */
// @ts-ignore: decorator
@inline
export function expandedSponges(logn: i32): usize {
  return expandedPrepared(logn) + (<usize>4 << logn);
}

/** Bytes of the tree of a polynomial of degree 2^logn. */
// @ts-ignore: decorator
@inline
export function treeBytes(logn: i32): usize {
  return <usize>(logn + 1) << (logn + 3);
}

/**
 * Expands SK into EXPANDED. Rejects invalid secret keys: wrong syntax, f without inverse mod q,
 * |G| > 127, f G - g F other than q, a deviation outside the sampler's range.
 *
 * Spec:   Falcon round 3, section 3.11.5 (encoding), algorithms 8 (ffLDL) and 9 (normalisation); G
 *         and h = g / f mod q
 * Shape:  SK -> EXPANDED[0..expandedLength(logn))
 * Memory: SK, EXPANDED, SIGN_TMP
 * Secret: all; the only branches are on acceptance
 * Errors: E_SK_HEADER, E_SK_RANGE, E_SK_INVALID; EXPANDED cleared
 * Proof:  none: proved as part of expandSecretKey
 */
export function makeExpanded(logn: i32): i32 {
  const n: usize = <usize>1 << logn;
  const small = SIGN_TMP + (n << 3) * 7;
  let status = decodeSecretKey(logn, small, small + n, small + 2 * n);
  if (status == OK) status = completeKey(logn, small);
  if (status == OK) status = buildTree(logn, small);
  if (status != OK) memory.fill(EXPANDED, 0, expandedLength(logn));
  return status;
}

/**
 * Computes G = g F / f mod q, and h = g / f mod q, prepared.
 *
 * Spec:   Falcon round 3, sections 3.8.2 and 3.11.5
 * Shape:  small: f, g, F, i8[n] each -> G: i8[n] after them; prepared h in EXPANDED
 * Memory: small and 4n bytes beyond G
 * Secret: f, g, F, G
 * Errors: E_SK_INVALID if f has no inverse, or any |G| > 127
 * Proof:  none: inlined; part of makeExpanded
 */
function completeKey(logn: i32, small: usize): i32 {
  const n: usize = <usize>1 << logn;
  const hNtt = small + 4 * n;
  const tmp = hNtt + 2 * n;
  const bad = quotientNtt(logn, hNtt, tmp, small, small + n);
  preparePoly(expandedPrepared(logn), hNtt, logn);
  return bad | recoverG(logn, small + 3 * n, hNtt, small + 2 * n, tmp) ? E_SK_INVALID : OK;
}

/** The FFT of i8[n]. */
function fftOfSmall(out: usize, a: usize, logn: i32): void {
  smallToDouble(out, a, 1 << logn);
  fft(out, logn);
}

/**
 * Builds basis, Gram matrix and tree from f, g, F, G.
 *
 * Spec:   Falcon round 3, algorithm 4, steps 3 to 9
 * Shape:  small: i8[n] x 4 -> EXPANDED, all but the prepared key
 * Memory: small, SIGN_TMP
 * Secret: all
 * Errors: E_SK_INVALID if f G - g F is not q, or a deviation of the tree is outside [sigmaMin,
 *         1.8205]
 * Proof:  reveals(2), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
function buildTree(logn: i32, small: usize): i32 {
  const n: usize = <usize>1 << logn;
  const size = n << 3;
  const b01 = expandedBasis();
  const b11 = b01 + size;
  const g00 = SIGN_TMP; // b00 until `gramMatrix`
  const g01 = g00 + size;
  const g11 = g01 + size; // b10 until `gramMatrix`
  fftOfSmall(b01, small, logn);
  fftOfSmall(g00, small + n, logn);
  fftOfSmall(b11, small + 2 * n, logn);
  fftOfSmall(g11, small + 3 * n, logn);
  const deviation = gramMatrix(b01, b11, g00, g01, g11, logn);
  v128.store(LEAF_RANGE, R.splat(Infinity));
  v128.store(LEAF_RANGE, R.splat(0), 16);
  const tree = expandedTree(logn);
  const children = g11 + size;
  ldlNode(tree, children, g00, g01, g11, logn);
  const left = tree + size;
  const right = left + treeBytes(logn - 1);
  const below = children + 2 * size;
  ldlTree(left, children, logn - 1, below, inverseSigma(logn));
  ldlTree(right, children + size, logn - 1, below, inverseSigma(logn));
  const least = v128.load(LEAF_RANGE);
  const most = v128.load(LEAF_RANGE, 16);
  const smallest = R.lane0(R.min(least, swapHalves(least)));
  const largest = R.lane0(R.max(most, swapHalves(most)));
  memory.fill(LEAF_RANGE, 0, 32);
  // written so that a NaN fails
  const one = R.bits(1.0);
  const fits =
    R.less1(deviation, R.bits(0.5)) &&
    R.atMost1(one, R.mul1(smallest, R.bits(SIGMA_MAX))) &&
    R.atMost1(R.mul1(largest, sigmaMin(logn)), one);
  return fits ? OK : E_SK_INVALID;
}

/**
 * Computes the Gram matrix of [[b00, b01], [b10, b11]]; negates f and F, which are passed with
 * their original signs.
 *
 * Returns the maximum |f G - g F - q| over the roots. If that polynomial were not zero, the maximum
 * would be at least 1, since the mean of the squares is the sum of its squared integer
 * coefficients. (Accurate to about 1e-8.)
 *
 * Shape:  f, F: f64[n] -> -f, -F; g (at g00), G (at g11): f64[n] -> g00, g01, g11: f64[n],
 *         transforms
 * Secret: all
 * Proof:  reveals(0), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
function gramMatrix(f: usize, F: usize, g00: usize, g01: usize, g11: usize, logn: i32): u64 {
  const im = <usize>4 << logn;
  const zero = R.splat(0);
  const q = R.splat(12289.0);
  let worst = zero;
  for (let o: usize = 0; o < im; o += 16) {
    const aRe = v128.load(g00 + o);
    const aIm = v128.load(g00 + o + im);
    const bRe = R.neg(v128.load(f + o));
    const bIm = R.neg(v128.load(f + o + im));
    const cRe = v128.load(g11 + o);
    const cIm = v128.load(g11 + o + im);
    const dRe = R.neg(v128.load(F + o));
    const dIm = R.neg(v128.load(F + o + im));
    v128.store(f + o, bRe);
    v128.store(f + o + im, bIm);
    v128.store(F + o, dRe);
    v128.store(F + o + im, dIm);
    const re = R.sub(productRe(aRe, aIm, dRe, dIm), productRe(bRe, bIm, cRe, cIm));
    const imaginary = R.sub(productIm(aRe, aIm, dRe, dIm), productIm(bRe, bIm, cRe, cIm));
    worst = R.max(worst, R.max(R.abs(R.sub(re, q)), R.abs(imaginary)));
    v128.store(
      g00 + o,
      R.add(adjointProductRe(aRe, aIm, aRe, aIm), adjointProductRe(bRe, bIm, bRe, bIm)),
    );
    v128.store(g00 + o + im, zero);
    v128.store(
      g01 + o,
      R.add(adjointProductRe(aRe, aIm, cRe, cIm), adjointProductRe(bRe, bIm, dRe, dIm)),
    );
    v128.store(
      g01 + o + im,
      R.add(adjointProductIm(aRe, aIm, cRe, cIm), adjointProductIm(bRe, bIm, dRe, dIm)),
    );
    v128.store(
      g11 + o,
      R.add(adjointProductRe(cRe, cIm, cRe, cIm), adjointProductRe(dRe, dIm, dRe, dIm)),
    );
    v128.store(g11 + o + im, zero);
  }
  return R.lane0(R.max(worst, swapHalves(worst)));
}

/**
 * Computes one node: G = L D L*, then splits d00 and d11 into the children's matrices.
 *
 * Spec:   Falcon round 3, algorithms 8 (LDL) and 9 (ffLDL), steps 4 to 7
 * Shape:  g00, g01, g11: f64[n] -> l10: f64[n]; children: f64[2n], left then right, each g00 || g01
 *         (g11 = g00)
 * Bounds: n >= 8
 * Memory: children must not overlap the rest
 * Secret: all
 * Proof:  reveals(0), logn in {9, 10}
 * Builds: falcon, falcon.relaxed
 */
function ldlNode(l10: usize, children: usize, g00: usize, g01: usize, g11: usize, logn: i32): void {
  const quarter = <usize>2 << logn;
  const im = quarter << 1;
  const right = children + (im << 1);
  for (let o: usize = 0; o < quarter; o += 16) {
    const at = o << 1;
    let aRe = v128.load(g00 + at);
    let aIm = v128.load(g00 + at + im);
    let bRe = v128.load(g01 + at);
    let bIm = v128.load(g01 + at + im);
    let t = R.inverse(R.add(R.mul(aRe, aRe), R.mul(aIm, aIm)));
    let uRe = R.mul(aRe, t);
    let uIm = R.mul(aIm, t);
    let mRe = adjointProductRe(bRe, bIm, uRe, uIm);
    let mIm = R.sub(R.mul(bRe, uIm), R.mul(bIm, uRe));
    v128.store(l10 + at, mRe);
    v128.store(l10 + at + im, mIm);
    const d0Re = R.sub(v128.load(g11 + at), productRe(mRe, mIm, bRe, bIm));
    const d0Im = R.add(v128.load(g11 + at + im), productIm(mRe, mIm, bRe, bIm));
    const cRe = v128.load(g00 + at, 16);
    const cIm = v128.load(g00 + at + im, 16);
    bRe = v128.load(g01 + at, 16);
    bIm = v128.load(g01 + at + im, 16);
    t = R.inverse(R.add(R.mul(cRe, cRe), R.mul(cIm, cIm)));
    uRe = R.mul(cRe, t);
    uIm = R.mul(cIm, t);
    mRe = adjointProductRe(bRe, bIm, uRe, uIm);
    mIm = R.sub(R.mul(bRe, uIm), R.mul(bIm, uRe));
    v128.store(l10 + at, mRe, 16);
    v128.store(l10 + at + im, mIm, 16);
    const d1Re = R.sub(v128.load(g11 + at, 16), productRe(mRe, mIm, bRe, bIm));
    const d1Im = R.add(v128.load(g11 + at + im, 16), productIm(mRe, mIm, bRe, bIm));
    const wRe = v128.load(ROOT_RE + quarter + o);
    const wIm = v128.load(ROOT_IM + quarter + o);
    splitPair(children + o, quarter, aRe, cRe, aIm, cIm, wRe, wIm);
    splitPair(right + o, quarter, d0Re, d1Re, d0Im, d1Im, wRe, wIm);
  }
}

/**
 * The tree of a self-adjoint, quasicyclic matrix: g11 = g00.
 *
 * Spec:   Falcon round 3, algorithm 9 (ffLDL)
 * Shape:  matrix: g00 || g01, f64[2n] -> tree
 * Memory: tmp: f64[4n]
 * Secret: all
 * Proof:  reveals(0), logn in {8}
 * Builds: falcon, falcon.relaxed
 */
function ldlTree(tree: usize, matrix: usize, logn: i32, tmp: usize, inverse: u64): void {
  if (logn == 2) {
    ldlLeaves(tree, matrix, inverse);
    return;
  }
  const size = <usize>8 << logn;
  ldlNode(tree, tmp, matrix, matrix + size, matrix, logn);
  ldlTree(tree + size, tmp, logn - 1, tmp + 2 * size, inverse);
  ldlTree(tree + size + treeBytes(logn - 1), tmp + size, logn - 1, tmp + 2 * size, inverse);
}

/**
 * The tree of degree 4 with its two children and four leaves; the children are processed in
 * parallel, left in lane 0.
 *
 *   tree   | l10: re re im im | left: re, im, leaf, leaf | right: re, im, leaf, leaf |
 */
function ldlLeaves(tree: usize, matrix: usize, inverse: u64): void {
  const aRe = v128.load(matrix);
  const aIm = v128.load(matrix, 16);
  let bRe = v128.load(matrix, 32);
  let bIm = v128.load(matrix, 48);
  let t = R.inverse(R.add(R.mul(aRe, aRe), R.mul(aIm, aIm)));
  let uRe = R.mul(aRe, t);
  let uIm = R.mul(aIm, t);
  let mRe = adjointProductRe(bRe, bIm, uRe, uIm);
  let mIm = R.sub(R.mul(bRe, uIm), R.mul(bIm, uRe));
  v128.store(tree, mRe);
  v128.store(tree, mIm, 16);
  const dRe = R.sub(aRe, productRe(mRe, mIm, bRe, bIm));
  const dIm = R.add(aIm, productIm(mRe, mIm, bRe, bIm));
  // split d00 (lane 0) and d11 (lane 1)
  const half = R.splat(0.5);
  const root = v128.load64_splat(ROOT_RE, 8); // cos(pi/4) = sin(pi/4)
  const xRe = lowHalves(aRe, dRe);
  const xIm = lowHalves(aIm, dIm);
  const yRe = highHalves(aRe, dRe);
  const yIm = highHalves(aIm, dIm);
  const cRe = R.scale(R.add(xRe, yRe), half);
  const cIm = R.scale(R.add(xIm, yIm), half);
  const pRe = R.mul(R.sub(xRe, yRe), root);
  const pIm = R.mul(R.sub(xIm, yIm), root);
  bRe = R.scale(R.add(pRe, pIm), half);
  bIm = R.scale(R.sub(pIm, pRe), half);
  // degree 2
  t = R.inverse(R.add(R.mul(cRe, cRe), R.mul(cIm, cIm)));
  uRe = R.mul(cRe, t);
  uIm = R.mul(cIm, t);
  mRe = adjointProductRe(bRe, bIm, uRe, uIm);
  mIm = R.sub(R.mul(bRe, uIm), R.mul(bIm, uRe));
  const scale = i64x2.splat(inverse);
  const leafLeft = R.mul(R.sqrt(cRe), scale);
  const leafRight = R.mul(R.sqrt(R.sub(cRe, productRe(mRe, mIm, bRe, bIm))), scale);
  v128.store(tree, lowHalves(mRe, mIm), 32);
  v128.store(tree, lowHalves(leafLeft, leafRight), 48);
  v128.store(tree, highHalves(mRe, mIm), 64);
  v128.store(tree, highHalves(leafLeft, leafRight), 80);
  v128.store(LEAF_RANGE, R.min(v128.load(LEAF_RANGE), R.min(leafLeft, leafRight)));
  v128.store(LEAF_RANGE, R.max(v128.load(LEAF_RANGE, 16), R.max(leafLeft, leafRight)), 16);
}
