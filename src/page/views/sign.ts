/** Signing one message at the service, and checking its signature here at once. */
import type { Triple } from '../../client/index.ts';
import type { App, View } from '../app.ts';
import { announce, button, fill, h } from '../dom.ts';
import { bytes, count, counted, duration } from '../format.ts';
import {
  chip,
  choices,
  empty,
  field,
  hexValue,
  lead,
  panel,
  whileBusy,
} from '../parts/controls.ts';
import { keyNotice } from '../parts/keyNotice.ts';
import { isStopped, problemBox } from '../parts/problems.ts';

type Reading = 'text' | 'hex';

export function signView(app: App): View {
  let reading: Reading = 'text';
  const { maxDigestBytes } = app.config;
  const problem = h('div');
  const results = h('div', { class: 'stack' });
  const message = h('textarea', { spellcheck: 'false', on: { input: () => showSize() } });
  const size = h('span');
  const send = h('button', { class: 'button primary', type: 'submit' }, 'Sign');

  const read = (): Uint8Array | string => {
    const text = message.value;
    if (reading === 'text') return new TextEncoder().encode(text);
    const hex = text.replaceAll(/\s/g, '').replace(/^0x/i, '');
    if (!/^[\dA-Fa-f]*$/.test(hex)) return 'Only hex digits, please, with or without 0x in front';
    if (hex.length % 2 !== 0) return 'An even number of hex digits is needed';
    return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  };
  const showSize = () => {
    const value = read();
    const length = typeof value === 'string' ? null : value.length;
    const wrong = length === null ? (value as string) : null;
    const tooLong = length !== null && length > maxDigestBytes;
    message.setAttribute('aria-invalid', String(wrong !== null || tooLong));
    fill(size, wrong ?? `${count(length ?? 0)} of at most ${count(maxDigestBytes)} bytes`);
    size.className = wrong !== null || tooLong ? 'fault' : '';
  };

  const sign = async () => {
    const value = read();
    fill(problem);
    if (typeof value === 'string' || value.length > maxDigestBytes) {
      message.focus();
      announce(size.textContent ?? '');
      return;
    }
    try {
      const triple = await app.client.sign(value);
      const card = signatureCard(app, triple);
      if (results.querySelector('.empty')) fill(results);
      results.prepend(card.element);
      announce(`Signed. ${await card.verdict}`);
    } catch (error) {
      if (!isStopped(error)) fill(problem, problemBox(error));
    }
  };

  fill(
    results,
    empty(
      'pen',
      'No signature yet',
      'What you sign appears here, with the check that this browser makes.',
    ),
  );
  showSize();
  const element = h(
    'div',
    { class: 'view' },
    lead(
      'Sign a message',
      'The service signs with a Falcon key that it holds itself. That is for trying things out: for anything that ' +
        'matters, sign where your own key is.',
    ),
    keyNotice(app),
    !app.config.signing &&
      h(
        'div',
        { class: 'notice wait' },
        h(
          'p',
          {},
          h('strong', {}, 'Signing is switched off on this service.'),
          ' Test items on the Build panel are signed in the browser and need no endpoint.',
        ),
      ),
    h(
      'div',
      { class: 'columns two' },
      panel(
        'What to sign',
        h(
          'form',
          {
            class: 'stack',
            on: {
              submit: (event) => {
                event.preventDefault();
                void whileBusy(send, sign);
              },
            },
          },
          field('Message', message, size),
          choices(
            'Read it as',
            [
              ['text', 'Text'],
              ['hex', 'Hex'],
            ],
            (value) => {
              reading = value;
              message.classList.toggle('mono', value === 'hex');
              showSize();
            },
          ),
          h('div', { class: 'row' }, send),
          problem,
        ),
      ),
      panel('Signatures', results),
    ),
  );
  return { title: 'Sign', element };
}

function signatureCard(
  app: App,
  triple: Triple,
): { element: HTMLElement; verdict: Promise<string> } {
  const check = h('div', { class: 'row' }, chip('checking', 'busy'));
  const problem = h('div');
  const add = button('Add to the task', () => void whileBusy(add, collect));
  const collect = async () => {
    try {
      const after = app.draft.summary?.kind === 'task' ? app.draft.summary.batch : null;
      const reading = await app.worker.call('collect', {
        triples: [triple],
        after,
        limits: app.limits,
      });
      if ('faults' in reading) {
        fill(problem, h('p', { class: 'fault', role: 'alert' }, reading.faults[0]?.message ?? ''));
        return;
      }
      app.draft.set(reading.summary);
      fill(
        problem,
        h(
          'p',
          { class: 'small soft' },
          `The task has ${counted(reading.summary.count, 'item')}. `,
          h('a', { href: '#build' }, 'Look at it'),
        ),
      );
      announce(`Added. The task has ${count(reading.summary.count)} items`);
    } catch (error) {
      fill(problem, problemBox(error));
    }
  };
  const verdict = app.worker.call('verifySignature', triple).then(
    ({ valid, ms, set }) => {
      const words = `${valid ? 'Verified' : 'Not valid'} in this browser`;
      const name = set === 'falcon1024' ? 'Falcon-1024' : 'Falcon-512';
      fill(
        check,
        chip(words, valid ? 'good' : 'bad'),
        h('span', { class: 'small soft' }, `${name}, ${duration(ms)}`),
      );
      return words;
    },
    (error) => {
      fill(check, problemBox(error));
      return 'It could not be checked';
    },
  );
  const size = (hex: string) => (hex.length - 2) / 2;
  const element = h(
    'article',
    { class: 'stack', 'aria-label': `Signature of ${bytes(size(triple.digest))}` },
    check,
    hexValue('Digest', triple.digest),
    hexValue('Signature', triple.signature),
    hexValue('Public key', triple.public_key),
    h('div', { class: 'row' }, add),
    problem,
  );
  return { element, verdict };
}
