/** The sums U and V of a projection (docs/protocol.md, 5.3), and provers who send others. */
import type { Projection } from '../../reference/prover/steps.ts';
import { RANDOM_ROWS } from './attack.ts';

/** A projection that is far too long. */
export const far = ({ y, star }: Projection): Projection => ({ y: y.map(() => 2n ** 40n), star });

export type List = readonly bigint[];
const sumOf = (list: List): bigint => list.reduce((sum, x) => sum + x, 0n);
export const squares = (list: List): bigint => sumOf(list.map((x) => x * x));
/** x and x* of a projection. */
export function signsOf({ y, star }: Projection): [x: bigint[], xStar: bigint[]] {
  const [U, V] = [y[RANDOM_ROWS]!, star[RANDOM_ROWS]!];
  return [
    y.slice(0, RANDOM_ROWS).map((value) => 2n * value - (U + V)),
    star.slice(0, RANDOM_ROWS).map((value) => 2n * value - (V - U)),
  ];
}
export const normOf = (projection: Projection): bigint => squares(signsOf(projection).flat());

/** U and V that are others: y' make up for it, and no other row of the matrix sees it. */
export type Lie = readonly [moreU: bigint, moreV: bigint];
export const withSums = ({ y, star }: Projection, [moreU, moreV]: Lie): Projection => ({
  y: y.with(RANDOM_ROWS, y[RANDOM_ROWS]! + moreU),
  star: star.with(RANDOM_ROWS, star[RANDOM_ROWS]! + moreV),
});
/** What brings every x down by `x` and every x* by `star`: integers of one parity. */
const downBy = (x: bigint, star: bigint): Lie => [(x - star) / 2n, (x + star) / 2n];

/**
 * It takes the mean out of x. Nothing else is to be gained, whatever the witness is: some
 * thousandths of the norm, since the signs are random.
 */
export function lieOfMean(sent: Projection): Lie {
  const [x, star] = signsOf(sent).map(
    (list) => 2n * BigInt(Math.round(Number(sumOf(list)) / RANDOM_ROWS / 2)),
  ) as [bigint, bigint];
  return downBy(x, star);
}

/** The parity alone: y' are the same, every x is nearer to the mean by one. */
export function lieOfParity(sent: Projection): Lie {
  const [x, star] = signsOf(sent).map((list) => (sumOf(list) > 0n ? 1n : -1n)) as [bigint, bigint];
  return downBy(x, star);
}
