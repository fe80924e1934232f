/**
 * Verifying a result in this browser: against the task file that was submitted from here, or one that is dropped. And
 * the counter-check: one byte of the aggregate changed, which must be refused.
 */
import type { App } from '../app.ts';
import { announce, button, fill, h } from '../dom.ts';
import { count, counted, duration } from '../format.ts';
import type { BatchSummary, ResultSummary } from '../worker/protocol.ts';
import { chip, dropZone, whileBusy } from './controls.ts';
import { faultList } from './faultList.ts';
import { problemBox } from './problems.ts';

const hexByte = (byte: number) => `0x${byte.toString(16).padStart(2, '0')}`;

/** @param known the batch that the result was made of, if this page has it */
export function verifier(app: App, result: ResultSummary, known: BatchSummary | null): HTMLElement {
  let batch = known;
  const source = h('div', { class: 'stack' });
  const log = h('div', { class: 'log', role: 'log', 'aria-label': 'Outcomes' });
  const verify = button('Verify in this browser', () => void whileBusy(verify, runVerify), {
    look: 'primary',
  });
  const tamper = button('Change one byte and verify', () => void whileBusy(tamper, runTamper));

  const say = (entry: HTMLElement) => {
    log.prepend(entry);
    while (log.children.length > 6) log.lastElementChild?.remove();
  };
  const withChip = (text: string, run: () => Promise<HTMLElement>) => async () => {
    const waiting = h('div', { class: 'row' }, chip(text, 'busy'));
    say(waiting);
    try {
      waiting.replaceWith(await run());
    } catch (error) {
      waiting.replaceWith(problemBox(error));
    }
  };

  const runVerify = withChip('verifying', async () => {
    const verdict = await app.worker.call('verifyResult', pair());
    const words = `${counted(result.count, 'signature')} in ${duration(verdict.ms)}, by WebAssembly on ${counted(verdict.threads, 'thread')} beside this page`;
    if (verdict.valid) {
      tamper.disabled = false;
      return outcome('good', 'Valid.', ` ${words}. The service was not asked.`);
    }
    return outcome('bad', 'Not valid.', ` ${verdict.reason ?? ''}.`);
  });

  const runTamper = withChip('verifying a damaged copy', async () => {
    const { valid, ms, at, before, after } = await app.worker.call('tamper', pair());
    const what = `byte ${count(at)} of ${count(result.sizes.aggregate)} changed from ${hexByte(before)} to ${hexByte(after)}`;
    return valid
      ? outcome('bad', 'Accepted, which must not happen:', ` ${what}.`)
      : outcome('good', 'Refused, as it must be:', ` ${what} (${duration(ms)}).`);
  });

  const pair = () => {
    if (batch === null) throw new Error('There is no task file yet');
    return { result: result.result, batch: batch.batch };
  };

  const zone = dropZone({
    label: 'Choose your task file, or drop it here',
    hint: 'Its digests and keys, in order, are what the result is about; signatures are not looked at',
    onFile: (file) => void read(file),
  });
  const read = async (file: File) => {
    try {
      const reading = await app.worker.call('readFile', {
        file,
        name: file.name,
        kind: 'statements',
        limits: app.limits,
      });
      if ('faults' in reading) {
        fill(
          source,
          zone.element,
          faultList(`${file.name} is no task file`, reading.faults, reading.total),
        );
        return;
      }
      batch = reading.summary;
      show();
      verify.focus();
      announce(`${file.name} read: ${counted(batch.count, 'item')}`);
    } catch (error) {
      fill(source, zone.element, problemBox(error));
    }
  };
  const show = () => {
    verify.disabled = batch === null;
    tamper.disabled = batch === null;
    if (batch === null) {
      fill(source, zone.element);
      return;
    }
    const name = batch === known ? 'the task submitted from this page' : batch.name;
    const other = button(
      'Use another file',
      () => {
        batch = null;
        show();
        source.querySelector('input')?.focus();
      },
      { look: 'quiet' },
    );
    fill(
      source,
      h(
        'div',
        { class: 'row apart' },
        h(
          'p',
          {},
          'Against ',
          h('strong', {}, name),
          `: ${counted(batch.count, 'item')} of ${counted(batch.keys, 'key')}.`,
        ),
        other,
      ),
    );
  };
  show();
  return h('div', { class: 'stack' }, source, h('div', { class: 'row' }, verify, tamper), log);
}

function outcome(tone: 'good' | 'bad', title: string, text: string): HTMLElement {
  return h('div', { class: `notice ${tone}` }, h('p', {}, h('strong', {}, title), text));
}
