/** `falconry tasks`: one's own tasks at a service: list, show, wait, fetch, cancel, delete. */
import type { TaskListItem, TaskRecord } from '../client/index.ts';
import { parseStatementFile } from '../wire/taskFile.ts';
import { FILE_LIMITS } from './aggregate.ts';
import { type Command, UsageError } from './command.ts';
import { defineCommand, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { isStdout, readInput, writeOutput } from './io.ts';
import {
  printable,
  progressOf,
  SERVICE_HELP,
  SERVICE_SETTINGS,
  type Service,
  type ServiceSetting,
  withService,
} from './service.ts';
import { hint } from './suggest.ts';

const help = `Usage: falconry tasks [list | show | wait | result | cancel | delete] [<id> …] [options]

The tasks of your API key at a service.

  list                one line for each: id, status, signatures, times (this is also the default)
      --status <text> only those with this status: waiting, completed, failed, …
      --limit <n>     most tasks to list (default 100); 0 lists all
      --newest        newest first
  show <id> …         the progress record
  wait <id> …         wait until they have ended; code 1 unless all are completed
  result <id>         fetch the result file
      -o, --out <file>  where it goes; standard output when left out
      --statements <task.json>
                      check it against this list of digests and keys before it is written
  cancel <id> …       stop what has not ended
  delete <id> …       take away with all files; what has not ended is cancelled first

${SERVICE_HELP}
      --json          answer in JSON: ids are strings, since they may be longer than a number holds
  -q, --quiet         no words beside the answer
  -h, --help          this text

Examples
  falconry tasks
  falconry tasks list --status completed --limit 10 --newest
  falconry tasks list --json

More
  falconry tasks wait 123 124
  falconry tasks result 123 -o result.json --statements task.json

${exitHelp('invalid', 'usage', 'io', 'service')}`;

const VERBS = ['list', 'show', 'wait', 'result', 'cancel', 'delete'] as const;
type Verb = (typeof VERBS)[number];
type Call = Invocation<ServiceSetting>;

/** The `tasks` command. */
export const command: Command = defineCommand({
  name: 'tasks',
  summary: 'list, follow, fetch, cancel and delete tasks of a service',
  help,
  options: {
    status: { type: 'string' },
    limit: { type: 'string' },
    newest: { type: 'boolean' },
    out: { type: 'string', short: 'o' },
    statements: { type: 'string' },
  },
  settings: SERVICE_SETTINGS,
  execute,
});

async function execute(invocation: Call): Promise<number> {
  const [name = 'list', ...ids] = invocation.positionals;
  const verb = VERBS.find((each) => each === name);
  if (verb === undefined) throw new UsageError(`there is no "tasks ${name}"${hint(name, VERBS)}`);
  checkArguments(verb, ids, invocation);
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

function checkArguments(verb: Verb, ids: readonly string[], { option, flag }: Call): void {
  if (verb === 'list' && ids.length > 0) throw new UsageError(`unexpected argument ${ids[0]}`);
  if (verb !== 'list' && ids.length === 0) throw new UsageError('the id of a task is expected');
  if (verb === 'result' && ids.length > 1) throw new UsageError('the id of one task is expected');
  const wrong = ids.find((id) => !/^\d{1,30}$/.test(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no id of a task`);
  const alien = ['status', 'limit', 'newest', 'out', 'statements'].find((name) => {
    const given = option(name) !== undefined || flag(name);
    const belongs = name === 'out' || name === 'statements' ? 'result' : 'list';
    return given && belongs !== verb;
  });
  if (alien !== undefined) throw new UsageError(`"tasks ${verb}" has no --${alien}`);
}

const DEFAULT_LIMIT = 100;
const PAGE = 1000;

async function list({ client }: Service, { io, option, flag, json, note }: Call): Promise<number> {
  const text = option('limit') ?? String(DEFAULT_LIMIT);
  if (!/^\d{1,9}$/.test(text)) throw new UsageError('--limit must be a number');
  const most = Number(text) || Number.POSITIVE_INFINITY;
  const query = {
    status: option('status'),
    limit: Math.min(PAGE, most + 1),
    ...(flag('newest') && { order: 'desc' as const }),
  };
  let count = 0;
  let more = false;
  for await (const item of client.tasks(query)) {
    more = count >= most;
    if (more) break;
    if (json) io.stdout.write(`${count === 0 ? '[' : ',\n '}${JSON.stringify(item)}`);
    else io.stdout.write(count === 0 ? `${HEAD}\n${line(item)}\n` : `${line(item)}\n`);
    count++;
  }
  if (json) io.stdout.write(count === 0 ? '[]\n' : ']\n');
  else if (count === 0) note('no tasks\n');
  if (more) note(`there are more: --limit 0 lists all\n`);
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

/** Asks for one record after the other and writes them. */
async function each(
  ids: readonly string[],
  { io, json }: Call,
  ask: (id: string) => Promise<TaskRecord | null>,
): Promise<number> {
  for (const id of ids) {
    const record = await ask(id);
    if (json) io.stdout.write(`${JSON.stringify(record ?? { process_id: id, removed: true })}\n`);
    else io.stdout.write(record === null ? `${id} ended and is removed\n` : describe(record));
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
  return `${lines.map(([name, value]) => printable(`${name!.padEnd(width)}  ${value}`)).join('\n')}\n\n`;
}

async function wait({ client }: Service, ids: readonly string[], call: Call): Promise<number> {
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

async function result({ client }: Service, id: string, call: Call): Promise<number> {
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
  else note(`${out}: ${text.length} bytes, ${checked ? 'checked' : 'not checked'}\n`);
  return EXIT.ok;
}

async function remove({ client }: Service, ids: readonly string[], call: Call): Promise<number> {
  for (const id of ids) {
    await client.remove(id);
    if (call.json) call.io.stdout.write(`${JSON.stringify({ process_id: id, removed: true })}\n`);
    else call.note(`${id} removed\n`);
  }
  return EXIT.ok;
}
