/** `falconry submit`: a task file through the service, to a checked result; goes on where it was. */
import { basename } from 'node:path';
import { type ClientError, isClientError, outcomeOf, type TaskRecord } from '../client/index.ts';
import { parseTaskFile, type TaskItem } from '../wire/taskFile.ts';
import { FILE_LIMITS } from './aggregate.ts';
import { type Command, ServiceFailure, UsageError } from './command.ts';
import { defineCommand, type Invocation } from './define.ts';
import { EXIT, exitHelp } from './exitCodes.ts';
import { isStdout, readInput, writeOutput } from './io.ts';
import {
  progressOf,
  SERVICE_HELP,
  SERVICE_SETTINGS,
  type Service,
  type ServiceSetting,
  withService,
} from './service.ts';
import { freshState, StateKeeper, type SubmitState } from './submitState.ts';

const help = `Usage: falconry submit <task.json> [-o <result.json>] [options]

Hands a task file to a service, waits for the end, fetches the result, and checks it against the
task file by the library before it is written. What it has done so far is in <task.json>.submit: after
an interruption of any kind the same command goes on where it was, and never submits twice.

  <task.json>         the task file, as of falconry aggregate; - reads standard input
  -o, --out <file>    where the result file goes; standard output when left out
      --state <file>  where the state is kept, in place of <task.json>.submit
      --restart       forget the state, and submit once more
      --no-wait       end when the service has accepted the task; the same command without it
                      waits for the result
      --no-check      take a result that cannot be checked here, of a server of another kind

${SERVICE_HELP}
      --json          report as one line of JSON
  -q, --quiet         no report
  -h, --help          this text

Examples
  falconry submit task.json -o result.json
  falconry submit task.json --no-wait

More
  falconry sign --key key.json *.txt | falconry submit - -o result.json
  falconry tasks show <id>

${exitHelp('invalid', 'usage', 'io', 'service')}`;

/** The `submit` command. */
export const command: Command = defineCommand({
  name: 'submit',
  summary: 'hand a task file to a service and fetch its checked result',
  help,
  options: {
    out: { type: 'string', short: 'o' },
    state: { type: 'string' },
    restart: { type: 'boolean' },
    wait: { type: 'boolean', default: true },
    check: { type: 'boolean', default: true },
  },
  settings: SERVICE_SETTINGS,
  writesToStdout: ({ option, flag }) => flag('wait') && isStdout(option('out')),
  execute,
});

async function execute(invocation: Invocation<ServiceSetting>): Promise<number> {
  const { io, positionals, option, flag } = invocation;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1) {
    throw new UsageError('one task file is expected');
  }
  const statePath = option('state') ?? (path === '-' ? undefined : `${path}.submit`);
  const file = await readInput(path, io);
  const items = parseTaskFile(file, FILE_LIMITS);
  const keeper = new StateKeeper(statePath, io);
  const hint =
    statePath === undefined
      ? 'Standard input cannot be gone on with: with --state <file> it could.'
      : 'Nothing is lost: the same command goes on where it was.';
  return withService(
    invocation,
    async (service) => {
      if (flag('restart')) await keeper.forget();
      return submit({ invocation, service, keeper, file, items });
    },
    hint,
  );
}

interface Work {
  readonly invocation: Invocation<ServiceSetting>;
  readonly service: Service;
  readonly keeper: StateKeeper;
  readonly file: Uint8Array;
  readonly items: readonly TaskItem[];
}

async function submit(work: Work): Promise<number> {
  const { invocation, service, keeper, file, items } = work;
  const { client } = service;
  const { progress, report, note, flag, option } = invocation;
  const opened = await keeper.open({ service: service.name, file });
  if (opened.resumed) note(`going on with ${basename(keeper.path!)}: ${sayStep(opened.state)}\n`);
  const state = await accepted(work, opened.state);
  const id = state.process_id!;
  const facts = { process_id: id, count: items.length, resumed: opened.resumed };
  if (!flag('wait')) {
    report({ ok: true, ...facts }, `task ${id} is accepted: ${items.length} signatures\n`);
    return EXIT.ok;
  }
  try {
    await client.waitFor(id, { onProgress: (record) => progress.update(progressOf(record)) });
  } catch (error) {
    // What has ended is not gone on with.
    if (isClientError(error) && error.kind === 'task') await keeper.forget();
    throw explainGone(error, id, keeper);
  }
  progress.update({ phase: 'checking', done: 0 });
  const check = flag('check');
  const result = await client.result(id, check ? { statements: items } : {});
  const out = option('out');
  await writeOutput(out, result.text, invocation.io);
  await keeper.forget();
  const { format = null, sizes = null } = result.file ?? {};
  report(
    { ok: true, ...facts, checked: result.checked, format, sizes, out: out ?? '-' },
    `task ${id}: ${items.length} signatures in a ${format ?? 'result'} of ` +
      `${result.aggregate?.length ?? result.text.length} bytes, ${check ? 'checked' : 'not checked'}\n`,
  );
  return EXIT.ok;
}

