/** `falconry queue`: lists the unfinished tasks of all clients, in the store of a service. */

import type { CompleteStore, UnfinishedQuery } from '../../middleware/stores/port/serviceStore.ts';
import type { Task } from '../../middleware/stores/port/task.ts';
import { STATE_TEXTS } from '../../wire/taskStates.ts';
import { type Command, EXIT } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { LIMIT_OPTION, printTasks, readLimit } from '../lib/taskList.ts';
import { printable } from '../lib/text.ts';
import { STORE_SETTINGS, type StoreSetting, withStore } from './ownStore.ts';

/** The `queue` command. */
export const command: Command = defineCommand({
  name: 'queue',
  summary: 'list unfinished tasks of all clients, as operator',
  usage: ['[options]'],
  about: [
    'Lists the unfinished tasks of all clients in the store of a service, oldest first, whether ' +
      'it runs or not. A task that ended several workers is set aside: it keeps its file and ' +
      'waits for falconry retry, or until its client cancels it.',
    'ATTEMPTS counts how often a worker started the task, LOST how often its whole process ended ' +
      'or stopped responding, FAILURES how often only its worker died. With --json, ids are ' +
      'strings, as for falconry tasks.',
  ],
  options: [{ name: 'aside', about: 'only tasks that were set aside' }, LIMIT_OPTION],
  settings: STORE_SETTINGS,
  examples: ['falconry queue', 'falconry queue --aside --json'],
  exits: ['usage', 'io'],
  mostArguments: 0,
  execute,
});

async function execute(invocation: Invocation<StoreSetting>): Promise<number> {
  const most = readLimit(invocation);
  const query = invocation.flag('aside') ? { quarantined: true } : {};
  return withStore(invocation, { mayBeNew: false }, async (store) => {
    await printTasks(unfinished(store, query), most, { head: HEAD, line, facts }, invocation);
    return EXIT.ok;
  });
}

const PAGE = 500;

/** All of them, page by page. */
export async function* unfinished(
  store: CompleteStore,
  query: Pick<UnfinishedQuery, 'quarantined'>,
): AsyncGenerator<Task> {
  for (let after = 0; ; ) {
    const page = await store.tasks.unfinished({ ...query, after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

const row = (...[id, client, status, count, attempts, lost, failures, submitted]: string[]) =>
  [
    id!.padEnd(18),
    client!.padStart(8),
    status!.padEnd(11),
    count!.padStart(10),
    attempts!.padStart(8),
    lost!.padStart(5),
    failures!.padStart(8),
    submitted!,
  ].join('  ');
const HEAD = row(
  'ID',
  'CLIENT',
  'STATUS',
  'SIGNATURES',
  'ATTEMPTS',
  'LOST',
  'FAILURES',
  'SUBMITTED',
);

function line(task: Task): string {
  const status = task.quarantined ? 'set aside' : STATE_TEXTS[task.state].list;
  const { clientId, count, attempt, losses, failures } = task;
  const numbers = [count, attempt, losses, failures].map(String);
  const submitted = `${task.submittedAt.slice(0, 19)}Z`;
  const columns = row(String(task.id), String(clientId), status, ...numbers, submitted);
  return task.quarantined && task.error !== null
    ? `${columns}\n${printable(`  ${task.error.message}`)}`
    : columns;
}

function facts(task: Task): Readonly<Record<string, unknown>> {
  return {
    process_id: String(task.id),
    client_id: task.clientId,
    status: STATE_TEXTS[task.state].list,
    quarantined: task.quarantined,
    batch_size: task.count,
    attempts: task.attempt,
    losses: task.losses,
    failures: task.failures,
    submitted_at: task.submittedAt,
    ...(task.error !== null && { error: { code: task.error.code, message: task.error.message } }),
  };
}
