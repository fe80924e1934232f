/** `falconry tasks`: lists, shows, awaits, fetches, cancels and deletes tasks at a service. */
import {
  type ClientError,
  isClientError,
  type TaskListItem,
  type TaskRecord,
} from '../../client/index.ts';
import { parseStatementFile } from '../../wire/taskFile.ts';
import { TASK_STATES } from '../../wire/taskStates.ts';
import { type Command, flag, out, type Takes, valued } from '../lib/command.ts';
import { defineCommand } from '../lib/define.ts';
import { isStdout, readInput, writeOutput } from '../lib/io.ts';
import { checkTaskIds, FILE_LIMITS, LIMIT, printTasks, readLimit, tableRow } from '../lib/tasks.ts';
import { columns, printable } from '../lib/text.ts';
import {
  progressOf,
  SERVICE_SETTINGS,
  type Service,
  type ServiceCall,
  withService,
} from './service.ts';

const ANY_IDS: Takes = [1, Number.POSITIVE_INFINITY, 'the id of a task'];

const VERBS = {
  list: 'one line per task: id, status, signatures, times (the default)',
  show: 'print the progress records of these ids',
  wait: 'wait until these tasks have ended; exit code 1 unless all are completed',
  result: 'fetch the result file of one id',
  cancel: 'cancel unfinished tasks',
  delete: 'delete tasks and their files; unfinished tasks are cancelled first',
} as const;
type Verb = keyof typeof VERBS;

export const command: Command = defineCommand({
  name: 'tasks',
  summary: 'list, watch, fetch, cancel and delete tasks at a service',
  usage: ['[list | show | wait | result | cancel | delete] [<id>…] [options]'],
  about: [
    'Shows and manages the tasks of your API key at a service. With --json, ids are strings, ' +
      'since they may not fit into a number.',
  ],
  verbs: VERBS,
  defaultVerb: 'list',
  takes: {
    show: ANY_IDS,
    wait: ANY_IDS,
    result: [1, 1, 'the id of only one task'],
    cancel: ANY_IDS,
    delete: ANY_IDS,
  },
  options: [
    valued('status', TASK_STATES, 'only tasks with this status', {
      isUnchecked: true,
      verbs: ['list'],
    }),
    { ...LIMIT, verbs: ['list'] },
    flag('newest', 'newest first', { verbs: ['list'] }),
    out('where to write it', { verbs: ['result'] }),
    valued('statements', 'file', 'verify it for this list of digests and keys before writing it', {
      verbs: ['result'],
    }),
  ],
  settings: SERVICE_SETTINGS,
  examples: [
    'falconry tasks',
    'falconry tasks list --status completed --limit 10 --newest',
    'falconry tasks list --json',
  ],
  more: [
    'falconry tasks wait 123 124',
    'falconry tasks result 123 -o result.json --statements task.json',
  ],
  exits: ['invalid', 'usage', 'io', 'service'],
  execute,
});

async function execute(invocation: ServiceCall): Promise<void> {
  checkTaskIds(invocation.positionals);
  await withService(invocation, (service) => RUN[invocation.verb as Verb](service, invocation));
}

const RUN: Record<Verb, (service: Service, call: ServiceCall) => Promise<void>> = {
  list,
  wait,
  result,
  show: ({ client }, call) => each(call, (id) => client.task(id)),
  cancel: ({ client }, call) => each(call, (id) => client.cancel(id)),
  async delete({ client }, { positionals, print, note }) {
    for (const id of positionals) {
      await client.remove(id);
      print({ process_id: id, removed: true });
      note(`${id} removed\n`);
    }
  },
};

const PAGE = 1000;

async function list({ client }: Service, call: ServiceCall): Promise<void> {
  const most = readLimit(call);
  const order = call.flag('newest') ? { order: 'desc' as const } : {};
  const limit = Math.min(PAGE, most + 1);
  const found = client.tasks({ status: call.option('status'), limit, ...order });
  await printTasks(found, most, { head: HEAD, line, facts: (item) => item }, call);
}

const row = tableRow(18, 12, -10, 20, 0);
const HEAD = row('ID', 'STATUS', 'SIGNATURES', 'CREATED', 'FINISHED');

function line({ id, status, meta }: TaskListItem): string {
  const seconds = (time?: string) => (time ? `${time.slice(0, 19)}Z` : '');
  return row(id, status, String(meta.count), seconds(meta.created_at), seconds(meta.finished_at));
}

async function each(
  { positionals, print }: ServiceCall,
  ask: (id: string) => Promise<TaskRecord | null>,
): Promise<void> {
  for (const id of positionals) {
    const record = await ask(id);
    if (record !== null) print(record, describe(record));
    else print({ process_id: id, removed: true }, `${id} had ended and was removed\n`);
  }
}

function describe(record: TaskRecord): string {
  const { progress, error, ...rest } = record;
  const rows = Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]);
  if (progress) rows.push(['progress', `${progress.phase} ${progress.done} of ${progress.total}`]);
  if (error) rows.push(['error', error.detail ?? error.title ?? error.code ?? '']);
  for (const { index, reason } of error?.invalid ?? []) rows.push(['', `item ${index}: ${reason}`]);
  return `${columns(rows).join('\n')}\n\n`;
}

async function wait({ client }: Service, call: ServiceCall): Promise<void> {
  const { positionals, progress, print, note } = call;
  const failures: ClientError[] = [];
  for (const id of positionals) {
    const onProgress = (now: TaskRecord) => progress.update(progressOf(now));
    try {
      const record = await client.waitFor(id, { onProgress });
      progress.end();
      print(record);
      note(`${id} ${printable(record.status)}\n`);
    } catch (error) {
      progress.end();
      if (!isClientError(error) || error.kind !== 'task') throw error;
      failures.push(error);
    }
  }
  // All have ended. The caller reports the error that is thrown.
  for (const { message } of failures.slice(1)) note(`${message}\n`);
  if (failures[0]) throw failures[0];
}

async function result({ client }: Service, call: ServiceCall): Promise<void> {
  const { positionals, option, io, print, note } = call;
  const id = positionals[0]!;
  const path = option('statements');
  const statements =
    path === undefined ? undefined : parseStatementFile(await readInput(path, io), FILE_LIMITS);
  const { text, file, checked } = await client.result(id, statements ? { statements } : {});
  const to = option('out');
  await writeOutput(to, text, io);
  if (isStdout(to)) return;
  print({ ok: true, process_id: id, checked, format: file?.format ?? null, out: to });
  note(`${to}: ${text.length} bytes, ${checked ? 'verified' : 'not verified'}\n`);
}
