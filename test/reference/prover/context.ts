/** The state that the steps of a level share: its number, transcript, fields and faults. */
import type { Constraint, Faults, FaultValues, Place, Trace } from './trace.ts';
import { Transcript } from './transcript.ts';

/** A level that has to be run again with the next retry byte (section 12). */
export class LevelFailure extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.name = 'LevelFailure';
    this.reason = reason;
  }
}

export class Context {
  readonly transcript: Transcript;
  readonly #trace: Trace | undefined;
  readonly #faults: Faults;
  #place: Place = { level: 0, retry: 0 };
  #fields: { name: string; bytes: Uint8Array }[] = [];

  constructor(trace: Trace | undefined, faults: Faults) {
    this.transcript = new Transcript(trace);
    this.#trace = trace;
    this.#faults = faults;
  }

  get level(): number {
    return this.#place.level;
  }

  /** The value to use: the honest one, unless a fault replaces it. */
  use<K extends keyof FaultValues>(name: K, value: FaultValues[K]): FaultValues[K] {
    const fault = this.#faults[name] as
      | ((value: FaultValues[K], place: Place) => FaultValues[K])
      | undefined;
    return fault === undefined ? value : fault(value, this.#place);
  }

  /** Whether the combination leaves this constraint out. */
  omits(constraint: Constraint): boolean {
    const { omit, omitAt = this.level } = this.#faults;
    return omitAt === this.level && (omit?.has(constraint) ?? false);
  }

  absorb(label: string, data: Uint8Array): void {
    const used = this.use('absorb', { label, data });
    this.transcript.absorb(used.label, used.data);
  }

  /** A field of the section, in the order of section 11. */
  send(name: string, bytes: Uint8Array): void {
    this.#fields.push({ name, bytes: this.use('field', { name, bytes }).bytes });
  }

  fail(reason: string): void {
    if (!this.#faults.ignore?.(reason, this.#place)) throw new LevelFailure(reason);
  }

  show(values: unknown): void {
    this.#trace?.({ kind: 'level', ...this.#place, values });
  }

  /** Runs a level with retry bytes `from`..15 until it does not fail. @returns also its fields */
  run<T>(
    level: number,
    body: () => T,
    from = 0,
  ): { result: T; fields: Uint8Array[]; retry: number } | undefined {
    const st = this.transcript.st;
    for (let retry = from; retry < 16; retry++) {
      this.transcript.st = st;
      this.#place = { level, retry };
      this.#fields = [];
      try {
        const byte = Uint8Array.of(retry);
        this.send('retry', byte);
        this.absorb('retry', byte);
        const result = body();
        for (const field of this.#fields) this.#trace?.({ kind: 'field', level, ...field });
        return { result, fields: this.#fields.map(({ bytes }) => bytes), retry };
      } catch (error) {
        if (!(error instanceof LevelFailure)) throw error;
        this.#trace?.({ kind: 'failure', level, retry, reason: error.reason });
      }
    }
    return undefined;
  }
}
