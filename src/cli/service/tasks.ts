/** `falconry tasks`: lists, shows, awaits, fetches, cancels and deletes tasks at a service. */
import type { TaskListItem, TaskRecord } from '../../client/index.ts';
import { parseStatementFile } from '../../wire/taskFile.ts';
import { TASK_STATES } from '../../wire/taskStates.ts';
import { type Command, EXIT, OUT, UsageError } from '../lib/command.ts';
import { defineCommand } from '../lib/define.ts';
import { isStdout, readInput, writeOutput } from '../lib/io.ts';
import { FILE_LIMITS } from '../lib/taskFiles.ts';
import { LIMIT_OPTION, printTasks, readLimit } from '../lib/taskList.ts';
import { printable } from '../lib/text.ts';
import {
  progressOf,
  SERVICE_SETTINGS,
  type Service,
  type ServiceCall,
  withService,
} from './service.ts';

const VERBS = {
  list: 'one line per task: id, status, signatures, times (the default)',
  show: 'print the progress records of these ids',
  wait: 'wait until these tasks have ended; exit code 1 unless all are completed',
  result: 'fetch the result file of one id',
  cancel: 'cancel unfinished tasks',
  delete: 'delete tasks and their files; unfinished tasks are cancelled first',
} as const;
type Verb = keyof typeof VERBS;

/** The `tasks` command. */
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
  options: [
    {
      name: 'status',
      value: TASK_STATES,
      isUnchecked: true,
      verbs: ['list'],
      about: 'only tasks with this status',
    },
    { ...LIMIT_OPTION, verbs: ['list'] },
    { name: 'newest', verbs: ['list'], about: 'newest first' },
    { ...OUT, verbs: ['result'], about: 'where to write it [standard output]' },
    {
      name: 'statements',
      value: 'file',
      verbs: ['result'],
      about: 'verify it for this list of digests and keys before writing it',
    },
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

async function execute(invocation: ServiceCall): Promise<number> {
  const ids = invocation.positionals;
  const verb = invocation.verb as Verb;
  checkArguments(verb, ids);
  return withService(invocation, (service) => {
    switch (verb) {
      case 'list':
        return list(service, invocation);
      case 'show':
        return each(ids, invocation, (id) => service.client.task(id));
      case 'wait':
        return wait(service, ids, invocation);
      case 'result':
        return result(service, ids[0]!, invocation);
      case 'cancel':
        return each(ids, invocation, (id) => service.client.cancel(id));
      case 'delete':
        return remove(service, ids, invocation);
    }
  });
}

function checkArguments(verb: Verb, ids: readonly string[]): void {
  if (verb === 'list') {
    if (ids.length > 0) throw new UsageError(`unexpected argument ${ids[0]}`);
    return;
  }
  if (ids.length === 0) throw new UsageError('expected the id of a task');
  if (verb === 'result' && ids.length > 1) throw new UsageError('expected the id of only one task');
  const wrong = ids.find((id) => !/^\d{1,30}$/.test(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not the id of a task`);
}

const PAGE = 1000;

async function list({ client }: Service, invocation: ServiceCall): Promise<number> {
  const { option, flag } = invocation;
  const most = readLimit(invocation);
  const query = {
    status: option('status'),
    limit: Math.min(PAGE, most + 1),
    ...(flag('newest') && { order: 'desc' as const }),
  };
  const facts = (item: TaskListItem) => item;
  await printTasks(client.tasks(query), most, { head: HEAD, line, facts }, invocation);
  return EXIT.ok;
}

const row = (id: string, status: string, count: string, created: string, finished: string) =>
  [id.padEnd(18), status.padEnd(12), count.padStart(10), created.padEnd(20), finished]
    .map(printable)
    .join('  ')
    .trimEnd();
const HEAD = row('ID', 'STATUS', 'SIGNATURES', 'CREATED', 'FINISHED');

function line({ id, status, meta }: TaskListItem): string {
  const seconds = (time = '') => (time === '' ? '' : `${time.slice(0, 19)}Z`);
  return row(id, status, String(meta.count), seconds(meta.created_at), seconds(meta.finished_at));
}

/** Requests the records one by one and prints them. */
async function each(
  ids: readonly string[],
  { io, json }: ServiceCall,
  ask: (id: string) => Promise<TaskRecord | null>,
): Promise<number> {
  for (const id of ids) {
    const record = await ask(id);
    if (json) io.stdout.write(`${JSON.stringify(record ?? { process_id: id, removed: true })}\n`);
    else io.stdout.write(record === null ? `${id} had ended and was removed\n` : describe(record));
  }
  return EXIT.ok;
}

function describe(record: TaskRecord): string {
  const { progress, error, ...rest } = record;
  const lines = Object.entries(rest).map(([name, value]) => [name, String(value)]);
  if (progress) lines.push(['progress', `${progress.phase} ${progress.done} of ${progress.total}`]);
  if (error) lines.push(['error', error.detail ?? error.title ?? error.code ?? '']);
  for (const { index, reason } of error?.invalid ?? [])
    lines.push(['', `item ${index}: ${reason}`]);
  const width = Math.max(...lines.map(([name]) => name!.length));
  const shown = lines.map(([name, value]) => printable(`${name!.padEnd(width)}  ${value}`));
  return `${shown.join('\n')}\n\n`;
}

async function wait(
  { client }: Service,
  ids: readonly string[],
  call: ServiceCall,
): Promise<number> {
  const { progress, note, json, io } = call;
  for (const id of ids) {
    const record = await client.waitFor(id, {
      onProgress: (now) => progress.update(progressOf(now)),
    });
    progress.end();
    if (json) io.stdout.write(`${JSON.stringify(record)}\n`);
    else note(`${id} ${printable(record.status)}\n`);
  }
  return EXIT.ok;
}

async function result({ client }: Service, id: string, call: ServiceCall): Promise<number> {
  const { option, io, json, note } = call;
  const path = option('statements');
  const statements =
    path === undefined ? undefined : parseStatementFile(await readInput(path, io), FILE_LIMITS);
  const { text, file, checked } = await client.result(id, statements ? { statements } : {});
  const out = option('out');
  await writeOutput(out, text, io);
  if (isStdout(out)) return EXIT.ok;
  const facts = { ok: true, process_id: id, checked, format: file?.format ?? null, out };
  if (json) io.stdout.write(`${JSON.stringify(facts)}\n`);
  else note(`${out}: ${text.length} bytes, ${checked ? 'verified' : 'not verified'}\n`);
  return EXIT.ok;
}

async function remove(
  { client }: Service,
  ids: readonly string[],
  call: ServiceCall,
): Promise<number> {
  for (const id of ids) {
    await client.remove(id);
    if (call.json) call.io.stdout.write(`${JSON.stringify({ process_id: id, removed: true })}\n`);
    else call.note(`${id} removed\n`);
  }
  return EXIT.ok;
}
