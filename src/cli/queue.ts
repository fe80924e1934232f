/** `falconry queue`: lists the unfinished tasks of all clients, in the store of a service. */
import type { UnfinishedQuery } from '../middleware/stores/port/operatorStore.ts';
import type { CompleteStore } from '../middleware/stores/port/serviceStore.ts';
import type { Task } from '../middleware/stores/port/task.ts';
import { STATE_TEXTS } from '../wire/taskStates.ts';
import type { Command } from './command.ts';
import { defineCommand, FLAG, type Invocation, TEXT } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { STORE_SETTINGS, type StoreSetting, withStore } from './ownStore.ts';
import { printable } from './service.ts';
import { settingLines } from './settings.ts';
import { printTasks, readLimit } from './taskList.ts';

const help = `Usage: falconry queue [options]

Lists the unfinished tasks of all clients in the store of a service, oldest first, while it runs or
not. A task that ended several workers is set aside: it keeps its file and waits for the operator,
who has it tried again with falconry retry, or cancels it as its client.

      --aside         only tasks that were set aside
      --limit <n>     list at most n tasks (default 100); 0 lists all

The columns: ATTEMPTS is how often a worker took the task, LOST how often its whole process ended or
fell silent meanwhile, FAILURES how often only its worker died.

${settingLines(STORE_SETTINGS)}
      --json          answer in JSON; ids are strings, as for falconry tasks
  -q, --quiet         print nothing but the answer
  -h, --help          this text

Examples
  falconry queue
  falconry queue --aside --json

${exitHelp('usage', 'io')}`;

/** The `queue` command. */
export const command: Command = defineCommand({
  name: 'queue',
  summary: 'list unfinished tasks and those that were set aside, as operator',
  help,
  mostArguments: 0,
  options: { aside: FLAG, limit: TEXT },
  settings: STORE_SETTINGS,
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
