/** Module of the thread in which an SQLite store works. */
import { setImmediate } from 'node:timers';
import { ownLine } from '../../../shared/threads/host.ts';
import { faultOf } from '../../../shared/threads/messages.ts';
import type { TaskNews } from '../port/taskStore.ts';
import { type SqliteTableStore, sqliteTableStore } from './sqliteTable.ts';
import {
  type Answer,
  type Call,
  type FromThread,
  STORE_WORKER,
  type StoreSettings,
  type ToThread,
} from './sqliteWork.ts';

const line = ownLine();
const post = (message: FromThread) => line.post(message, []);

let settings: StoreSettings;
let store: SqliteTableStore | undefined;
let answers: Answer[] = [];
let news: TaskNews[] = [];
let flushing = false;

/** Opens the file with the first call; if that fails, with the next one. */
function opened(): SqliteTableStore {
  if (store) return store;
  const { clocks, ...file } = settings;
  const times = clocks && new Float64Array(clocks);
  const test = times && { nowMs: () => times[0]!, wallMs: () => times[1]! };
  store = sqliteTableStore({ ...file, ...test });
  store.tasks.watch((told) => {
    news.push(told);
    flushSoon();
  });
  return store;
}

/** In the next turn of the event loop, with all that there is by then. */
function flushSoon(): void {
  if (flushing) return;
  flushing = true;
  setImmediate(() => {
    flushing = false;
    if (answers.length + news.length > 0) post({ answers, news });
    answers = [];
    news = [];
  });
}

type Verbs = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

async function perform({ id, port, verb, args }: Call): Promise<void> {
  try {
    const verbs = opened()[port] as unknown as Verbs;
    const value = await verbs[verb]!(...args);
    answers.push({ id, value });
  } catch (error) {
    answers.push({ id, fault: faultOf(error) });
  }
  flushSoon();
}

/** Verbs that read at once, and do nothing else. */
const READS = ['get', 'list', 'usage', 'findApiKey', 'quota'];

line.listen((message) => {
  const told = message as ToThread;
  if ('open' in told) {
    settings = told.open;
    return;
  }
  // Before the calls, so that the answers to reads do not wait for a commit that follows.
  flushSoon();
  const isRead = ({ verb }: Call) => READS.includes(verb);
  const reads = told.calls.filter(isRead);
  if (store && reads.length > 1) store.together(() => reads.forEach(perform));
  else reads.forEach(perform);
  for (const call of told.calls) if (!isRead(call)) void perform(call);
});
post({ hello: STORE_WORKER });
