/** `falconry submit`: submits a task file and fetches the verified result; can resume. */
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientError, isClientError, outcomeOf, type TaskRecord } from '../../client/index.ts';
import { beforeNotification, stateOfText } from '../../wire/taskStates.ts';
import { formatTaskFile, type TaskItem } from '../../wire/triple.ts';
import { type Command, flag, out, ServiceFailure, UsageError, valued } from '../lib/command.ts';
import { defineCommand } from '../lib/define.ts';
import { isStdout, writeOutput } from '../lib/io.ts';
import { plural } from '../lib/text.ts';
import {
  progressOf,
  SERVICE_SETTINGS,
  type Service,
  type ServiceCall,
  withService,
} from './service.ts';
import { freshState, StateKeeper, type SubmitState } from './submitState.ts';
import { openSubmitted, type Submitted } from './submitted.ts';

export const command: Command = defineCommand({
  name: 'submit',
  summary: 'submit a task file to a service and fetch the verified result',
  usage: ['<task file> [-o <file>] [options]'],
  about: [
    'Submits a task file to a service, waits until the task ends, fetches the result, and ' +
      'verifies it against the task file before writing it. The state is kept beside the task ' +
      'file: after any interruption, run the same command again and it resumes; nothing is ' +
      'submitted twice.',
    'A list that is too long for one file of the service is sent in parts; one of more than ' +
      '256 MiB is sent as it is read.',
  ],
  operands: { '<task file>': 'as for falconry aggregate; -: standard input' },
  takes: [1, 1, 'one task file'],
  options: [
    out('where to write the result file'),
    valued('state', 'file', 'where to keep the state [<task file>.submit]'),
    flag('restart', 'discard the state and submit again'),
    flag(
      'wait',
      'stop once the service has accepted the task; the same command without it waits for the ' +
        'result',
      { negatable: 'on' },
    ),
    flag('check', 'accept a result without verifying it, from another kind of server', {
      negatable: 'on',
    }),
  ],
  settings: SERVICE_SETTINGS,
  examples: ['falconry submit task.json -o result.json', 'falconry submit task.json --no-wait'],
  more: [
    'falconry sign --key key.json *.txt | falconry submit - -o result.json',
    'falconry tasks show <id>',
  ],
  exits: ['invalid', 'usage', 'io', 'service'],
  writesToStdout: ({ option, flag }) => flag('wait') && isStdout(option('out')),
  execute,
});

async function execute(invocation: ServiceCall): Promise<void> {
  const { io, positionals, option, flag } = invocation;
  const path = positionals[0]!;
  const statePath = option('state') ?? (path === '-' ? undefined : `${path}.submit`);
  const list = await openSubmitted(path, io);
  if (list.hash === undefined && statePath !== undefined) {
    throw new UsageError(
      'so long a list from standard input cannot be sent again: give a file, or no state',
    );
  }
  const keeper = new StateKeeper(statePath, io);
  const advice =
    statePath === undefined
      ? 'To make a submission from standard input resumable, give --state <file>.'
      : 'Nothing is lost: run the same command again to resume.';
  const work = async (service: Service) => {
    if (flag('restart')) await keeper.forget();
    return submit({ invocation, service, keeper, list });
  };
  return withService(invocation, work, advice);
}

/** How often a refused upload is repeated. */
const UPLOAD_REPEATS = 5;
/** About how long to wait while another process uploads the same file. */
const LOOK_MS = 300;

interface Work {
  readonly invocation: ServiceCall;
  readonly service: Service;
  readonly keeper: StateKeeper;
  readonly list: Submitted;
}

async function submit(work: Work): Promise<void> {
  const { invocation, service, keeper, list } = work;
  const { client } = service;
  const { progress, report, note, flag, option } = invocation;
  const opened = await keeper.open(submissionOf(work));
  const { step, process_id } = opened.state;
  const reached = `${process_id === null ? '' : `task ${process_id}, `}${STEP_TEXTS[step]}`;
  if (opened.resumed) note(`resuming ${basename(keeper.path!)}: ${reached}\n`);
  let { state } = opened;
  while (state.step !== 'wait') state = await keeper.save(await STEPS[state.step](work, state));
  progress.update({ phase: 'waiting', done: 0 });
  const id = state.process_id!;
  const { length: count } = await list.statements();
  const facts = { process_id: id, count, resumed: opened.resumed };
  if (!flag('wait')) {
    report({ ok: true, ...facts }, `task ${id} accepted: ${plural(count, 'signature')}\n`);
    return;
  }
  try {
    await client.waitFor(id, { onProgress: (record) => progress.update(progressOf(record)) });
  } catch (error) {
    // A task that has ended cannot be resumed.
    if (isClientError(error) && error.kind === 'task') await keeper.forget();
    throw explainGone(error, id, keeper);
  }
  progress.update({ phase: 'checking', done: 0 });
  const check = flag('check');
  const result = await client.result(id, check ? { statements: await list.statements() } : {});
  const to = option('out');
  await writeOutput(to, result.text, invocation.io);
  await keeper.forget();
  const { format = null, sizes = null } = result.file ?? {};
  const bytes = result.aggregate?.length ?? result.text.length;
  const name = format === 'merged' ? 'merged proof' : (format ?? 'result');
  report(
    { ok: true, ...facts, checked: result.checked, format, sizes, out: to ?? '-' },
    `task ${id}: ${plural(count, 'signature')} in a ${name} of ${bytes} ` +
      `bytes, ${check ? 'verified' : 'not verified'}\n`,
  );
}

