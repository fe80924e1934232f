/** Builds a task from test items, a file, or signatures from the Sign page, and submits it. */
import { isClientError } from '../../../../client/index.ts';
import { binarySizeText, count, counted, sizeText } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { announce, button, type Child, div, fill, h, p, setOff, strong } from '../dom.ts';
import { duration, listed, shortHex } from '../format.ts';
import {
  type Column,
  chip,
  choices,
  confirm,
  download,
  dropZone,
  empty,
  facts,
  field,
  keyNotice,
  lead,
  meter,
  onSubmit,
  panel,
  table,
  view,
  whileBusy,
} from '../parts/controls.ts';
import { faultList, isStopped, problemBox, readTaskFile } from '../parts/problems.ts';
import type { BatchSummary, GenerateOptions } from '../worker/protocol.ts';

export function buildView(app: App): View {
  const task = div('stack');
  app.draft.follow(() => {
    const summary = app.draft.value;
    const nothing = 'Make test items, choose a task file, or add signatures from the Sign page.';
    if (summary === null) fill(task, empty('box', 'The task is empty', nothing));
    else fill(task, draftSummary(app, summary), submission(app, summary));
  });
  const most = counted(app.config.maxSignatures, 'triple');
  const about =
    `A task is an ordered list of up to ${most} (digest, public key, signature). ` +
    'This page verifies every signature before it sends anything.';
  const element = view(
    lead('Build a task', about),
    div('columns side', div('stack', testItems(app), fromFile(app)), panel('Your task', task)),
  );
  return { title: 'Build', element };
}

/** Returns true if there is no task to replace, or the user agrees to replace it. */
async function mayReplace(app: App): Promise<boolean> {
  const summary = app.draft.value;
  if (summary === null) return true;
  const text = `This removes its ${counted(summary.count, 'item')} (${summary.name}).`;
  return confirm('Replace your task?', text, 'Replace it');
}

function testItems(app: App): HTMLElement {
  const { maxSignatures: max } = app.config;
  const items = numberInput(120, max);
  const keys = numberInput(12, max);
  let set: GenerateOptions['set'] = 'falcon512';
  let salt: GenerateOptions['salt'] = 'random';
  const make = h('button', { class: 'button primary', type: 'submit' }, 'Make test items');
  const action = longAction('Making test items', make, 'Stopped', async (signal, tell) => {
    if (!(await mayReplace(app))) return;
    const most = items.valueAsNumber;
    const wanted = { count: most, keys: Math.min(keys.valueAsNumber, most), set, salt };
    tell('Loading the library', 0, 0);
    announce('Making test items');
    const summary = await app.call('generate', wanted, {
      signal,
      onProgress: ({ what, done, total }) =>
        tell(`${what}: ${count(done)} of ${count(total)}`, done, total),
    });
    app.draft.set(summary);
    announce(`${counted(summary.count, 'test item')} made; every signature verified`);
  });
  const sets = [
    ['falcon512', 'Falcon-512'],
    ['falcon1024', 'Falcon-1024'],
    ['mixed', 'Both'],
  ] as const;
  const salts = [
    ['random', 'Random: 40 bytes each in the aggregate'],
    ['derived', 'Derived from key and message: no bytes'],
  ] as const;
  const about = 'New keys and signatures, made in this browser. Secret keys are wiped immediately.';
  const form = h(
    'form',
    { class: 'stack', on: onSubmit(action.run) },
    p('soft small', about),
    div('fields', field('Signatures', items), field('Different keys', keys)),
    choices('Parameter set', sets, (value) => {
      set = value;
    }),
    choices('Salts', salts, (value) => {
      salt = value;
    }),
    div('row', make),
    action.places,
  );
  return panel('Test items', form);
}

function numberInput(usual: number, max: number): HTMLInputElement {
  const value = Math.min(usual, max);
  const range = { type: 'number', min: 1, max, step: 1, value };
  return h('input', { ...range, required: true, inputmode: 'numeric' });
}

function fromFile(app: App): HTMLElement {
  const outcome = h('div');
  const limit = binarySizeText(app.config.maxBodyBytes);
  const zone = dropZone({
    label: 'Choose a task file, or drop it here',
    hint: `A JSON array of digest, public_key and signature; at most ${limit}`,
    onFile: (file) => void read(file),
  });
  const say = (text: string) => fill(outcome, p('small soft', text));
  const read = async (file: File) => {
    say(`Reading and checking ${file.name}…`);
    const summary = await readTaskFile(app, file, 'task', outcome);
    if (summary === null) return;
    const words = `${file.name}: ${counted(summary.count, 'item')} read`;
    const accepted = await mayReplace(app);
    say(accepted ? `${words}.` : `${words}, not used.`);
    if (accepted) app.draft.set(summary);
    announce(words);
  };
  return panel('Task file', zone.element, outcome);
}

