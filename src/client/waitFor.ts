/**
 * Waiting for the end of a task: by server-sent events while the server offers them, by asking again and
 * again where it does not (or not now).
 */
import { ClientError } from './clientError.ts';
import { recordEvents } from './events.ts';
import type { Http } from './http.ts';
import { type Outcome, outcomeOf } from './records.ts';
import type { CallOptions, TaskId, TaskListItem, TaskRecord } from './types.ts';

export interface WaitOptions extends CallOptions {
  /** Called with every record that says something new, the last one included. */
  readonly onProgress?: ((record: TaskRecord) => void) | undefined;
  /** `poll` asks again and again, `events` (the default) tries server-sent events first. */
  readonly by?: 'events' | 'poll';
  /** Wait between two questions: begins with the first (default 250 ms) and grows to the second (5 s). */
  readonly pollMs?: readonly [first: number, most: number];
}

/** What waiting needs of a client. */
export interface TaskReader {
  readonly http: Http;
  readonly tasksPath: string;
  record(id: TaskId, signal?: AbortSignal): Promise<TaskRecord>;
  /** The task among the completed ones of the list. */
  findCompleted(id: TaskId, signal?: AbortSignal): Promise<TaskListItem | null>;
}

/** A stream that breaks so often without news is given up. */
const MAX_BARREN_STREAMS = 3;
/** While streams are refused for now (too many of them), they are tried again after so many questions. */
const GROWTH = 1.5;

/**
 * @returns the record of the completed task
 * @throws ClientError `TASK_FAILED`, `TASK_CANCELLED`, `TASK_EXPIRED` with the record; or of a request
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
  const byEvents =
    options.by === 'poll' ? null : await followEvents(reader, id, options.signal, show);
  return byEvents ?? poll(reader, id, options, show);
}

/** The end, or null when the server has no events for us. */
async function followEvents(
  { http, tasksPath }: TaskReader,
  id: TaskId,
  signal: AbortSignal | undefined,
  show: (record: TaskRecord) => void,
): Promise<End | null> {
  for (let barren = 0; barren < MAX_BARREN_STREAMS; ) {
    try {
      for await (const record of recordEvents(http, tasksPath, id, signal)) {
        barren = 0;
        show(record);
        const outcome = outcomeOf(record.status);
        if (outcome !== 'open' && outcome !== 'unknown') return { record, outcome };
      }
    } catch (error) {
      if (!(error instanceof ClientError) || error.kind !== 'network') {
        if (error instanceof ClientError && error.kind !== 'aborted') return null;
        throw error;
      }
    }
    barren++;
    await http.sleep(200 * 2 ** barren * (0.5 + Math.random() / 2), signal);
  }
  return null;
}

async function poll(
  reader: TaskReader,
  id: TaskId,
  { signal, pollMs = [250, 5000] }: WaitOptions,
  show: (record: TaskRecord) => void,
): Promise<End> {
  let [waitMs] = pollMs;
  for (;;) {
    const record = await reader.record(id, signal);
    show(record);
    const outcome = outcomeOf(record.status);
    if (outcome !== 'open' && outcome !== 'unknown') return { record, outcome };
    if (outcome === 'unknown') {
      // A text that the contract does not fix. What it does fix is that a completed task is listed as such.
      const item = await reader.findCompleted(id, signal);
      if (item !== null) {
        const { finished_at, result_path } = item.meta;
        const found = {
          ...record,
          ...(finished_at !== undefined && { finished_at }),
          ...(result_path !== undefined && { result_path }),
        };
        show(found);
        return { record: found, outcome: 'completed' };
      }
    }
    await reader.http.sleep(waitMs * (0.75 + Math.random() / 4), signal);
    waitMs = Math.min(pollMs[1], waitMs * GROWTH);
  }
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
