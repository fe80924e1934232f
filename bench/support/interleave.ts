/**
 * Interleaved measurement: in each round every contender runs for a short time, in an order that
 * rotates from round to round, so that noise, heat and other work on the machine affect all of them
 * alike. Ratios of medians are what counts.
 *
 * Other work interrupts slow operations more often than fast ones. On a busy machine the lowest
 * fifth says more than the median, so both are recorded.
 */
import { Bench } from 'tinybench';

export interface Contender {
  readonly name: string;
  /** One operation, called with 0, 1, 2 … so that it can vary its inputs. May be asynchronous. */
  readonly operate: (turn: number) => unknown;
  /** The number of operations in one call of `operate` (a batch). Default 1. */
  readonly batch?: number;
  /**
   * Exactly this many calls in each round instead of as many as fit, for slow operations with fixed
   * inputs.
   */
  readonly calls?: number;
}

export interface Figure {
  readonly name: string;
  /** Microseconds for one operation: the median of all samples of all rounds. */
  readonly medianUs: number;
  /** The same at the 20th percentile: nearly the undisturbed time. */
  readonly p20Us: number;
  readonly samples: number;
}

interface State {
  readonly contender: Contender;
  readonly calls: number;
  readonly sliceMs: number;
  readonly samples: number[];
  turn: number;
}

export interface Plan {
  readonly rounds: number;
  /** The time of one contender in one round. */
  readonly sliceMs: number;
}

/**
 * Shorter samples would measure the clock: cheap operations are called several times for one
 * sample.
 */
const SAMPLE_MS = 0.4;
/**
 * A contender runs this long and this often before it is measured. Large JavaScript functions
 * (noble's signer) take several hundred calls until the engine has settled on its best code;
 * measuring earlier would flatter the others.
 */
const WARMUP_MS = 300;
const WARMUP_CALLS = 400;
/**
 * A contender's turn has at least this many calls, so that the caches hold its data most of the
 * time.
 */
const CALLS_PER_TURN = 25;

/**
 * @returns one figure for each contender, in their order
 * @throws whatever an operation throws: failures are not worth measuring
 */
export async function interleave(contenders: readonly Contender[], plan: Plan): Promise<Figure[]> {
  const states: State[] = [];
  for (const contender of contenders) {
    const eachMs = await warmUp(contender);
    states.push({
      contender,
      calls: contender.calls === undefined ? Math.max(1, Math.round(SAMPLE_MS / eachMs)) : 1,
      sliceMs: Math.max(plan.sliceMs, CALLS_PER_TURN * eachMs),
      samples: [],
      turn: 0,
    });
  }
  for (let round = 0; round < plan.rounds; round++) {
    globalThis.gc?.();
    const order = states.map((_, i) => states[(i + round) % states.length]!);
    for (const state of round % 2 === 0 ? order : order.reverse()) {
      const { contender, calls, sliceMs } = state;
      const isAsync = contender.operate.constructor.name === 'AsyncFunction';
      const bench = new Bench({
        time: contender.calls === undefined ? sliceMs : 0,
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

/** Warms the code up. @returns milliseconds of one call at the end of it */
async function warmUp(contender: Contender): Promise<number> {
  if (contender.calls !== undefined) {
    for (let i = 0; i < contender.calls; i++) await contender.operate(i);
    return 0;
  }
  const start = performance.now();
  let calls = 0;
  let half = start;
  let callsAtHalf = 0;
  while (performance.now() - start < WARMUP_MS || calls < WARMUP_CALLS) {
    await contender.operate(calls++);
    if (calls >= 2 * callsAtHalf) {
      callsAtHalf = calls;
      half = performance.now();
    }
  }
  const measured = calls - callsAtHalf;
  return measured > 0 ? (performance.now() - half) / measured : (performance.now() - start) / calls;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