/** Describes the draft: numbers, sizes, and invalid signatures. */
function draftSummary(app: App, summary: BatchSummary): HTMLElement {
  const { invalid, invalidTotal, bytes } = summary;
  const save = async () => {
    const file = await app.call('taskFile', { batch: summary.batch });
    download('task.json', new Blob([file], { type: 'application/json' }));
  };
  const clear = async () => {
    const text = `This removes ${counted(summary.count, 'item')}.`;
    if (await confirm('Empty the task?', text, 'Empty it')) app.draft.set(null);
  };
  const verdict =
    invalidTotal === 0
      ? chip(`all valid, verified in ${duration(summary.checkMs)}`, 'good')
      : chip(`${count(invalidTotal)} of ${count(summary.count)} invalid`, 'bad');
  const advice =
    'Save the task file: you need it to verify the result, and a reload of this page forgets it.';
  return div(
    'stack',
    div('row apart', p('', strong(summary.name)), verdict),
    facts([
      ['Signatures', count(summary.count)],
      ['Different keys', count(summary.keys)],
      ['Parameter set', setWords(summary)],
      ['Bytes of signatures', sizeText(bytes.signatures)],
      ['Task file', sizeText(bytes.file)],
    ]),
    invalidTotal > 0 && faultList('This task would fail', invalid, invalidTotal, 'wait'),
    firstItems(summary),
    div(
      'row',
      button('Save the task file', () => void save()),
      button('Empty it', () => void clear(), { look: 'quiet' }),
    ),
    p('hint', advice),
  );
}

/** Returns `Falcon-512`, or the number of each set. */
function setWords({ sets, count: all }: Pick<BatchSummary, 'sets' | 'count'>): string {
  if (sets.falcon512 === all) return 'Falcon-512';
  if (sets.falcon1024 === all) return 'Falcon-1024';
  const unknown = all - sets.falcon512 - sets.falcon1024;
  return listed(
    [
      sets.falcon512 > 0 ? `${count(sets.falcon512)} × 512` : '',
      sets.falcon1024 > 0 ? `${count(sets.falcon1024)} × 1024` : '',
      unknown > 0 ? `${count(unknown)} unknown` : '',
    ].filter(Boolean),
  );
}

function firstItems({ first, count: all }: BatchSummary): HTMLElement {
  const title =
    all > first.length ? `The first ${counted(first.length, 'item')}` : counted(all, 'item');
  const columns: Column[] = [
    ['Item', 'number'],
    ['Digest'],
    ['Public key'],
    ['Signature', 'number'],
  ];
  const rows = first.map(({ digest, publicKey, signatureBytes }, i) => [
    count(i),
    h('code', {}, shortHex(digest, 6)),
    h('code', {}, shortHex(publicKey, 6)),
    sizeText(signatureBytes),
  ]);
  return h('details', {}, h('summary', {}, title), table('First items', columns, rows));
}

function submission(app: App, summary: BatchSummary): HTMLElement {
  const isValid = summary.invalidTotal === 0;
  const label = isValid ? 'Submit the task' : 'Submit it anyway';
  const send = button(label, () => void action.run(), { look: isValid ? 'primary' : 'plain' });
  const stopped = 'Stopped; nothing was submitted';
  const action = longAction('Submitting', send, stopped, async (signal, tell) => {
    const id = await submit(app, summary, signal, tell);
    app.submitted.set(id, summary);
    announce('Submitted');
    app.go(`tasks/${id}`);
  });
  app.followKey(() => setOff(send, app.key === null));
  return div('stack', keyNotice(app), div('row', send), action.places);
}

/** Creates a task, uploads its file, and notifies the service. @returns the task's id */
async function submit(
  app: App,
  summary: BatchSummary,
  signal: AbortSignal,
  tell: Tell,
): Promise<string> {
  const { client } = app;
  tell('Creating the task', 0, 0);
  const file = await app.call('taskFile', { batch: summary.batch });
  const { process_id: id, url } = await client.createTask({ signal });
  try {
    await client.upload(app.reachable(url), file, {
      signal,
      onProgress: ({ done, total }) =>
        tell(`Uploading: ${sizeText(done)} of ${sizeText(total)}`, done, total),
    });
    tell('Notifying', 1, 1);
    await client.notify(id, { signal });
  } catch (error) {
    // Without its file, the task would stay until it expires.
    if (signal.aborted || isClientError(error)) await client.remove(id).catch(() => {});
    throw error;
  }
  return id;
}

type Tell = (text: string, done: number, total: number) => void;

/**
 * Surrounds a long action with a progress bar, a Stop button, and a box for its error.
 *
 * @param control the button that starts the action; inactive while it runs
 * @param stopped announced if the user stops the action
 * @returns the elements, and `run`, which does nothing while the action runs
 */
function longAction(
  label: string,
  control: HTMLButtonElement,
  stopped: string,
  work: (signal: AbortSignal, tell: Tell) => Promise<void>,
): { places: Child; run(): Promise<void> } {
  let controller: AbortController | undefined;
  const bar = meter(label);
  const stop = button('Stop', () => controller?.abort());
  const busy = div('stack', bar.element, div('row', stop));
  busy.hidden = true;
  const problem = h('div');
  const run = async () => {
    fill(problem);
    controller = new AbortController();
    busy.hidden = false;
    try {
      await work(controller.signal, bar.set);
    } catch (error) {
      if (isStopped(error)) announce(stopped);
      else fill(problem, problemBox(error));
    } finally {
      controller = undefined;
      if (busy.contains(document.activeElement)) control.focus();
      busy.hidden = true;
    }
  };
  return { places: [busy, problem], run: () => whileBusy(control, run) };
}
