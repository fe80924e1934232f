/**
 * `falconry queue` lists the unfinished tasks of all clients in the store of a service, and
 * `falconry retry` puts tasks that were set aside back into the queue.
 */
import type { CompleteStore } from '../../middleware/stores/port/serviceStore.ts';
import type { Task } from '../../middleware/stores/port/task.ts';
import { STATE_TEXTS } from '../../wire/taskStates.ts';
import { type Command, FILE_EXITS, flag, UsageError } from '../lib/command.ts';
import { defineCommand, type Invocation } from '../lib/define.ts';
import { checkTaskIds, LIMIT, printTasks, readLimit, tableRow } from '../lib/tasks.ts';
import { printable } from '../lib/text.ts';
import { STORE_SETTINGS, type StoreSetting, withStore } from './stores.ts';

export const command: Command = defineCommand({
  name: 'queue',
  summary: 'list unfinished tasks of all clients, as operator',
  usage: ['[options]'],
  about: [
    'Lists the unfinished tasks of all clients in the store of a service, oldest first, whether ' +
      'it runs or not. A task that has crashed several workers is set aside and keeps its file, ' +
      'until falconry retry puts it back or its client cancels it.',
    'ATTEMPTS counts how often a worker started the task, LOST how often its whole process ended ' +
      'or stopped responding, FAILURES how often only its worker died. With --json, ids are ' +
      'strings, as for falconry tasks.',
  ],
  options: [flag('aside', 'only tasks that were set aside'), LIMIT],
  settings: STORE_SETTINGS,
  examples: ['falconry queue', 'falconry queue --aside --json'],
  exits: ['usage', 'io'],
  execute: list,
});

async function list(invocation: Invocation<StoreSetting>): Promise<void> {
  const most = readLimit(invocation);
  await withStore(invocation, { mayBeNew: false }, (store) => {
    const tasks = unfinished(store, invocation.flag('aside'));
    return printTasks(tasks, most, { head: HEAD, line, facts }, invocation);
  });
}

const PAGE = 500;

async function* unfinished(store: CompleteStore, onlyAside: boolean): AsyncGenerator<Task> {
  for (let after = 0; ; ) {
    const query = { after, limit: PAGE, ...(onlyAside && { quarantined: true }) };
    const page = await store.tasks.unfinished(query);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

const row = tableRow(18, -8, 11, -10, -8, -5, -8, 0);
const HEAD = row(...'ID CLIENT STATUS SIGNATURES ATTEMPTS LOST FAILURES SUBMITTED'.split(' '));

function line(task: Task): string {
  const status = task.quarantined ? 'set aside' : STATE_TEXTS[task.state].list;
  const { clientId, count, attempt, losses, failures } = task;
  const numbers = [count, attempt, losses, failures].map(String);
  const submitted = `${task.submittedAt.slice(0, 19)}Z`;
  const columns = row(String(task.id), String(clientId), status, ...numbers, submitted);
  if (!task.quarantined || task.error === null) return columns;
  return `${columns}\n${printable(`  ${task.error.message}`)}`;
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

export const retryCommand: Command = defineCommand({
  name: 'retry',
  summary: 'retry tasks that were set aside, as operator',
  usage: ['<id>… [options]', '--all [options]'],
  about: [
    'Puts tasks back into the queue. They were set aside because they had crashed several ' +
      'workers (falconry queue lists them). A running service starts them at once. First ' +
      'remove the cause: give the service more memory, or install a version without the fault.',
    'With --json, there is one line for each task; ids are strings.',
  ],
  takes: [0, Number.POSITIVE_INFINITY],
  options: [flag('all', 'all tasks that were set aside')],
  settings: STORE_SETTINGS,
  examples: ['falconry retry --all', 'falconry retry --all --json'],
  more: ['falconry retry 123 124'],
  exits: FILE_EXITS,
  execute: retry,
});

async function retry(invocation: Invocation<StoreSetting>): Promise<void> {
  const { positionals: ids, flag: has, report, json, fail } = invocation;
  if (has('all') === ids.length > 0) throw new UsageError('expected ids of tasks, or --all');
  checkTaskIds(ids);
  return withStore(invocation, { mayBeNew: false }, async (store) => {
    const putBack = async (id: string) => {
      const isDone = Number.isSafeInteger(Number(id)) && (await store.tasks.putBack(Number(id)));
      if (isDone) report({ process_id: id, retried: true }, `${id} waits again\n`);
      return isDone;
    };
    for (const id of ids) {
      if (await putBack(id)) continue;
      const message = `no task ${id} was set aside`;
      fail({ process_id: id, retried: false, code: 'NOT_FOUND', message }, `${message}\n`);
    }
    if (!has('all')) return;
    let count = 0;
    for await (const { id } of unfinished(store, true)) {
      // False if another process was quicker.
      if (await putBack(String(id))) count++;
    }
    if (count === 0 && !json) report({}, 'no task was set aside\n');
  });
}
