/** Parts that the faults of cheating provers are made of. */
import type { Place } from '../reference/prover/trace.ts';

export type Poly = readonly bigint[];

/** One more in coefficient 3. */
export const bumped = (poly: Poly): Poly => poly.with(3, poly[3]! + 1n);

/** The list with one polynomial bumped. */
export const bumpAt = (list: readonly Poly[], index: number): readonly Poly[] =>
  list.with(index, bumped(list[index]!));

/** A fault at one level alone. */
export const at =
  <T>(level: number, change: (value: T) => NoInfer<T>) =>
  (value: T, place: Place): T =>
    place.level === level ? change(value) : value;
