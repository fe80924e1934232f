/** The progress of a task, then its result. */
import { isClientError, type TaskRecord } from '../../../../client/index.ts';
import { reasonWords } from '../../../../wire/reasons.ts';
import { count } from '../../../../wire/sizes.ts';
import { stateOfText, type TaskState } from '../../../../wire/taskStates.ts';
import type { App, View } from '../app.ts';
import { announce, button, div, fill, h, link, p, strong } from '../dom.ts';
import { time } from '../format.ts';
import { facts, keyNotice, lead, meter, panel, view } from '../parts/controls.ts';
import { faultList, isStopped, problemBox } from '../parts/problems.ts';
import { readResult, resultPanels } from '../parts/result.ts';
import { endTask, hasEnded, phaseWords, statusChip } from '../parts/status.ts';

export function taskView(app: App): View {
  const heading = lead('Task', link('#tasks', 'All tasks'));
  const title = heading.querySelector('h1')!;
  const status = div('stack');
  const outcome = view();
  const element = view(heading, keyNotice(app), panel('Progress', status), outcome);
  let controller: AbortController | undefined;
  return {
    title: 'Task',
    element,
    enter(id) {
      title.textContent = `Task ${id}`;
      fill(status);
      fill(outcome);
      controller = new AbortController();
      if (app.key !== null) void follow(app, id, { status, outcome }, controller.signal);
    },
    leave: () => controller?.abort(),
  };
}

interface Places {
  readonly status: HTMLElement;
  readonly outcome: HTMLElement;
}

async function follow(app: App, id: string, places: Places, signal: AbortSignal): Promise<void> {
  const show = recordShown(app, id, places.status);
  let last: TaskRecord | undefined;
  const onProgress = (record: TaskRecord) => {
    if (signal.aborted) return;
    last = record;
    show(record);
  };
  try {
    await app.client.waitFor(id, { onProgress, signal });
  } catch (error) {
    if (signal.aborted || isStopped(error)) return;
    // If the task failed, its record is shown.
    if (!(isClientError(error) && error.kind === 'task')) {
      fill(places.status, problemBox(error));
      return;
    }
  }
  if (last?.result_path === undefined) return;
  try {
    const data = await fetchResult(app.reachable(last.result_path), signal);
    const file = new File([data], `${id}.json`, { type: 'application/json' });
    const result = await readResult(app, file);
    if (signal.aborted) return;
    fill(places.outcome, resultPanels(app, result, file));
    announce('The result is ready');
  } catch (error) {
    if (!signal.aborted && !isStopped(error)) fill(places.outcome, problemBox(error));
  }
}

/** Fetches a result file by its signed url, without the API key. */
async function fetchResult(url: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(url, { signal, credentials: 'omit' });
  if (!response.ok) throw new Error(`The result file could not be fetched (${response.status})`);
  return response.blob();
}

/** The steps, in order. A direct request begins at the third. */
const STEPS = [
  ['created', 'Created'],
  ['waiting', 'Waiting'],
  ['verifying', 'Verifying'],
  ['aggregating', 'Aggregating'],
  ['completed', 'Completed'],
] as const satisfies readonly (readonly [TaskState, string])[];

/** The step of each state; a task in any other state has stopped. */
const RANKS: Partial<Record<TaskState, number>> = {
  created: 0,
  uploaded: 0,
  waiting: 1,
  verifying: 2,
  aggregating: 3,
  completed: STEPS.length,
};

/** The earliest step at which a task can reach this state. */
const STOPPED_AT: Partial<Record<TaskState, number>> = { failed: 2, cancelled: 1, expired: 0 };

function recordShown(app: App, id: string, place: HTMLElement): (record: TaskRecord) => void {
  const top = div('row apart');
  const steps = h('ol', { class: 'steps' });
  const bar = meter('Progress of the task');
  const details = h('div');
  const trouble = h('div');
  let lastStatus = '';
  let reached = 0;
  fill(place, top, steps, bar.element, trouble, details);
  return (record) => {
    const state = stateOfText(record.status);
    const ended = hasEnded(record.status);
    if (record.status !== lastStatus) {
      fill(top, statusChip(record.status), actions(app, id, ended));
      // Screen readers read the first state with the page, unless the task has ended in the
      // meantime.
      if (lastStatus !== '' || ended) announce(`The task is ${state ?? record.status}`);
      const rank = state === null ? 0 : (RANKS[state] ?? -1);
      if (rank >= 0) reached = rank;
      const stop = (state !== null && STOPPED_AT[state]) || 0;
      fill(steps, stepItems(rank, Math.max(stop, reached), record.status));
      lastStatus = record.status;
    }
    const { progress } = record;
    bar.element.hidden = ended || !progress;
    if (progress) {
      const { phase, done, total } = progress;
      const far = total > 0 ? `: ${count(done)} of ${count(total)}` : '';
      bar.set(phaseWords(phase) + far, done, total);
    }
    fill(trouble, failure(record));
    fill(
      details,
      facts([
        ['Signatures', record.batch_size === 0 ? 'not read yet' : count(record.batch_size)],
        ['Worker threads', count(record.VCPUs)],
        ['Created', time(record.request_utc_time)],
        record.finished_at === undefined
          ? ['Last change', time(record.latest_status_update_iso_utc_time)]
          : ['Finished', time(record.finished_at)],
      ]),
    );
  };
}

function stepItems(rank: number, reached: number, status: string): HTMLElement[] {
  return STEPS.map(([, label], i) => {
    if (rank < 0 && i === reached) {
      return h('li', { class: 'stopped', 'aria-current': 'step' }, `${label}: ${status}`);
    }
    const now = i === rank;
    const done = i < (rank < 0 ? reached : rank);
    const attributes = { class: now ? 'now' : done ? 'done' : '', 'aria-current': now && 'step' };
    const words = done ? ' (done)' : now ? ' (now)' : ' (to come)';
    return h('li', attributes, label, h('span', { class: 'unseen' }, words));
  });
}

function failure({ error, status }: TaskRecord): HTMLElement | null {
  if (stateOfText(status) !== 'failed' || error === undefined) return null;
  const { invalid = [], errors = [] } = error;
  const title = error.detail ?? error.title ?? 'The task failed';
  const faults = [
    ...invalid.map(({ index, reason }) => ({ index, message: reasonWords(reason) })),
    ...errors.map(({ path, message }) => ({ message: `${path} ${message}`.trim() })),
  ];
  if (faults.length === 0) return div('notice bad', p('', strong(title)));
  return faultList(title, faults, Math.max(faults.length, error.errors_total ?? 0));
}

function actions(app: App, id: string, ended: boolean): HTMLElement {
  const run = async () => {
    try {
      if ((await endTask(app, id, ended)) && ended) app.go('tasks');
    } catch (error) {
      if (!isStopped(error)) control.after(problemBox(error));
    }
  };
  const control = button(ended ? 'Delete' : 'Cancel', () => void run(), { look: 'quiet' });
  return control;
}
