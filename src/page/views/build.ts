/** Putting a task together: test items made here, a task file, or signatures from the Sign panel; then submitting it. */
import type { App, View } from '../app.ts';
import { announce, fill, h } from '../dom.ts';
import { bytes, count, counted } from '../format.ts';
import { choices, confirm, dropZone, empty, field, lead, panel } from '../parts/controls.ts';
import { draftSummary } from '../parts/draftSummary.ts';
import { faultList } from '../parts/faultList.ts';
import { longAction } from '../parts/longAction.ts';
import { problemBox } from '../parts/problems.ts';
import { submission } from '../parts/submission.ts';
import type { SetChoice } from '../worker/protocol.ts';

export function buildView(app: App): View {
  const task = h('div', { class: 'stack' });
  const show = () => {
    const { summary } = app.draft;
    if (summary === null) {
      fill(
        task,
        empty(
          'box',
          'Nothing in it yet',
          'Make test items, choose a task file, or add signatures from the Sign panel.',
        ),
      );
      return;
    }
    const clear = async () => {
      const sure = await confirm(
        'Empty the task?',
        `${counted(summary.count, 'item')} will be dropped.`,
        'Empty it',
      );
      if (sure) app.draft.set(null);
    };
    fill(
      task,
      draftSummary(app, summary, () => void clear()),
      submission(app, summary),
    );
  };
  app.draft.onChange(show);
  show();

  const element = h(
    'div',
    { class: 'view' },
    lead(
      'Build a task',
      `A task is an ordered list of digest, public key and signature, up to ${count(app.config.maxSignatures)} of them. ` +
        'Everything is checked here before it is sent.',
    ),
    h(
      'div',
      { class: 'columns side' },
      h('div', { class: 'stack' }, testItems(app), fromFile(app)),
      panel('Your task', task),
    ),
  );
  return { title: 'Build', element };
}

/** Keys for so many items, unless somebody says otherwise. */
const DEFAULT_COUNT = 120;
const DEFAULT_KEYS = 12;

function testItems(app: App): HTMLElement {
  const max = app.config.maxSignatures;
  let set: SetChoice = 'falcon512';
  const number = (value: number) =>
    h('input', {
      type: 'number',
      min: 1,
      max,
      step: 1,
      value,
      required: true,
      inputmode: 'numeric',
    });
  const items = number(Math.min(DEFAULT_COUNT, max));
  const keys = number(Math.min(DEFAULT_KEYS, max));
  const make = h('button', { class: 'button primary', type: 'submit' }, 'Make test items');
  const action = longAction({
    label: 'Making test items',
    control: make,
    stopped: 'Stopped',
    work: async (signal, tell) => {
      tell('Loading the library', 0, 0);
      announce('Making test items');
      const wanted = { count: items.valueAsNumber, keys: keys.valueAsNumber, set };
      const summary = await app.worker.call(
        'generate',
        { ...wanted, keys: Math.min(wanted.keys, wanted.count) },
        {
          signal,
          onProgress: ({ what, done, total }) =>
            tell(`${what}: ${count(done)} of ${count(total)}`, done, total),
        },
      );
      app.draft.set(summary);
      announce(`${counted(summary.count, 'test item')} made; every signature verified`);
    },
  });

  return panel(
    'Test items',
    h(
      'form',
      {
        class: 'stack',
        on: {
          submit: (event) => {
            event.preventDefault();
            void action.run();
          },
        },
      },
      h(
        'p',
        { class: 'soft small' },
        'Fresh keys and signatures, made by WebAssembly in a worker of this page. The secret keys are forgotten at once.',
      ),
      h('div', { class: 'fields' }, field('Signatures', items), field('Different keys', keys)),
      choices(
        'Parameter set',
        [
          ['falcon512', 'Falcon-512'],
          ['falcon1024', 'Falcon-1024'],
          ['mixed', 'Both'],
        ],
        (value) => {
          set = value;
        },
      ),
      h('div', { class: 'row' }, make),
      action.places,
    ),
  );
}

function fromFile(app: App): HTMLElement {
  const outcome = h('div');
  const zone = dropZone({
    label: 'Choose a task file, or drop it here',
    hint: `A JSON array of digest, public_key and signature; up to ${bytes(app.config.maxBodyBytes)}`,
    onFile: (file) => void read(file),
  });
  const read = async (file: File) => {
    fill(outcome, h('p', { class: 'small soft' }, `Reading and checking ${file.name}…`));
    try {
      const reading = await app.worker.call('readFile', {
        file,
        name: file.name,
        kind: 'task',
        limits: app.limits,
      });
      if ('faults' in reading) {
        fill(outcome, faultList(`${file.name} is no task file`, reading.faults, reading.total));
        announce(`${file.name} is no task file: ${counted(reading.total, 'fault')}`);
        return;
      }
      const { summary } = reading;
      fill(
        outcome,
        h('p', { class: 'small soft' }, `${file.name}: ${counted(summary.count, 'item')} read.`),
      );
      app.draft.set(summary);
      announce(`${file.name}: ${counted(summary.count, 'item')} read`);
    } catch (error) {
      fill(outcome, problemBox(error));
    }
  };
  return panel('Task file', zone.element, outcome);
}
