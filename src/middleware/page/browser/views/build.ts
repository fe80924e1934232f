/** Builds a task from test items, a file or signatures of the Sign page, and submits it. */
import { binarySizeText } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { announce, fill, follow, h } from '../dom.ts';
import { count, counted } from '../format.ts';
import { choices, confirm, dropZone, empty, field, lead, panel, view } from '../parts/controls.ts';
import { draftSummary } from '../parts/draftSummary.ts';
import { faultList } from '../parts/faultList.ts';
import { longAction } from '../parts/longAction.ts';
import { problemBox } from '../parts/problems.ts';
import { submission } from '../parts/submission.ts';
import { makeTestItems, usualItems } from '../parts/testItems.ts';
import type { SaltChoice, SetChoice } from '../worker/protocol.ts';

export function buildView(app: App): View {
  const task = h('div', { class: 'stack' });
  const show = () => {
    const { summary } = app.draft;
    if (summary === null) {
      fill(
        task,
        empty(
          'box',
          'The task is empty',
          'Make test items, choose a task file, or add signatures from the Sign page.',
        ),
      );
      return;
    }
    const clear = async () => {
      const sure = await confirm(
        'Empty the task?',
        `${counted(summary.count, 'item')} will be removed.`,
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
  follow(app.draft, show);

  const element = view(
    lead(
      'Build a task',
      'A task is an ordered list of triples (digest, public key, signature), ' +
        `${count(app.config.maxSignatures)} at most. ` +
        'Every signature is verified here before anything is sent.',
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

function testItems(app: App): HTMLElement {
  const { maxSignatures: max } = app.config;
  const usual = usualItems(app);
  const items = numberInput(usual.count, max);
  const keys = numberInput(usual.keys, max);
  let set: SetChoice = 'falcon512';
  let salt: SaltChoice = 'random';
  const make = h('button', { class: 'button primary', type: 'submit' }, 'Make test items');
  const action = longAction({
    label: 'Making test items',
    control: make,
    stopped: 'Stopped',
    work: async (signal, tell) => {
      if (!(await mayReplace(app))) return;
      const wanted = { count: items.valueAsNumber, keys: keys.valueAsNumber, set, salt };
      await makeTestItems(app, wanted, signal, tell);
    },
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
    h('p', { class: 'soft small' }, about),
    h('div', { class: 'fields' }, field('Signatures', items), field('Different keys', keys)),
    choices('Parameter set', sets, (value) => {
      set = value;
    }),
    choices('Salts', salts, (value) => {
      salt = value;
    }),
    h('div', { class: 'row' }, make),
    action.places,
  );
  return panel('Test items', form);
}

function numberInput(value: number, max: number): HTMLInputElement {
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
        fill(outcome, faultList(`${file.name} is not a task file`, reading.faults, reading.total));
        announce(`${file.name} is not a task file: ${counted(reading.total, 'fault')}`);
        return;
      }
      const { summary } = reading;
      const words = `${file.name}: ${counted(summary.count, 'item')} read`;
      const taken = await mayReplace(app);
      fill(outcome, h('p', { class: 'small soft' }, taken ? `${words}.` : `${words}, not taken.`));
      if (taken) app.draft.set(summary);
      announce(words);
    } catch (error) {
      fill(outcome, problemBox(error));
    }
  };
  return panel('Task file', zone.element, outcome);
}

/** @returns whether there is no draft that would be lost, or the user lets it go */
async function mayReplace(app: App): Promise<boolean> {
  const { summary } = app.draft;
  if (summary === null) return true;
  const text = `It has ${counted(summary.count, 'item')} (${summary.name}), which will be removed.`;
  return confirm('Replace your task?', text, 'Replace it');
}
