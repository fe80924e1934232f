/** A pool whose threads all take part, however little the work and however few processors. */
import type { AggregatePool, AggregatePoolOptions } from '../../src/aggregate/index.ts';
import { poolOn } from '../../src/aggregate/pool.ts';
import { AggregateThreads } from '../../src/aggregate/threads.ts';

export const everyThread = ({ threads = 1, ...more }: AggregatePoolOptions): AggregatePool =>
  poolOn(new AggregateThreads({ ...more, size: threads - 1, leastMs: 0 }));