const STEP_TEXTS = {
  create: 'no task yet',
  upload: 'file not yet sent',
  notify: 'file sent',
  wait: 'accepted',
} as const;

/** The steps before the service has accepted the task; each returns the state after it. */
const STEPS = { create, upload, notify };

async function create(work: Work, state: SubmitState): Promise<SubmitState> {
  const { service, list, invocation } = work;
  const idempotencyKey = state.idempotency_key;
  const { items } = list;
  if (!Array.isArray(items) || (await service.client.needsParts(items.length))) {
    const { process_id } = await service.client.submit(items, {
      idempotencyKey,
      onProgress: ({ step, done, total }) =>
        step === 'parts' &&
        invocation.progress.update({ phase: 'uploading parts', done, total, unit: 'items' }),
    });
    return { ...state, step: 'wait', process_id };
  }
  const { process_id, url: upload_url } = await service.client.createTask({ idempotencyKey });
  return { ...state, step: 'upload', process_id, upload_url };
}

const submissionOf = ({ service, list }: Work) => ({
  service: service.name,
  hash: list.hash ?? '',
});

const fresh = (work: Work) => freshState(submissionOf(work));

/**
 * Sends the file. If its url has expired, gets another one or, failing that, another task. The same
 * command may be running twice: the service accepts one file at a time, and a later one replaces
 * the earlier. So after a 409, looks at the task before sending again.
 */
async function upload(work: Work, from: SubmitState): Promise<SubmitState> {
  const { client } = work.service;
  const { progress } = work.invocation;
  const id = from.process_id!;
  // A list that is not in memory went the way of parts.
  const file = new TextEncoder().encode(formatTaskFile(work.list.items as readonly TaskItem[]));
  const look = () => client.task(id).catch(refusedAsNull(404));
  let state = from;
  for (let tries = 0; ; tries++) {
    try {
      await client.upload(state.upload_url!, file, {
        onProgress: (now) => progress.update({ phase: 'uploading', ...now, unit: 'bytes' }),
      });
      return { ...state, step: 'notify' };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const busy = error.status === 409;
      if (busy && tries > 0) await sleep(LOOK_MS * (0.5 + Math.random()));
      const record = await look();
      // It takes no more files because work has begun: the notification arrived.
      if (isSubmitted(record)) return { ...state, step: 'wait' };
      if (!busy && error.status !== 403 && error.status !== 404) throw error;
      if (tries === UPLOAD_REPEATS) throw error;
      if (busy && record !== null && stateOfText(record.status) === 'uploaded') {
        return { ...state, step: 'notify' };
      }
      const renewed = record && (await client.renewUpload(id).catch(refusedAsNull()));
      if (renewed !== null) state = { ...state, upload_url: renewed.url };
      else return isSubmitted(await look()) ? { ...state, step: 'wait' } : fresh(work);
    }
  }
}

/** Notifies the service. A refusal because it was notified already counts as success. */
async function notify(work: Work, state: SubmitState): Promise<SubmitState> {
  const { client } = work.service;
  const id = state.process_id!;
  const record = await client.notify(id).catch(async (error) => {
    const found = isRefusal(error, 409) ? await client.task(id) : null;
    if (found === null || beforeNotification(found.status)) throw error;
    return found;
  });
  // A task that expired before its notification was never submitted.
  return isLost(record) ? fresh(work) : { ...state, step: 'wait' };
}

const isLost = ({ status }: TaskRecord): boolean =>
  ['expired', 'cancelled'].includes(outcomeOf(status));

/** Returns true if the service works on the task or has ended it. */
const isSubmitted = (record: TaskRecord | null): boolean =>
  record !== null && !beforeNotification(record.status) && !isLost(record);

/** Returns true for a refusal with this status; without a status, for any. */
const isRefusal = (error: unknown, status?: number): error is ClientError =>
  isClientError(error) &&
  error.kind === 'problem' &&
  (status === undefined ? (error.status ?? 500) < 500 : error.status === status);

const refusedAsNull = (status?: number) => (error: unknown) => {
  if (isRefusal(error, status)) return null;
  throw error;
};

/** A removed task is not submitted again unless the user asks for it. */
function explainGone(error: unknown, id: string, keeper: StateKeeper): unknown {
  if (!isRefusal(error, 404)) return error;
  const where = keeper.path === undefined ? '' : ` (${keeper.path})`;
  const message = `task ${id}${where} no longer exists: give --restart to submit again`;
  return new ServiceFailure('NOT_FOUND', message, { status: 404 }, error);
}
