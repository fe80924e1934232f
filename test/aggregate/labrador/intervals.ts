/** The transforms of one prime on intervals. */
import { MAX_BLOCKS } from '../../../scripts/generate/labradorPlan.ts';
import {
  functionOf,
  type Interval,
  IntervalMachine,
  type Lanes,
  lanes,
  product,
} from '../../support/intervals.ts';

/** Offsets into a prime's table, by their names, and the tables of all primes one after another. */
export interface Tables {
  readonly offsets: Readonly<Record<string, number>>;
  readonly size: number;
  readonly values: readonly number[];
}

export function tablesOf(text: string): Tables {
  const offsets = Object.fromEntries(
    [...text.matchAll(/const (T_\w+): usize = (\d+);/g)].map(([, name, at]) => [name!, Number(at)]),
  );
  const size = Number(/const TABLE_SIZE: usize = (\d+);/.exec(text)![1]);
  const list = /TABLES: usize = memory\.data<i16>\(\[([^\]]*)\]/.exec(text)![1]!;
  return { offsets, size, values: list.match(/-?\d+/g)!.map(Number) };
}

/** The largest magnitudes in and behind a transform. */
export interface Extent {
  readonly inside: number;
  readonly result: number;
}

/** The functions of assembly/labrador/lanes.ts that transforms call. */
function lanesOf({ checked }: IntervalMachine) {
  const one = lanes(() => [1, 1]);
  return {
    reduceLane: (a: Lanes, companion: Lanes, p: Lanes): Lanes =>
      checked(product(a, one, companion, p)),
    fromLimbs: (l0: Lanes, ...[l1, l2, w1, w2, c1, c2, p]: [Lanes, ...Lanes[]]): Lanes => {
      // the sum wraps: only the result has to fit
      const a = product(l1!, w1!, c1!, p!);
      const b = product(l2!, w2!, c2!, p!);
      return checked(
        lanes((i) => [l0[i]![0] + a[i]![0] + b[i]![0], l0[i]![1] + a[i]![1] + b[i]![1]]),
      );
    },
    /** (acc - p m) / 2^16, m any 16 bits */
    mred: (acc: Lanes, low: Lanes): Lanes => {
      const [p] = low[0]!;
      return lanes((i) => [
        Math.floor((acc[i]![0] - p * 32767) / 65536),
        Math.floor((acc[i]![1] + p * 32768) / 65536),
      ]);
    },
  };
}

const TABLE = 0;
const INPUT = 4096;
const OUT = 8192;
/** The longest input: three limbs of 64 lanes. */
const INPUT_LANES = 192;

/** A transform of one prime: `input` is what the lane at an offset of the input can hold. */
export function runOnIntervals(
  script: string,
  name: string,
  tables: Tables,
  prime: number,
  input: (at: number) => Interval,
): Extent {
  const machine = new IntervalMachine();
  const table = tables.values.slice((tables.size / 2) * prime, (tables.size / 2) * (prime + 1));
  machine.putConstants(TABLE, table);
  machine.put(
    INPUT,
    Array.from({ length: INPUT_LANES }, (_, lane) => input(2 * lane)),
  );
  const scope = { ...tables.offsets, ...machine.instructions, ...lanesOf(machine) };
  functionOf(script, name, scope)(OUT, INPUT, TABLE);
  return { inside: machine.inside, result: machine.largest(OUT, 64) };
}

/** Sums of MAX_BLOCKS blocks, each of which adds at most this much. */
export const sumsOf = (block: number): Interval => [-MAX_BLOCKS * block, MAX_BLOCKS * block];
