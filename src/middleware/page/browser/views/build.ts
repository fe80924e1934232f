/** Builds a task from test items, a file or signatures of the Sign page, and submits it. */
import { isClientError } from '../../../../client/index.ts';
import { binarySizeText, count, counted, sizeText } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { announce, button, type Child, div, fill, h, p, setOff, strong } from '../dom.ts';
import { duration, listed, shortHex } from '../format.ts';
import {
  cell,
  chip,
  choices,
  column,
  confirm,
  download,
  dropZone,
  empty,
  facts,
  field,
  keyNotice,
  lead,
  meter,
  panel,
  table,
  view,
  whileBusy,
} from '../parts/controls.ts';
import { faultList, isStopped, problemBox } from '../parts/problems.ts';
import type { BatchSummary, SaltChoice, SetChoice } from '../worker/protocol.ts';

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
    'Every signature is verified here before anything is sent.';
  const element = view(
    lead('Build a task', about),
    div('columns side', div('stack', testItems(app), fromFile(app)), panel('Your task', task)),
  );
  return { title: 'Build', element };
}

/** Asks before a draft is replaced. @returns whether there is none, or the user agrees */
async function mayReplace(app: App): Promise<boolean> {
  const summary = app.draft.value;
  if (summary === null) return true;
  const text = `It has ${counted(summary.count, 'item')} (${summary.name}), which will be removed.`;
  return confirm('Replace your task?', text, 'Replace it');
}

function testItems(app: App): HTMLElement {
  const { maxSignatures: max } = app.config;
  const items = numberInput(120, max);
  const keys = numberInput(12, max);
  let set: SetChoice = 'falcon512';
  let salt: SaltChoice = 'random';
  const make = h('button', { class: 'button primary', type: 'submit' }, 'Make test items');
  const action = longAction('Making test items', make, 'Stopped', async (signal, tell) => {
    if (!(await mayReplace(app))) return;
    const most = items.valueAsNumber;
    const wanted = { count: most, keys: Math.min(keys.valueAsNumber, most), set, salt };
    tell('Loading the library', 0, 0);
    announce('Making test items');
    const summary = await app.worker.call('generate', wanted, {
      signal,
      onProgress: ({ what, done, total }) =>
        tell(`${what}: ${count(done)} of ${count(total)}`, done, total),
    });
    app.draft.set(summary);
    announce(`${counted(summary.count, 'test item')} made; every signature verified`);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void action.run();
  };
  const sets = [
    ['falcon512', 'Falcon-512'],
    ['falcon1024', 'Falcon-1024'],
    ['mixed', 'Both'],
  ] as const;
  const salts = [
    ['random', 'Random, 40 bytes each in the aggregate'],
    ['derived', 'Derived from key and message, none'],
  ] as const;
  const about =
    'New keys and signatures, made by WebAssembly in a worker of this page. The secret keys ' +
    'are wiped at once.';
  const form = h(
    'form',
    { class: 'stack', on: { submit } },
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
  const attributes = { type: 'number', min: 1, max, step: 1, value };
  return h('input', { ...attributes, required: true, inputmode: 'numeric' });
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
    const { name } = file;
    say(`Reading and checking ${name}…`);
    try {
      const reading = await app.readFile(file, 'task');
      if ('faults' in reading) {
        fill(outcome, faultList(`${name} is not a task file`, reading.faults, reading.total));
        announce(`${name} is not a task file: ${counted(reading.total, 'fault')}`);
        return;
      }
      const { summary } = reading;
      const words = `${name}: ${counted(summary.count, 'item')} read`;
      const taken = await mayReplace(app);
      say(taken ? `${words}.` : `${words}, not used.`);
      if (taken) app.draft.set(summary);
      announce(words);
    } catch (error) {
      fill(outcome, problemBox(error));
    }
  };
  return panel('Task file', zone.element, outcome);
}

/** The batch before it is sent: how many items and keys, how large, all valid or not. */
function draftSummary(app: App, summary: BatchSummary): HTMLElement {
  const { invalid, invalidTotal, bytes } = summary;
  const save = async () => {
    const file = await app.worker.call('taskFile', { batch: summary.batch });
    download('task.json', new Blob([file], { type: 'application/json' }));
  };
  const clear = async () => {
    const text = `${counted(summary.count, 'item')} will be removed.`;
    if (await confirm('Empty the task?', text, 'Empty it')) app.draft.set(null);
  };
  const verdict =
    invalidTotal === 0
      ? chip(`all valid, verified in ${duration(summary.checkMs)}`, 'good')
      : chip(`${count(invalidTotal)} of ${count(summary.count)} invalid`, 'bad');
  const advice =
    'Save the task file: the result is verified against its keys and digests, and a reload of ' +
    'this page forgets the task.';
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

/** `Falcon-512`, or the number of each set. */
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
  const head = [
    column('Item', 'number'),
    column('Digest'),
    column('Public key'),
    column('Signature', 'number'),
  ];
  const rows = first.map(({ digest, publicKey, signatureBytes }, i) =>
    h(
      'tr',
      {},
      cell('number', count(i + 1)),
      cell('mono', shortHex(digest, 6)),
      cell('mono', shortHex(publicKey, 6)),
      cell('number', sizeText(signatureBytes)),
    ),
  );
  return h('details', {}, h('summary', {}, title), table('First items', head, rows));
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

/** Creates the task, uploads its file, and notifies the service. @returns the task's id */
async function submit(
  app: App,
  summary: BatchSummary,
  signal: AbortSignal,
  tell: Tell,
): Promise<string> {
  const { client } = app;
  tell('Creating the task', 0, 0);
  const file = await app.worker.call('taskFile', { batch: summary.batch });
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
    // A task without its file would remain until it expires.
    if (signal.aborted || isClientError(error)) await client.remove(id).catch(() => {});
    throw error;
  }
  return id;
}

type Tell = (text: string, done: number, total: number) => void;

/**
 * The frame of a long action: while it runs, a progress bar and a Stop button; afterwards, its
 * error.
 *
 * @param control the button that starts it, disabled meanwhile
 * @param stopped announced if the user stopped it
 * @returns the elements for progress and errors, and the start, which does nothing while it runs
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
