/**
 * Interleaved measurement: rounds in which every contender runs for a short time, in an order that turns from round to
 * round, so that noise, heat and other work on the machine hit all of them alike. Ratios of medians are what counts.
 *
 * Slow operations are interrupted by other work more often than fast ones: on a busy machine the lowest fifth says more
 * than the median, so both are kept.
 */
import { Bench } from 'tinybench';

export interface Contender {
  readonly name: string;
  /** One operation; called with 0, 1, 2 … so that it can take its inputs in turn. May be asynchronous. */
  readonly operate: (turn: number) => unknown;
  /** Operations that one call of `operate` does (a batch). Default 1. */
  readonly batch?: number;
  /** Exactly this many calls in each round, instead of as many as fit: for slow operations with fixed inputs. */
  readonly calls?: number;
}

export interface Figure {
  readonly name: string;
  /** Microseconds for one operation: median of all samples of all rounds. */
  readonly medianUs: number;
  /** The same at the 20th percentile: nearly the undisturbed time. */
  readonly p20Us: number;
  readonly samples: number;
}

interface State {
  readonly contender: Contender;
  readonly calls: number;
  readonly samples: number[];
  turn: number;
}

export interface Plan {
  readonly rounds: number;
  /** Time of one contender in one round. */
  readonly sliceMs: number;
}

/** Below this much a sample would measure the clock: cheap operations are called several times for one sample. */
const SAMPLE_MS = 0.4;

/**
 * @returns one figure for each contender, in their order
 * @throws whatever an operation throws: a benchmark of failures is none
 */
export async function interleave(contenders: readonly Contender[], plan: Plan): Promise<Figure[]> {
  const states: State[] = [];
  for (const contender of contenders) {
    states.push({
      contender,
      calls: await callsPerSample(contender),
      samples: [],
      turn: 0,
    });
  }
  for (let round = 0; round < plan.rounds; round++) {
    globalThis.gc?.();
    const order = states.map((_, i) => states[(i + round) % states.length]!);
    for (const state of round % 2 === 0 ? order : order.reverse()) {
      const { contender, calls } = state;
      const isAsync = contender.operate.constructor.name === 'AsyncFunction';
      const bench = new Bench({
        time: contender.calls === undefined ? plan.sliceMs : 0,
        iterations: contender.calls ?? 1,
        warmup: false,
        retainSamples: true,
        throws: true,
      });
      if (isAsync) {
        bench.add(
          contender.name,
          async () => {
            for (let i = 0; i < calls; i++) await contender.operate(state.turn++);
          },
          { async: true },
        );
      } else {
        bench.add(
          contender.name,
          () => {
            for (let i = 0; i < calls; i++) contender.operate(state.turn++);
          },
          { async: false },
        );
      }
      await bench.run();
      const result = bench.tasks[0]!.result;
      if (!('latency' in result) || result.latency.samples === undefined) {
        throw new Error(`${contender.name}: no samples`);
      }
      const scale = 1000 / (calls * (contender.batch ?? 1));
      for (const sample of result.latency.samples) state.samples.push(sample * scale);
    }
  }
  return states.map(({ contender, samples }) => ({
    name: contender.name,
    medianUs: median(samples),
    p20Us: samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 5)]!,
    samples: samples.length,
  }));
}

/** Warms the code up, and finds how many calls make a sample worth measuring. */
async function callsPerSample(contender: Contender): Promise<number> {
  if (contender.calls !== undefined) {
    await contender.operate(0);
    return 1;
  }
  let calls = 0;
  const start = performance.now();
  // A hundred milliseconds are enough for the compilers of the host to settle on their best code.
  while (performance.now() - start < 100 || calls < 2) await contender.operate(calls++);
  const each = (performance.now() - start) / calls;
  return Math.max(1, Math.round(SAMPLE_MS / each));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
