/**
 * Who does the shares of a level: this thread the first one, helpers the others, each in a thread of its own. What comes out is the same
 * for any number of them.
 */
import { type Columns, splitColumns } from '../columns.ts';
import { Share } from './columnProver.ts';

/** The steps of a share. */
export type StepName = Exclude<keyof Share, 'memoryBytes' | 'close'>;
export type StepInput<K extends StepName> = Parameters<Share[K]>[0];
export type StepOutput<K extends StepName> =
  ReturnType<Share[K]> extends Generator<number, infer T> ? T : ReturnType<Share[K]>;

/** A share in another thread. */
export interface Helper {
  run<K extends StepName>(step: K, input: StepInput<K>): Promise<StepOutput<K>>;
  /** Most bytes of its module's memory that were in use at a time, as of its last answer. */
  readonly memoryBytes: number;
}

/** Runs a step of a share to its end. */
export function runStep<K extends StepName>(
  share: Share,
  step: K,
  input: StepInput<K>,
): StepOutput<K> {
  const parts = partsOf(share, step, input);
  for (;;) {
    const { done, value } = parts.next();
    if (done) return value;
  }
}

/** A step in parts, also one that has none. */
function* partsOf<K extends StepName>(
  share: Share,
  step: K,
  input: StepInput<K>,
): Generator<number, StepOutput<K>> {
  type Run = (input: StepInput<K>) => StepOutput<K> | Generator<number, StepOutput<K>>;
  const result = (share[step] as Run).call(share, input);
  return isGenerator(result) ? yield* result : result;
}

const isGenerator = <T>(x: T | Generator<number, T>): x is Generator<number, T> =>
  typeof (x as Partial<Generator>).next === 'function';

/** Fewer columns than this are not worth another thread. */
const LEAST_COLUMNS = 128;

export class Team {
  readonly #share = new Share();
  readonly #helpers: readonly Helper[];
  #columns: readonly Columns[] = [];

  constructor(helpers: readonly Helper[]) {
    this.#helpers = helpers;
  }

  /** The columns of the level at hand, share by share. */
  get columns(): readonly Columns[] {
    return this.#columns;
  }

  /** Threads, this one included. */
  get size(): number {
    return 1 + this.#helpers.length;
  }

  /** Peak bytes of the modules' memories. */
  get memoryBytes(): number {
    return this.#helpers.reduce((sum, helper) => sum + helper.memoryBytes, this.#share.memoryBytes);
  }

  /** To be called when the proof is made; nothing may follow. */
  close(): void {
    this.#share.close();
  }

  /** Shares out the columns of a level. */
  split(n: number): void {
    this.#columns = this.columnsOf(n);
  }

  /** n columns, shared out. */
  columnsOf(n: number): Columns[] {
    return splitColumns(n, 1 + this.#helpers.length, LEAST_COLUMNS);
  }

  /**
   * Does a step in all shares.
   *
   * @param pause called by this thread between the parts of its share; what it throws ends the step
   * @returns what came out, in the order of the columns
   */
  async all<K extends StepName>(
    step: K,
    input: (columns: Columns, index: number) => StepInput<K>,
    pause: (share: number) => Promise<void>,
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
    const own = this.#run(step, input(columns[0]!, 0), async (share) => {
      await pause(share);
      return isLost;
    });
    const results = await Promise.allSettled([own, ...others]);
    const failed = results.find(
      (result) => result.status === 'rejected' && result.reason !== LOST,
    ) as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
    return results.map((result) => (result as PromiseFulfilledResult<StepOutput<K>>).value);
  }

  /** This thread's share. @param pause resolves to whether to give up */
  async #run<K extends StepName>(
    step: K,
    input: StepInput<K>,
    pause: (share: number) => Promise<boolean>,
  ): Promise<StepOutput<K>> {
    const parts = partsOf(this.#share, step, input);
    for (;;) {
      const { done, value } = parts.next();
      if (done) return value;
      if (await pause(value)) throw LOST;
    }
  }
}

/** Why this thread gave up its share. */
const LOST = Symbol('another share failed');
