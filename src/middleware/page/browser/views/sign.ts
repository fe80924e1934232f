/** Signs a message at the service, and verifies the signature here at once. */
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
  panel,
  view,
  whileBusy,
} from '../parts/controls.ts';
import { isStopped, problemBox } from '../parts/problems.ts';

export function signView(app: App): View {
  const nothing = 'Signatures appear here, each verified by this browser.';
  const results = div('stack', empty('pen', 'No signature yet', nothing));
  const show = (triple: Triple): Promise<string> => {
    const card = signatureCard(app, triple);
    if (results.querySelector('.empty')) fill(results);
    results.prepend(card.element);
    return card.verdict;
  };
  const about =
    'The service signs with its own Falcon key. This is for testing only: for anything that ' +
    'matters, sign where you keep your own key.';
  const off = ' Test items on the Build page are signed in the browser and do not need it.';
  const element = view(
    lead('Sign a message', about),
    keyNotice(app),
    !app.config.signing &&
      div('notice wait', p('', strong('Signing is switched off on this service.'), off)),
    div(
      'columns two',
      panel('Message', new SignForm(app, show).element),
      panel('Signatures', results),
    ),
  );
  return { title: 'Sign', element };
}

/** The message, as text or hex, and the button that has it signed. */
class SignForm {
  readonly element: HTMLElement;
  readonly #app: App;
  /** Shows a signature. @returns whether it was verified, in words */
  readonly #show: (triple: Triple) => Promise<string>;
  #isHex = false;
  readonly #problem = h('div');
  readonly #message = h('textarea', {
    spellcheck: 'false',
    on: { input: () => this.#showSize() },
  });
  readonly #size = h('span');

  constructor(app: App, show: (triple: Triple) => Promise<string>) {
    this.#app = app;
    this.#show = show;
    const send = h('button', { class: 'button primary', type: 'submit' }, 'Sign');
    const submit = (event: Event) => {
      event.preventDefault();
      void whileBusy(send, () => this.#sign());
    };
    const kinds = [
      ['text', 'Text'],
      ['hex', 'Hex'],
    ] as const;
    this.element = h(
      'form',
      { class: 'stack', on: { submit } },
      field('Message', this.#message, this.#size),
      choices('Read it as', kinds, (kind) => {
        this.#isHex = kind === 'hex';
        this.#message.classList.toggle('mono', this.#isHex);
        this.#showSize();
      }),
      div('row', send),
      this.#problem,
    );
    this.#showSize();
  }

  /** The bytes of the message, or its fault. */
  #read(): Uint8Array | string {
    const text = this.#message.value;
    if (!this.#isHex) return new TextEncoder().encode(text);
    const hex = text.replaceAll(/\s/g, '').replace(/^0x/i, '');
    if (!/^[\dA-Fa-f]*$/.test(hex)) return 'Only hex digits are allowed, with or without 0x';
    return hex.length % 2 === 0 ? fromHex(hex) : 'The number of hex digits must be even';
  }

  #showSize(): void {
    const value = this.#read();
    const { maxDigestBytes: most } = this.#app.config;
    const wrong = typeof value === 'string' || value.length > most;
    this.#message.setAttribute('aria-invalid', String(wrong));
    this.#size.className = wrong ? 'fault' : '';
    const size = () => `${count(value.length)} of at most ${counted(most, 'byte')}`;
    fill(this.#size, typeof value === 'string' ? value : size());
  }

  async #sign(): Promise<void> {
    const value = this.#read();
    fill(this.#problem);
    if (typeof value === 'string' || value.length > this.#app.config.maxDigestBytes) {
      this.#message.focus();
      announce(this.#size.textContent ?? '');
      return;
    }
    try {
      const triple = await this.#app.client.sign(value);
      announce(`Signed. ${await this.#show(triple)}`);
    } catch (error) {
      if (!isStopped(error)) fill(this.#problem, problemBox(error));
    }
  }
}

interface Card {
  readonly element: HTMLElement;
  /** Whether the signature was verified, in words; never rejects. */
  readonly verdict: Promise<string>;
}

function signatureCard(app: App, triple: Triple): Card {
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

/** Verifies a signature in this browser and shows the verdict. */
async function verify(app: App, triple: Triple, place: HTMLElement): Promise<string> {
  try {
    const { valid, ms, set } = await app.worker.call('verifySignature', triple);
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

/** Adds a signature to the task that is being put together. @returns the outcome */
async function addToTask(app: App, triple: Triple): Promise<HTMLElement> {
  const { limits, draft } = app;
  const after = draft.value?.batch ?? null;
  const reading = await app.worker.call('collect', { triples: [triple], after, limits });
  if ('faults' in reading) {
    return h('p', { class: 'fault', role: 'alert' }, reading.faults[0]?.message ?? '');
  }
  draft.set(reading.summary);
  const words = `The task has ${counted(reading.summary.count, 'item')}`;
  announce(`Added. ${words}`);
  return p('small soft', `${words}. `, link('#build', 'Show it'));
}
