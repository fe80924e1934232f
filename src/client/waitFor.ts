/** Waits for the end of a task: by server-sent events if the server has them, else by polling. */
import type { HostSignal } from '../shared/hostTypes.ts';
import { ClientError } from './clientError.ts';
import { recordEvents } from './events.ts';
import type { Http } from './http.ts';
import { isEnd, type Outcome, outcomeOf } from './records.ts';
import { mayRepeat } from './retry.ts';
import type { CallOptions, TaskId, TaskListItem, TaskRecord } from './types.ts';

/** Options of `waitFor`. */
export interface WaitOptions extends CallOptions {
  /** Called with every record that differs from the previous one, including the last. */
  readonly onProgress?: ((record: TaskRecord) => void) | undefined;
  /** `events` (the default) tries server-sent events first; `poll` only polls. */
  readonly by?: 'events' | 'poll';
  /** Interval between polls: grows from the first value (default 250 ms) to the second (5 s). */
  readonly pollMs?: readonly [first: number, most: number];
  /** Time without contact to the server after which waiting fails, in ms; default 2 minutes. */
  readonly patienceMs?: number;
}

/** The part of a client that waiting needs. */
export interface TaskReader {
  readonly http: Http;
  readonly tasksPath: string;
  record(id: TaskId, signal?: HostSignal): Promise<TaskRecord>;
  /** Returns the task if the list contains it among the completed ones. */
  findCompleted(id: TaskId, signal?: HostSignal): Promise<TaskListItem | null>;
}

/** Number of consecutive streams without a record after which events are no longer tried. */
const MAX_BARREN_STREAMS = 3;
/** Delay before another stream is tried if the server has no capacity for one. */
const STREAM_AGAIN_MS = 15_000;
const POLL_GROWTH = 1.5;

/**
 * @returns the record of the completed task
 * @throws ClientError `TASK_FAILED`, `TASK_CANCELLED`, `TASK_EXPIRED` with the record; or as for a
 *   request
 */
export async function waitForTask(
  reader: TaskReader,
  id: TaskId,
  options: WaitOptions,
): Promise<TaskRecord> {
  const { onProgress, signal, pollMs = [250, 5000], patienceMs = 120_000 } = options;
  const streams = new Streams(options.by !== 'poll');
  let [waitMs] = pollMs;
  let heardMs = performance.now();
  let shown = '';
  const hear = (record: TaskRecord) => {
    heardMs = performance.now();
    // A new signed URL alone does not count as a change.
    const { result_path, ...news } = record;
    const text = JSON.stringify(news, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    if (text !== shown) onProgress?.(record);
    shown = text;
  };
  for (;;) {
    const end =
      (await streams.follow(reader, id, signal, hear)) ??
      (await ask(reader, id, signal, hear).catch((error) => {
        if (!passes(error) || performance.now() - heardMs >= patienceMs) throw error;
        return null;
      }));
    if (end !== null) return judgeEnd(end);
    await reader.http.sleep(waitMs * (0.75 + Math.random() / 4), signal);
    waitMs = Math.min(pollMs[1], waitMs * POLL_GROWTH);
  }
}

interface End {
  readonly record: TaskRecord;
  readonly outcome: Outcome;
}

/** Follows event streams as long as they work. */
class Streams {
  #notBeforeMs: number;
  #barren = 0;

  constructor(wanted: boolean) {
    this.#notBeforeMs = wanted ? 0 : Number.POSITIVE_INFINITY;
  }

  /** Returns the end of the task, or null if this stream did not report it. */
  async follow(
    { http, tasksPath }: TaskReader,
    id: TaskId,
    signal: HostSignal | undefined,
    hear: (record: TaskRecord) => void,
  ): Promise<End | null> {
    if (performance.now() < this.#notBeforeMs) return null;
    this.#barren++;
    try {
      for await (const record of recordEvents(http, tasksPath, id, signal)) {
        this.#barren = 0;
        hear(record);
        const outcome = outcomeOf(record.status);
        if (isEnd(outcome)) return { record, outcome };
      }
    } catch (error) {
      if (!(error instanceof ClientError) || error.kind === 'aborted') throw error;
      // A temporary problem may pass; a missing endpoint will not appear.
      if (error.kind === 'problem' && passes(error)) {
        this.#notBeforeMs = performance.now() + STREAM_AGAIN_MS;
      } else if (error.kind !== 'network') {
        this.#notBeforeMs = Number.POSITIVE_INFINITY;
      }
    }
    if (this.#barren >= MAX_BARREN_STREAMS) this.#notBeforeMs = Number.POSITIVE_INFINITY;
    return null;
  }
}

/** Returns whether the problem is temporary: no connection, rate limit, server restart. */
function passes(error: unknown): boolean {
  return error instanceof ClientError && mayRepeat(error, 'safe');
}

async function ask(
  reader: TaskReader,
  id: TaskId,
  signal: HostSignal | undefined,
  hear: (record: TaskRecord) => void,
): Promise<End | null> {
  const record = await reader.record(id, signal);
  hear(record);
  const outcome = outcomeOf(record.status);
  if (isEnd(outcome)) return { record, outcome };
  if (outcome === 'open') return null;
  // The contract does not specify this text, but it does require that completed tasks are listed.
  const item = await reader.findCompleted(id, signal);
  if (item === null) return null;
  const { finished_at, result_path } = item.meta;
  const found = {
    ...record,
    ...(finished_at !== undefined && { finished_at }),
    ...(result_path !== undefined && { result_path }),
  };
  hear(found);
  return { record: found, outcome: 'completed' };
}

function judgeEnd({ record, outcome }: End): TaskRecord {
  if (outcome === 'completed') return record;
  const { error } = record;
  const why = error?.detail ?? error?.title;
  const end = outcome === 'cancelled' ? 'was cancelled' : outcome;
  const message = `Task ${record.process_id} ${end}${why ? `: ${why}` : ''}`;
  const code = `TASK_${outcome.toUpperCase()}`;
  throw new ClientError('task', { code, message, problem: error, record });
}
