/** Has the service sign a message, and verifies the signature in this browser. */
import type { Triple } from '../../../../client/index.ts';
import { fromHex } from '../../../../shared/bytes.ts';
import { count, counted, sizeText } from '../../../../wire/sizes.ts';
import type { App, View } from '../app.ts';
import { announce, button, div, fill, h, link, p, strong } from '../dom.ts';
import { duration } from '../format.ts';
import {
  chip,
  choices,
  empty,
  field,
  hexValue,
  keyNotice,
  lead,
  onSubmit,
  panel,
  view,
  whileBusy,
} from '../parts/controls.ts';
import { isStopped, problemBox } from '../parts/problems.ts';

export function signView(app: App): View {
  const nothing = 'Signatures appear here, each verified in this browser.';
  const results = div('stack', empty('pen', 'No signature yet', nothing));
  const show = (triple: Triple): Promise<string> => {
    const card = signatureCard(app, triple);
    if (results.querySelector('.empty')) fill(results);
    results.prepend(card.element);
    return card.verdict;
  };
  const about =
    'The service signs with its own Falcon key. This is for testing only: in production, sign ' +
    'where you keep your own key.';
  const off = ' The browser signs the test items on the Build page itself.';
  const element = view(
    lead('Sign a message', about),
    keyNotice(app),
    !app.config.signing &&
      div('notice wait', p('', strong('Signing is disabled on this service.'), off)),
    div('columns two', panel('Message', signForm(app, show)), panel('Signatures', results)),
  );
  return { title: 'Sign', element };
}

/**
 * The message, as text or hex, and the Sign button.
 *
 * @param show displays a signature and resolves to its verdict
 */
function signForm(app: App, show: (triple: Triple) => Promise<string>): HTMLElement {
  const { maxDigestBytes: most } = app.config;
  let isHex = false;
  const problem = h('div');
  const size = h('span');
  const message = h('textarea', { spellcheck: 'false', on: { input: () => read() } });
  /** Returns the bytes of the message, or null, and displays their number or the fault. */
  const read = (): Uint8Array | null => {
    const value = isHex ? parseHex(message.value) : new TextEncoder().encode(message.value);
    const wrong = typeof value === 'string' || value.length > most;
    message.setAttribute('aria-invalid', String(wrong));
    size.className = wrong ? 'fault' : '';
    const words = () => `${count(value.length)} of at most ${counted(most, 'byte')}`;
    fill(size, typeof value === 'string' ? value : words());
    return wrong ? null : value;
  };
  const sign = async () => {
    const value = read();
    fill(problem);
    if (value === null) {
      message.focus();
      announce(size.textContent ?? '');
      return;
    }
    try {
      announce(`Signed. ${await show(await app.client.sign(value))}`);
    } catch (error) {
      if (!isStopped(error)) fill(problem, problemBox(error));
    }
  };
  const send = h('button', { class: 'button primary', type: 'submit' }, 'Sign');
  const kinds = [
    ['text', 'Text'],
    ['hex', 'Hex'],
  ] as const;
  read();
  return h(
    'form',
    { class: 'stack', on: onSubmit(() => whileBusy(send, sign)) },
    field('Message', message, size),
    choices('Message format', kinds, (kind) => {
      isHex = kind === 'hex';
      message.classList.toggle('mono', isHex);
      read();
    }),
    div('row', send),
    problem,
  );
}

/** Returns the bytes, or the fault in words. */
function parseHex(text: string): Uint8Array | string {
  const hex = text.replaceAll(/\s/g, '').replace(/^0x/i, '');
  if (!/^[\dA-Fa-f]*$/.test(hex)) return 'Only hex digits are allowed, with or without 0x';
  return hex.length % 2 === 0 ? fromHex(hex) : 'The number of hex digits must be even';
}

/** @returns the card, and a promise of the verdict in words, which never rejects */
function signatureCard(app: App, triple: Triple) {
  const check = div('row', chip('checking', 'busy'));
  const added = h('div');
  const add = button('Add to the task', () => {
    void whileBusy(add, async () => fill(added, await addToTask(app, triple).catch(problemBox)));
  });
  const size = sizeText((triple.digest.length - 2) / 2);
  const element = h(
    'article',
    { class: 'stack', 'aria-label': `Signature of ${size}` },
    check,
    hexValue('Digest', triple.digest),
    hexValue('Signature', triple.signature),
    hexValue('Public key', triple.public_key),
    div('row', add),
    added,
  );
  return { element, verdict: verify(app, triple, check) };
}

/** Verifies a signature in this browser. @returns the verdict in words */
async function verify(app: App, triple: Triple, place: HTMLElement): Promise<string> {
  try {
    const { valid, ms, set } = await app.call('verifySignature', triple);
    const words = valid ? 'Verified in this browser' : 'Not valid';
    const name = set === 'falcon1024' ? 'Falcon-1024' : 'Falcon-512';
    const details = h('span', { class: 'small soft' }, `${name}, ${duration(ms)}`);
    fill(place, chip(words, valid ? 'good' : 'bad'), details);
    return words;
  } catch (error) {
    fill(place, problemBox(error));
    return 'It could not be verified';
  }
}

/** Adds a signature to the draft. @returns the outcome */
async function addToTask(app: App, triple: Triple): Promise<HTMLElement> {
  const { limits, draft } = app;
  const after = draft.value?.batch ?? null;
  const reading = await app.call('collect', { triple, after, limits });
  if ('faults' in reading) {
    return h('p', { class: 'fault', role: 'alert' }, reading.faults[0]?.message ?? '');
  }
  draft.set(reading.summary);
  const words = `The task has ${counted(reading.summary.count, 'item')}`;
  announce(`Added. ${words}`);
  return p('small soft', `${words}. `, link('#build', 'Show it'));
}
