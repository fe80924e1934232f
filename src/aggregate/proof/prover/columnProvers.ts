/**
 * The column provers of a proof: the first in this thread, each of the others in a separate thread.
 * The proof does not depend on their number.
 */
import { type Columns, splitColumns } from '../columns.ts';
import { ColumnProver } from './columnProver.ts';

/** The steps of a column prover. */
export type StepName = Exclude<keyof ColumnProver, 'memoryBytes' | 'close'>;
export type StepInput<K extends StepName> = Parameters<ColumnProver[K]>[0];
export type StepOutput<K extends StepName> =
  ReturnType<ColumnProver[K]> extends Generator<number, infer T> ? T : ReturnType<ColumnProver[K]>;

/** A column prover in another thread. */
export interface Helper {
  run<K extends StepName>(step: K, input: StepInput<K>): Promise<StepOutput<K>>;
  /** Peak bytes of its module's memory in use, as of its last response. */
  readonly memoryBytes: number;
}

/** Runs a step to its end. */
export function runStep<K extends StepName>(
  prover: ColumnProver,
  step: K,
  input: StepInput<K>,
): StepOutput<K> {
  const parts = partsOf(prover, step, input);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

/** Runs any step as a generator, whether it is one or not. */
function* partsOf<K extends StepName>(
  prover: ColumnProver,
  step: K,
  input: StepInput<K>,
): Generator<number, StepOutput<K>> {
  type Run = (input: StepInput<K>) => StepOutput<K> | Generator<number, StepOutput<K>>;
  const result = (prover[step] as Run).call(prover, input);
  return isGenerator(result) ? yield* result : result;
}

const isGenerator = <T>(x: T | Generator<number, T>): x is Generator<number, T> =>
  typeof (x as Partial<Generator>).next === 'function';

/** Fewer columns do not justify another thread. */
const LEAST_COLUMNS = 128;

export class ColumnProvers {
  readonly #own = new ColumnProver();
  readonly #helpers: readonly Helper[];
  #columns: readonly Columns[] = [];

  constructor(helpers: readonly Helper[]) {
    this.#helpers = helpers;
  }

  /** The columns of the current level, one run for each prover. */
  get columns(): readonly Columns[] {
    return this.#columns;
  }

  /** Number of threads, including this one. */
  get size(): number {
    return 1 + this.#helpers.length;
  }

  /** Peak bytes of the modules' memories. */
  get memoryBytes(): number {
    return this.#helpers.reduce((sum, helper) => sum + helper.memoryBytes, this.#own.memoryBytes);
  }

  /** Releases the provers when the proof is done. No further calls are allowed. */
  close(): void {
    this.#own.close();
  }

  /** Begins a level: divides its columns. @param filled of every row, from `filledBy` */
  split(n: number, filled: readonly number[]): void {
    this.#columns = splitColumns(n, this.size, LEAST_COLUMNS, filled);
  }

  /** n columns of one row, divided among the provers. */
  columnsOf(n: number): Columns[] {
    return splitColumns(n, this.size, LEAST_COLUMNS);
  }

  /**
   * Runs a step in all provers.
   *
   * @param pause called by this thread between the parts of its step; an exception ends the step
   * @returns the results, in the order of the columns
   */
  async all<K extends StepName>(
    step: K,
    input: (columns: Columns, index: number) => StepInput<K>,
    pause: (done: number) => Promise<void>,
    columns: readonly Columns[] = this.#columns,
  ): Promise<StepOutput<K>[]> {
    let isLost = false;
    const others = columns.slice(1).map((some, i) => {
      const running = this.#helpers[i]!.run(step, input(some, i + 1));
      running.catch(() => {
        isLost = true;
      });
      return running;
    });
    const own = this.#run(step, input(columns[0]!, 0), async (done) => {
      await pause(done);
      return isLost;
    });
    const results = await Promise.allSettled([own, ...others]);
    const failed = results.find(
      (result) => result.status === 'rejected' && result.reason !== LOST,
    ) as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
    return results.map((result) => (result as PromiseFulfilledResult<StepOutput<K>>).value);
  }

  /** Runs this thread's part of a step. @param pause resolves to whether to stop */
  async #run<K extends StepName>(
    step: K,
    input: StepInput<K>,
    pause: (done: number) => Promise<boolean>,
  ): Promise<StepOutput<K>> {
    const parts = partsOf(this.#own, step, input);
    for (;;) {
      const { done, value } = parts.next();
      if (done) return value;
      if (await pause(value)) throw LOST;
    }
  }
}

/** The reason why this thread stopped its part. */
const LOST = Symbol('another column prover failed');
