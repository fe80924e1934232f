/** Module of the thread in which an SQLite store works. */
import { setImmediate } from 'node:timers';
import { ownLine } from '../../../shared/threads/host.ts';
import { faultOf } from '../../../shared/threads/messages.ts';
import type { CompleteStore } from '../port/serviceStore.ts';
import type { TaskNews } from '../port/taskStore.ts';
import { sqliteTableStore } from './sqliteTable.ts';
import {
  type Answer,
  type Call,
  type FromThread,
  fileOf,
  STORE_WORKER,
  type StoreSettings,
  type ToThread,
} from './sqliteWork.ts';

const line = ownLine();
const post = (message: FromThread) => line.post(message, []);

let settings: StoreSettings;
let store: CompleteStore | undefined;
let answers: Answer[] = [];
let news: TaskNews[] = [];
let flushing = false;

/** Opens the file with the first call; if that fails, with the next one. */
function opened(): CompleteStore {
  if (store) return store;
  store = sqliteTableStore(fileOf(settings));
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

line.listen((message) => {
  const told = message as ToThread;
  if ('open' in told) {
    settings = told.open;
    return;
  }
  // Before the calls, so that the answers to reads do not wait for a commit that follows.
  flushSoon();
  for (const call of told.calls) void perform(call);
});
post({ hello: STORE_WORKER });
