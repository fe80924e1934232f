/** Module of the thread in which an SQLite store works. */
import { clearImmediate, setImmediate } from 'node:timers';
import { faultOf } from '../../../shared/threads/messages.ts';
import { serveThread } from '../../../shared/threads/serve.ts';
import type { CompleteStore } from '../port/serviceStore.ts';
import type { TaskNews } from '../port/taskStore.ts';
import { sqliteTableStore } from './sqliteTable.ts';
import {
  type Call,
  type Calls,
  type Outcome,
  type Outcomes,
  STORE_WORKER,
  type StoreSettings,
} from './sqliteWork.ts';

let store: CompleteStore | undefined;
const news: TaskNews[] = [];

/** Opens the file with the first call; if that fails, with the next one. */
function opened({ clocks, ...file }: StoreSettings): CompleteStore {
  if (store) return store;
  const times = clocks && new Float64Array(clocks);
  const test = times && { nowMs: () => times[0]!, wallMs: () => times[1]! };
  store = sqliteTableStore({ ...file, ...test });
  store.tasks.watch((told) => news.push(told));
  return store;
}

type Verbs = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

serveThread(STORE_WORKER, async (work, { tell }): Promise<Outcomes> => {
  const { settings, calls } = work as Calls;
  let outcomes: Outcome[] = [];
  let flushing: NodeJS.Immediate | undefined;
  const take = (): Outcomes => {
    clearImmediate(flushing);
    flushing = undefined;
    const taken = { outcomes, news: news.splice(0) };
    outcomes = [];
    return taken;
  };
  const flushSoon = () => {
    flushing ??= setImmediate(() => tell(take()));
  };
  const perform = async ({ port, verb, args }: Call, index: number) => {
    try {
      const verbs = opened(settings)[port] as unknown as Verbs;
      const value = await verbs[verb]!(...args);
      outcomes.push({ index, value });
    } catch (error) {
      outcomes.push({ index, fault: faultOf(error) });
    }
    flushSoon();
  };
  // Before the calls, so that answered reads do not wait for a commit, which blocks this thread.
  flushSoon();
  await Promise.all(calls.map(perform));
  return take();
});
