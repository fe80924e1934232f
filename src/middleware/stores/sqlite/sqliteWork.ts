/**
 * The messages between a store and its thread. The thread says hello, receives the settings, and
 * then answers every call once. Messages are plain data, and each side sends together what occurs
 * together. (With the general pool of threads, adding a task took a fifth longer.)
 */
import type { faultOf } from '../../../shared/threads/messages.ts';
import type { CompleteStore } from '../port/serviceStore.ts';
import type { TaskNews } from '../port/taskStore.ts';
import type { TableStoreOptions } from '../rules/tableStore.ts';
import type { SqliteFile } from './sqliteFile.ts';

/** The name that the thread gives in its hello. */
export const STORE_WORKER = 'falconry store';

export interface StoreSettings extends SqliteFile {
  /** For tests: the passing of time and the wall clock, as two `Float64`, in milliseconds. */
  readonly clocks?: SharedArrayBuffer;
}

/** Returns the file of the settings, with the clocks as functions. */
export function fileOf({ clocks, ...file }: StoreSettings): SqliteFile & TableStoreOptions {
  const times = clocks && new Float64Array(clocks);
  return times ? { ...file, nowMs: () => times[0]!, wallMs: () => times[1]! } : file;
}

/** The ports of a store, which a call names. */
export type PortName = 'tasks' | 'apiKeys' | 'quotas';

/** The verbs of a port that the thread performs; `close` is the last one. */
export type Verb<Port extends PortName> = Exclude<keyof CompleteStore[Port] & string, 'watch'>;

export interface Call {
  readonly id: number;
  readonly port: PortName;
  readonly verb: string;
  readonly args: readonly unknown[];
}

export type ToThread = { readonly open: StoreSettings } | { readonly calls: readonly Call[] };

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: ReturnType<typeof faultOf> };

export type FromThread =
  | { readonly hello: string }
  /** The news of the transactions among the answers. */
  | { readonly answers: readonly Answer[]; readonly news: readonly TaskNews[] };
