/**
 * The summary of a batch before it is sent: how many items and keys, how large, all valid or not.
 */
import { sizeText } from '../../../../wire/sizes.ts';
import type { App } from '../app.ts';
import { button, h } from '../dom.ts';
import { count, counted, duration, listed, shortHex } from '../format.ts';
import type { BatchSummary } from '../worker/protocol.ts';
import { chip, download, facts, table } from './controls.ts';
import { faultList } from './faultList.ts';

export function draftSummary(app: App, summary: BatchSummary, onClear: () => void): HTMLElement {
  const { invalid, invalidTotal } = summary;
  const save = async () => {
    const file = await app.worker.call('taskFile', { batch: summary.batch });
    download('task.json', new Blob([file], { type: 'application/json' }));
  };
  return h(
    'div',
    { class: 'stack' },
    h(
      'div',
      { class: 'row apart' },
      h('p', {}, h('strong', {}, summary.name)),
      invalidTotal === 0
        ? chip(`all valid, verified in ${duration(summary.checkMs)}`, 'good')
        : chip(`${count(invalidTotal)} of ${count(summary.count)} invalid`, 'bad'),
    ),
    facts([
      ['Signatures', count(summary.count)],
      ['Different keys', count(summary.keys)],
      ['Parameter set', setWords(summary)],
      ['Bytes of signatures', sizeText(summary.bytes.signatures)],
      ['Task file', sizeText(summary.bytes.file)],
    ]),
    invalidTotal > 0 && faultList('This task would fail', invalid, invalidTotal, 'wait'),
    firstItems(summary),
    h(
      'div',
      { class: 'row' },
      button('Save the task file', () => void save(), { look: 'plain' }),
      button('Empty it', onClear, { look: 'quiet' }),
    ),
    h(
      'p',
      { class: 'hint' },
      'Save the task file: the result is verified against its keys and digests, and a reload of ' +
        'this page forgets the task.',
    ),
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
  const more = all - first.length;
  return h(
    'details',
    {},
    h('summary', {}, more > 0 ? `The first ${count(first.length)} items` : counted(all, 'item')),
    table(
      'First items',
      [
        h('th', { scope: 'col', class: 'number' }, 'Item'),
        h('th', { scope: 'col' }, 'Digest'),
        h('th', { scope: 'col' }, 'Public key'),
        h('th', { scope: 'col', class: 'number' }, 'Signature'),
      ],
      first.map((item, i) =>
        h(
          'tr',
          {},
          h('td', { class: 'number' }, count(i + 1)),
          h('td', { class: 'mono' }, shortHex(item.digest, 6)),
          h('td', { class: 'mono' }, shortHex(item.publicKey, 6)),
          h('td', { class: 'number' }, sizeText(item.signatureBytes)),
        ),
      ),
    ),
  );
}
