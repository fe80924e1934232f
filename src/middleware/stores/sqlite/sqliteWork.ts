/** The messages between a store and its thread. Calls and outcomes share messages, to save time. */
import type { faultOf } from '../../../shared/threads/messages.ts';
import type { CompleteStore } from '../port/serviceStore.ts';
import type { TaskNews } from '../port/taskStore.ts';
import type { SqliteFile } from './sqliteFile.ts';

/** The name that the thread gives in its hello. */
export const STORE_WORKER = 'falconry store';

export interface StoreSettings extends SqliteFile {
  /** For tests: the passing of time and the wall clock, as two `Float64`, in milliseconds. */
  readonly clocks?: SharedArrayBuffer;
}

/** The ports of a store, which a call names. */
export type PortName = 'tasks' | 'apiKeys' | 'quotas';

/** The verbs of a port that the thread performs; `close` is the last one. */
export type Verb<Port extends PortName> = Exclude<keyof CompleteStore[Port] & string, 'watch'>;

/** One call of a verb. */
export interface Call {
  readonly port: PortName;
  readonly verb: string;
  readonly args: readonly unknown[];
}

/** Calls that are sent together. The first ones of a thread open the file. */
export interface Calls {
  readonly settings: StoreSettings;
  readonly calls: readonly Call[];
}

/** The outcome of a call; `index` is its place among the calls that were sent together. */
export type Outcome =
  | { readonly index: number; readonly value: unknown }
  | { readonly index: number; readonly fault: ReturnType<typeof faultOf> };

/** Some outcomes, with the news of the transactions among them. */
export interface Outcomes {
  readonly outcomes: readonly Outcome[];
  readonly news: readonly TaskNews[];
}