const sayStep = ({ step, process_id }: SubmitState) =>
  process_id === null ? 'no task yet' : `task ${process_id}, ${SAYINGS[step]}`;

const SAYINGS = {
  create: 'no task yet',
  upload: 'its file is not sent',
  notify: 'its file is sent',
  wait: 'accepted',
} as const;

/** Takes the submission to where the service has accepted the task. */
async function accepted(work: Work, from: SubmitState): Promise<SubmitState> {
  const { service, keeper, file, invocation } = work;
  const { client } = service;
  let state = from;
  for (;;) {
    switch (state.step) {
      case 'create': {
        const ticket = await client.createTask({ idempotencyKey: state.idempotency_key });
        const { process_id, url: upload_url } = ticket;
        state = await keeper.save({ ...state, step: 'upload', process_id, upload_url });
        break;
      }
      case 'upload':
        state = await keeper.save(await upload(work, state));
        break;
      case 'notify': {
        const record = await notify(work, state);
        const lost = !['open', 'unknown', 'completed', 'failed'].includes(outcomeOf(record.status));
        // Ended before its notification (nobody came in time): that one was never submitted.
        state = await keeper.save(
          lost ? freshState({ service: service.name, file }) : { ...state, step: 'wait' },
        );
        break;
      }
      case 'wait':
        invocation.progress.update({ phase: 'waiting', done: 0 });
        return state;
    }
  }
}

/** Sends the file; looks for another url, and at last for another task, when this one has ended. */
async function upload(
  { service, file, invocation }: Work,
  state: SubmitState,
): Promise<SubmitState> {
  const { client } = service;
  const { progress } = invocation;
  const id = state.process_id!;
  const send = (url: string) =>
    client.upload(url, file, {
      onProgress: ({ done, total }) =>
        progress.update({ phase: 'uploading', done, total, unit: 'bytes' }),
    });
  try {
    await send(state.upload_url!);
    return { ...state, step: 'notify' };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const record = await client.task(id).catch((other) => {
      if (isRefusal(other) && other.status === 404) return null;
      throw other;
    });
    const begun = record !== null && !BEFORE_NOTIFY.has(record.status);
    if (begun && ['open', 'unknown', 'completed'].includes(outcomeOf(record.status))) {
      // It takes no file any more since it is being worked on: the notification was heard.
      return { ...state, step: 'wait' };
    }
    if (error.status !== 403 && error.status !== 404 && error.status !== 409) throw error;
    const renewed = begun || record === null ? null : await renew(service, id);
    if (renewed === null) return freshState({ service: service.name, file });
    await send(renewed);
    return { ...state, step: 'notify', upload_url: renewed };
  }
}

const BEFORE_NOTIFY = new Set(['wait for task file upload', 'wait for notification']);

/** A new url for the task, or null where the server has none to give. */
async function renew({ client }: Service, id: string): Promise<string | null> {
  try {
    return (await client.renewUpload(id)).url;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** Tells the service; a refusal since it knows already is none. */
async function notify({ service }: Work, { process_id }: SubmitState): Promise<TaskRecord> {
  const { client } = service;
  try {
    return await client.notify(process_id!);
  } catch (error) {
    if (!isRefusal(error) || error.status !== 409) throw error;
    const record = await client.task(process_id!);
    if (BEFORE_NOTIFY.has(record.status)) throw error;
    return record;
  }
}

const isRefusal = (error: unknown): error is ClientError =>
  isClientError(error) && error.kind === 'problem' && (error.status ?? 500) < 500;

/** A task that is not there any more was taken away by somebody: it is not submitted again unasked. */
function explainGone(error: unknown, id: string, keeper: StateKeeper): unknown {
  if (!isRefusal(error) || error.status !== 404) return error;
  const where = keeper.path === undefined ? '' : ` (${keeper.path})`;
  const message = `task ${id}${where} is not there any more: give --restart to submit once more`;
  return new ServiceFailure('NOT_FOUND', message, { facts: { status: 404 }, cause: error });
}
