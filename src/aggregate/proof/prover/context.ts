/**
 * The state shared by the prover's steps: the module, the column provers, the transcript, the
 * number of the level, and the progress.
 */

import { CodedError } from '../../../shared/errors.ts';
import type { HostSignal } from '../../../shared/hostTypes.ts';
import { nowMs, yieldToHost } from '../../../shared/wait.ts';
import type { Coefs, Labrador } from '../../wasm.ts';
import { Seed } from '../challenges.ts';
import type { Columns } from '../columns.ts';
import { DEGREE, LAST_RETRY, Q_BITS } from '../constants.ts';
import type { OrdinaryFields } from '../fields.ts';
import { ABSORB, type Trace, Transcript } from '../transcript.ts';
import type { ColumnProvers, StepInput, StepName, StepOutput } from './columnProvers.ts';
import type { KeyStore } from './keyStore.ts';
import type { Output } from './output.ts';

/** The steps of a level. */
export type Phase = 'commit' | 'project' | 'lift' | 'combine' | 'amortise';

/** Progress of a proof. `done` never decreases, even if work is repeated, and ends at `total`. */
export interface ProveProgress {
  readonly phase: Phase;
  readonly done: number;
  readonly total: number;
}

/** The results of a level as passed to `inspect`: handles of the module's memory. */
export interface ShownLevel {
  readonly lab: Labrador;
  readonly number: number;
  /** absent at the tail */
  readonly output?: Output;
  /** absent at level 0 and at the merged level */
  readonly before?: Output;
  readonly lifts: Coefs;
  /** h of all pairs, at the tail */
  readonly h?: Coefs;
  readonly sent: Pick<OrdinaryFields, 'y' | 'yOfX' | 'others' | 'b'>;
}

/** Thrown when the level fails with this retry byte (docs/protocol.md, 12). */
class LevelFailure extends Error {}

/** Approximate time between yields to other work of the thread. */
const SLICE_MS = 20;

const PHASES: readonly Phase[] = ['commit', 'project', 'lift', 'combine', 'amortise'];

export class Context {
  readonly lab: Labrador;
  readonly provers: ColumnProvers;
  /** the keys of all outer commitments, and of the tail */
  readonly keys: KeyStore;
  readonly transcript: Transcript;
  readonly #onProgress: ((progress: ProveProgress) => void) | undefined;
  readonly #signal: HostSignal | undefined;
  readonly #inspect: ((level: ShownLevel) => void) | undefined;
  /** number of polynomials in the rows of each level, and of all levels */
  readonly #weights: readonly number[];
  readonly #total: number;
  #done = 0;
  #sliceEnd = 0;
  #level = 0;

  constructor(
    lab: Labrador,
    provers: ColumnProvers,
    keys: KeyStore,
    weights: readonly number[],
    options: {
      onProgress?: ((progress: ProveProgress) => void) | undefined;
      signal?: HostSignal | undefined;
      trace?: Trace | undefined;
      inspect?: ((level: ShownLevel) => void) | undefined;
    },
  ) {
    this.lab = lab;
    this.provers = provers;
    this.keys = keys;
    this.transcript = new Transcript(options.trace);
    this.#onProgress = options.onProgress;
    this.#signal = options.signal;
    this.#inspect = options.inspect;
    this.#weights = weights;
    this.#total = PHASES.length * weights.reduce((a, b) => a + b, 0);
  }

  get level(): number {
    return this.#level;
  }

  absorb(label: string, data: Uint8Array): void {
    this.transcript.absorb(label, data);
  }

  /** Derives a seed of the transcript, for streams of this level. Valid until the scope ends. */
  seed(label: string): Seed {
    return this.seedOf(this.transcript.seed(label));
  }

  /** Wraps a seed whose bytes are known. Valid until the scope ends. */
  seedOf(bytes: Uint8Array): Seed {
    return new Seed(this.lab, bytes, this.#level);
  }

  /**
   * Runs a step on all columns of the level.
   *
   * @param from, to the share of the phase that is done before and after
   */
  all<K extends StepName>(
    phase: Phase,
    [from, to]: readonly [from: number, to: number],
    step: K,
    input: (columns: Columns, index: number) => StepInput<K>,
    columns?: readonly Columns[],
  ): Promise<StepOutput<K>[]> {
    const pause = (done: number): Promise<void> => this.pause(phase, from + done * (to - from));
    return this.provers.all(step, input, pause, columns);
  }

  /** Ends this attempt at the level. */
  fail(reason: string): never {
    throw new LevelFailure(reason);
  }

  /** Fails the level if a digit did not fit 16 bits. @param status of the kernel */
  requireFit(status: number): void {
    if (status !== 0) this.fail('16 bits');
  }

  /** pack_w of polynomials mod q (docs/protocol.md, 1). */
  pack({ at, count }: Pick<Coefs, 'at' | 'count'>, bits = Q_BITS): Uint8Array {
    const { lab } = this;
    const length = (DEGREE * count * bits) / 8;
    return lab.scope(() => {
      const out = lab.room(length);
      lab.kernels.packBits(out, at, DEGREE * count, bits);
      return lab.bytes(out, length).slice();
    });
  }

  /**
   * Marks a boundary between steps: reports progress, and lets other work of the thread run.
   *
   * @param share the share of the phase that is done
   * @throws CodedError `ABORTED` if the signal is aborted
   */
  async pause(phase: Phase, share = 0): Promise<void> {
    this.#throwIfAborted();
    if (nowMs() < this.#sliceEnd) return;
    const before = this.#weights.slice(0, this.#level).reduce((a, b) => a + b, 0);
    const here = this.#weights[this.#level]! * (PHASES.indexOf(phase) + share);
    this.#done = Math.max(this.#done, Math.floor(PHASES.length * before + here));
    this.#onProgress?.({ phase, done: this.#done, total: this.#total });
    await yieldToHost();
    this.#throwIfAborted();
    this.#sliceEnd = nowMs() + SLICE_MS;
  }

  show(level: Omit<ShownLevel, 'lab'>): void {
    this.#inspect?.({ lab: this.lab, ...level });
  }

  finish(): void {
    this.#onProgress?.({ phase: 'amortise', done: this.#total, total: this.#total });
  }

  /**
   * Runs a level with the retry bytes `from`, `from` + 1, ... until it succeeds. Its allocations in
   * the module are kept.
   *
   * @returns the result of `body`; undefined if the level fails with every retry byte
   */
  async run<T>(
    level: number,
    body: (retry: number) => Promise<T>,
    from = 0,
  ): Promise<T | undefined> {
    const { kernels } = this.lab;
    const { st } = this.transcript;
    const mark = kernels.mark();
    this.#level = level;
    for (let retry = from; retry <= LAST_RETRY; retry++) {
      this.transcript.st = st;
      kernels.reset(mark);
      try {
        this.absorb(ABSORB.retry, Uint8Array.of(retry));
        return await body(retry);
      } catch (error) {
        if (!(error instanceof LevelFailure)) throw error;
      }
    }
    return undefined;
  }

  #throwIfAborted(): void {
    if (this.#signal?.aborted) throw new CodedError('ABORTED', { cause: this.#signal.reason });
  }
}
