/**
 * Waiting for the end of a task: by server-sent events while the server offers them, by asking
 * again and again where it does not (or not now).
 */
import { ClientError } from './clientError.ts';
import { recordEvents } from './events.ts';
import type { Http } from './http.ts';
import { type Outcome, outcomeOf } from './records.ts';
import { mayRepeat } from './retry.ts';
import type { CallOptions, TaskId, TaskListItem, TaskRecord } from './types.ts';

/** How the end of a task is waited for. */
export interface WaitOptions extends CallOptions {
  /** Called with every record that says something new, the last one included. */
  readonly onProgress?: ((record: TaskRecord) => void) | undefined;
  /** `poll` asks again and again, `events` (the default) tries server-sent events first. */
  readonly by?: 'events' | 'poll';
  /**
   * Wait between two questions: begins with the first (default 250 ms) and grows to the second (5
   * s).
   */
  readonly pollMs?: readonly [first: number, most: number];
  /** How long the server may be out of reach before waiting fails; default 2 minutes. */
  readonly patienceMs?: number;
}

/** What waiting needs of a client. */
export interface TaskReader {
  readonly http: Http;
  readonly tasksPath: string;
  record(id: TaskId, signal?: AbortSignal): Promise<TaskRecord>;
  /** The task among the completed ones of the list. */
  findCompleted(id: TaskId, signal?: AbortSignal): Promise<TaskListItem | null>;
}

/**
 * Streams that ended without news, one after the other, before the server counts as one without
 * events.
 */
const MAX_BARREN_STREAMS = 3;
/** Streams that the server has no room for now are asked for again after this. */
const STREAM_AGAIN_MS = 15_000;
const POLL_GROWTH = 1.5;

/**
 * @returns the record of the completed task
 * @throws ClientError `TASK_FAILED`, `TASK_CANCELLED`, `TASK_EXPIRED` with the record; or of a
 *   request
 */
export async function waitForTask(
  reader: TaskReader,
  id: TaskId,
  options: WaitOptions,
): Promise<TaskRecord> {
  const { onProgress } = options;
  let shown = '';
  const show = (record: TaskRecord) => {
    // A fresh signed url alone is no news.
    const { result_path, ...news } = record;
    const text = JSON.stringify(news, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    if (text !== shown) onProgress?.(record);
    shown = text;
  };
  const last = await endOfTask(reader, id, options, show);
  return judgeEnd(last.record, last.outcome);
}

interface End {
  readonly record: TaskRecord;
  readonly outcome: Outcome;
}

async function endOfTask(
  reader: TaskReader,
  id: TaskId,
  options: WaitOptions,
  show: (record: TaskRecord) => void,
): Promise<End> {
  const { signal, pollMs = [250, 5000], patienceMs = 120_000 } = options;
  const streams = new Streams(options.by !== 'poll');
  let [waitMs] = pollMs;
  let heardMs = performance.now();
  const hear = (record: TaskRecord) => {
    heardMs = performance.now();
    show(record);
  };
  for (;;) {
    const end =
      (await streams.follow(reader, id, signal, hear)) ??
      (await ask(reader, id, signal, hear).catch((error) => {
        if (!passes(error) || performance.now() - heardMs >= patienceMs) throw error;
        return null;
      }));
    if (end !== null) return end;
    await reader.http.sleep(waitMs * (0.75 + Math.random() / 4), signal);
    waitMs = Math.min(pollMs[1], waitMs * POLL_GROWTH);
  }
}

/** Whether streams of events are worth a try, and the following of one. */
class Streams {
  #notBeforeMs: number;
  #barren = 0;

  constructor(wanted: boolean) {
    this.#notBeforeMs = wanted ? 0 : Number.POSITIVE_INFINITY;
  }

  /** The end of the task, or null when this stream did not show it. */
  async follow(
    { http, tasksPath }: TaskReader,
    id: TaskId,
    signal: AbortSignal | undefined,
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
      // What the server cannot do now it may do later; what it does not know it will not learn.
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

const isEnd = (outcome: Outcome) => outcome !== 'open' && outcome !== 'unknown';

/**
 * Whether it may be gone the next time: no connection, too much at once, a server that restarts.
 */
function passes(error: unknown): boolean {
  return error instanceof ClientError && mayRepeat(error, 'safe');
}

async function ask(
  reader: TaskReader,
  id: TaskId,
  signal: AbortSignal | undefined,
  hear: (record: TaskRecord) => void,
): Promise<End | null> {
  const record = await reader.record(id, signal);
  hear(record);
  const outcome = outcomeOf(record.status);
  if (isEnd(outcome)) return { record, outcome };
  if (outcome === 'open') return null;
  // A text that the contract does not fix. What it does fix is that a completed task is listed as
  // such.
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

const ENDS: Partial<Record<Outcome, { code: string; words: string }>> = {
  failed: { code: 'TASK_FAILED', words: 'failed' },
  cancelled: { code: 'TASK_CANCELLED', words: 'was cancelled' },
  expired: { code: 'TASK_EXPIRED', words: 'expired' },
};

function judgeEnd(record: TaskRecord, outcome: Outcome): TaskRecord {
  const end = ENDS[outcome];
  if (end === undefined) return record;
  const { error } = record;
  const why = error?.detail ?? error?.title;
  const message = `Task ${record.process_id} ${end.words}${why ? `: ${why}` : ''}`;
  throw new ClientError('task', { code: end.code, message, problem: error, record });
}
