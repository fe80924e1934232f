/**
 * How improbable a short projection of a long vector is, for every vector: docs/soundness.md, 5.6
 * (b), whose names are used here. Everything is evaluated numerically on grids, not enclosed.
 */
const ROWS = 264;
/** the squared norm of x that is accepted, for a vector of norm 1 */
const ACCEPTED = 60;
/** where the bounds for even and for uneven vectors meet */
const T = 1.15;

/**
 * E f(G) of a standard normal variable: the trapezoid rule, of which the error falls faster than
 * any power of the step
 */
const STEP = 0.01;
const NODES = Array.from({ length: 2001 }, (_, i) => (i - 1000) * STEP);
const WEIGHTS = NODES.map((x) => (STEP * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI));
const expected = (f: (g: number) => number): number =>
  NODES.reduce((sum, g, i) => sum + WEIGHTS[i]! * f(g), 0);

/** E |cos(sqrt(2ta) G)|^(1/a); its limit at 0 is that of a Gaussian sum */
function h(a: number): number {
  if (a < 1e-6) return 1 / Math.sqrt(1 + 2 * T);
  const scale = Math.sqrt(2 * T * a);
  return expected((g) => Math.abs(Math.cos(scale * g)) ** (1 / a));
}

/** the largest h from 0 to `most` */
function largest(most: number, steps: number): number {
  let value = 0;
  for (let i = 0; i <= steps; i++) value = Math.max(value, h((most * i) / steps));
  return value;
}

/** E e^(-t x^2) of x = +-sqrt(a) + Z, from the second and fourth moments of Z */
function byMoments(a: number): number {
  const root = Math.sqrt(a);
  const END = 12;
  const points = Array.from({ length: 601 }, (_, i) => (END * i) / 600);
  const k = points.map((y) => {
    const z = Math.sqrt(y);
    return (Math.exp(-T * (root - z) ** 2) + Math.exp(-T * (root + z) ** 2)) / 2;
  });
  let best = Math.max(...k);
  for (let gamma = 0; gamma <= 0.1; gamma += 0.0025) {
    // beyond the last point k falls, and the parabola must not
    for (let beta = Math.max(-0.6, -2 * gamma * END); beta <= 0; beta += 0.005) {
      let alpha = 0;
      for (const [i, y] of points.entries()) {
        alpha = Math.max(alpha, k[i]! - beta * y - gamma * y * y);
      }
      best = Math.min(best, alpha + beta * (1 - a) + 3 * gamma * (1 - a) ** 2);
    }
  }
  return best;
}

/**
 * The largest phi of a vector of which one coefficient has a share above a half of the squared
 * norm; from 0.6 on k is too small itself.
 */
function largestUneven(): { phi: number; share: number } {
  let worst = { phi: 0, share: 0 };
  for (let share = 0.5; share < 0.6; share += 0.0025) {
    const byHoelder = h(share) ** share * largest(1 - share, 40) ** (1 - share);
    const phi = Math.min(byHoelder, byMoments(share));
    if (phi > worst.phi) worst = { phi, share };
  }
  return worst;
}

/**
 * @returns phi of even and of uneven vectors, at most, and bits of the probability for every vector
 */
export function projectionTail(): { even: number; uneven: number; share: number; bits: number } {
  const even = largest(0.5, 200);
  const { phi: uneven, share } = largestUneven();
  const bits = -(ACCEPTED * T * Math.LOG2E + ROWS * Math.log2(Math.max(even, uneven)));
  return { even, uneven, share, bits };
}
