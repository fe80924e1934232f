/**
 * Verifies a result in this browser, against the task file that was submitted from here or another
 * one; and, as a counter-check, an aggregate with one changed byte, which must be refused.
 */
import type { App } from '../app.ts';
import { announce, button, fill, h, setOff } from '../dom.ts';
import { count, counted, duration } from '../format.ts';
import type { BatchSummary, ResultSummary } from '../worker/protocol.ts';
import { chip, dropZone, whileBusy } from './controls.ts';
import { faultList } from './faultList.ts';
import { problemBox } from './problems.ts';

/** The most outcomes that are shown. */
const MAX_OUTCOMES = 6;

/** @param known the batch that the result was made of, if this page has it */
export function verifier(app: App, result: ResultSummary, known: BatchSummary | null): HTMLElement {
  return new Verifier(app, result, known).element;
}

class Verifier {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #result: ResultSummary;
  readonly #known: BatchSummary | null;
  #batch: BatchSummary | null;
  readonly #source = h('div', { class: 'stack' });
  readonly #log = h('div', { class: 'log', role: 'log', 'aria-label': 'Outcomes' });
  readonly #verify = button(
    'Verify in this browser',
    () => this.#run(this.#verify, 'verifying', () => this.#verdict()),
    { look: 'primary' },
  );
  readonly #tamper = button('Change one byte and verify', () =>
    this.#run(this.#tamper, 'verifying a damaged copy', () => this.#counterCheck()),
  );
  readonly #zone = dropZone({
    label: 'Choose your task file, or drop it here',
    hint: 'The result is about its digests and keys, in order; signatures are ignored',
    onFile: (file) => void this.#read(file),
  });

  constructor(app: App, result: ResultSummary, known: BatchSummary | null) {
    this.#app = app;
    this.#result = result;
    this.#known = known;
    this.#batch = known;
    this.#show();
    const buttons = h('div', { class: 'row' }, this.#verify, this.#tamper);
    this.element = h('div', { class: 'stack' }, this.#source, buttons, this.#log);
  }

  /** Runs a check; until its outcome, the log shows a chip. */
  #run(control: HTMLButtonElement, text: string, check: () => Promise<HTMLElement>): void {
    void whileBusy(control, async () => {
      const waiting = h('div', { class: 'row' }, chip(text, 'busy'));
      this.#log.prepend(waiting);
      while (this.#log.children.length > MAX_OUTCOMES) this.#log.lastElementChild?.remove();
      waiting.replaceWith(await check().catch(problemBox));
    });
  }

  async #verdict(): Promise<HTMLElement> {
    const { valid, ms, threads, reason } = await this.#app.worker.call(
      'verifyResult',
      this.#pair(),
    );
    if (!valid) return outcome('bad', 'Not valid.', ` ${reason ?? ''}.`);
    this.#tamper.disabled = false;
    const what = `${counted(this.#result.count, 'signature')} in ${duration(ms)}`;
    const where = `by WebAssembly on ${counted(threads, 'thread')} of this browser`;
    return outcome('good', 'Valid.', ` ${what}, ${where}. The service was not asked.`);
  }

  async #counterCheck(): Promise<HTMLElement> {
    const { valid, ms, at, before, after } = await this.#app.worker.call('tamper', this.#pair());
    const place = `byte ${count(at)} of ${count(this.#result.sizes.aggregate)}`;
    const what = `${place} changed from ${hexByte(before)} to ${hexByte(after)}`;
    return valid
      ? outcome('bad', 'Accepted, which must not happen:', ` ${what}.`)
      : outcome('good', 'Refused, as it must be:', ` ${what} (${duration(ms)}).`);
  }

  #pair(): { result: number; batch: number } {
    if (this.#batch === null) throw new Error('There is no task file yet');
    return { result: this.#result.result, batch: this.#batch.batch };
  }

  async #read(file: File): Promise<void> {
    const { worker, limits } = this.#app;
    const { name } = file;
    try {
      const reading = await worker.call('readFile', { file, name, kind: 'statements', limits });
      if ('faults' in reading) {
        const faults = faultList(`${name} is not a task file`, reading.faults, reading.total);
        fill(this.#source, this.#zone.element, faults);
        return;
      }
      this.#batch = reading.summary;
      this.#show();
      this.#verify.focus();
      announce(`${name} read: ${counted(reading.summary.count, 'item')}`);
    } catch (error) {
      fill(this.#source, this.#zone.element, problemBox(error));
    }
  }

  #show(): void {
    const batch = this.#batch;
    setOff(this.#verify, batch === null);
    setOff(this.#tamper, batch === null);
    if (batch === null) {
      fill(this.#source, this.#zone.element);
      return;
    }
    const name = batch === this.#known ? 'the task submitted from this page' : batch.name;
    const items = `: ${counted(batch.count, 'item')} of ${counted(batch.keys, 'key')}.`;
    const about = h('p', {}, 'Against ', h('strong', {}, name), items);
    const other = button('Use another file', () => this.#useAnother(), { look: 'quiet' });
    fill(this.#source, h('div', { class: 'row apart' }, about, other));
  }

  #useAnother(): void {
    this.#batch = null;
    this.#show();
    this.#source.querySelector('input')?.focus();
  }
}

const hexByte = (byte: number) => `0x${byte.toString(16).padStart(2, '0')}`;

function outcome(tone: 'good' | 'bad', title: string, text: string): HTMLElement {
  return h('div', { class: `notice ${tone}` }, h('p', {}, h('strong', {}, title), text));
}
