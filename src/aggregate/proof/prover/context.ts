/** What the steps of the prover share: the module, the transcript, the level's number and its fields. */
import { CodedError } from '../../../errors.ts';
import type { Coefs, Labrador } from '../../wasm.ts';
import { Seed } from '../challenges.ts';
import type { Columns } from '../columns.ts';
import { ABSORB } from '../labels.ts';
import { LAST_RETRY } from '../shapes.ts';
import { type Trace, Transcript } from '../transcript.ts';
import { nextTurn } from '../yieldToHost.ts';
import type { StepInput, StepName, StepOutput, Team } from './columnProvers.ts';

/** The steps of a level. */
export type Phase = 'commit' | 'project' | 'lift' | 'combine' | 'amortise';

/** How far a proof is; `done` never falls, whatever is run again, and comes to `total`. */
export interface ProveProgress {
  readonly phase: Phase;
  readonly done: number;
  readonly total: number;
}

/** The level fails with this retry byte (docs/protocol.md, 12). */
export class LevelFailure extends Error {
  override readonly name = 'LevelFailure';
}

/** Work goes on for about this long before other work of the thread gets its turn. */
const SLICE_MS = 20;

const PHASES: readonly Phase[] = ['commit', 'project', 'lift', 'combine', 'amortise'];

export class Context {
  readonly lab: Labrador;
  readonly team: Team;
  readonly transcript: Transcript;
  readonly #onProgress: ((progress: ProveProgress) => void) | undefined;
  readonly #signal: AbortSignal | undefined;
  /** polynomials in the rows of every level, and of all */
  readonly #weights: readonly number[];
  readonly #total: number;
  #done = 0;
  #sliceEnd = 0;
  #level = 0;
  #fields: Uint8Array[] = [];

  constructor(
    lab: Labrador,
    team: Team,
    weights: readonly number[],
    options: {
      onProgress?: ((progress: ProveProgress) => void) | undefined;
      signal?: AbortSignal | undefined;
      trace?: Trace | undefined;
    },
  ) {
    this.lab = lab;
    this.team = team;
    this.transcript = new Transcript(options.trace);
    this.#onProgress = options.onProgress;
    this.#signal = options.signal;
    this.#weights = weights;
    this.#total = PHASES.length * weights.reduce((a, b) => a + b, 0);
  }

  get level(): number {
    return this.#level;
  }

  absorb(label: string, data: Uint8Array): void {
    this.transcript.absorb(label, data);
  }

  /** A seed of the transcript, for streams of this level; lives as long as the scope. */
  seed(label: string): Seed {
    return this.seedOf(this.transcript.seed(label));
  }

  /** A seed whose bytes are known, likewise. */
  seedOf(bytes: Uint8Array): Seed {
    return new Seed(this.lab, bytes, this.#level);
  }

  /**
   * Does a step in all shares of the level.
   *
   * @param from, to how much of the phase is done before and after
   */
  all<K extends StepName>(
    phase: Phase,
    [from, to]: readonly [from: number, to: number],
    step: K,
    input: (columns: Columns, index: number) => StepInput<K>,
    columns?: readonly Columns[],
  ): Promise<StepOutput<K>[]> {
    const pause = (share: number): Promise<void> => this.pause(phase, from + share * (to - from));
    return this.team.all(step, input, pause, columns);
  }

  /** A field of the section. */
  send(bytes: Uint8Array): void {
    this.#fields.push(bytes);
  }

  fail(reason: string): never {
    throw new LevelFailure(reason);
  }

  /** pack_w of polynomials mod q (docs/protocol.md, 1). */
  pack({ at, count }: Pick<Coefs, 'at' | 'count'>, bits = 44): Uint8Array {
    const { lab } = this;
    const length = 8 * count * bits;
    return lab.scope(() => {
      const out = lab.room(length);
      lab.kernels.packBits(out, at, 64 * count, bits);
      return lab.bytes(out, length).slice();
    });
  }

  /**
   * A border between steps: shows progress, lets other work of the thread run, ends when told to.
   *
   * @param share how much of the phase is done
   */
  async pause(phase: Phase, share = 0): Promise<void> {
    this.#throwIfAborted();
    if (performance.now() < this.#sliceEnd) return;
    const before = this.#weights.slice(0, this.#level).reduce((a, b) => a + b, 0);
    const here = this.#weights[this.#level]! * (PHASES.indexOf(phase) + share);
    this.#done = Math.max(this.#done, Math.floor(PHASES.length * before + here));
    this.#onProgress?.({ phase, done: this.#done, total: this.#total });
    await nextTurn();
    this.#throwIfAborted();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }

  finish(): void {
    this.#onProgress?.({ phase: 'amortise', done: this.#total, total: this.#total });
  }

  /**
   * Runs a level with retry bytes `from`, `from` + 1, ... until it does not fail. What it allocates in the module stays.
   *
   * @returns its result, its fields and its retry byte; undefined if it fails with every retry byte
   */
  async run<T>(
    level: number,
    body: () => Promise<T>,
    from = 0,
  ): Promise<{ result: T; fields: Uint8Array[]; retry: number } | undefined> {
    const { kernels } = this.lab;
    const { st } = this.transcript;
    const mark = kernels.mark();
    this.#level = level;
    for (let retry = from; retry <= LAST_RETRY; retry++) {
      this.transcript.st = st;
      this.#fields = [];
      kernels.reset(mark);
      try {
        const byte = Uint8Array.of(retry);
        this.send(byte);
        this.absorb(ABSORB.retry, byte);
        const result = await body();
        return { result, fields: this.#fields, retry };
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
