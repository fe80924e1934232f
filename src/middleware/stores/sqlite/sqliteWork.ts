/**
 * The messages between a store and its thread. The thread says hello, gets the settings, and then
 * answers every call once. Both sides put into one message what comes together.
 */
import { CodedError } from '../../../shared/errors.ts';
import { faultOf as baseFaultOf } from '../../../shared/threads/messages.ts';
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
export type PortName = 'tasks' | 'apiKeys' | 'quotas' | 'secrets';

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
  | { readonly id: number; readonly fault: Fault };

export type FromThread =
  | { readonly hello: string }
  /** The news are those of transactions among the answers. */
  | { readonly answers: readonly Answer[]; readonly news: readonly TaskNews[] };

/** An error as data, with the message that it had. */
export type Fault = ReturnType<typeof faultOf>;

export function faultOf(error: unknown) {
  const { code, text } = baseFaultOf(error);
  return { code, text, message: error instanceof CodedError ? error.message : undefined };
}

export function errorOf({ code, text, message }: Fault): CodedError {
  const cause = new Error(text);
  return new CodedError(code, { cause, ...(message !== undefined && { message }) });
}
