/** The faults of a file, by item and line. */
import { h } from '../dom.ts';
import { count, counted } from '../format.ts';
import type { FileFault } from '../worker/protocol.ts';
import { table } from './controls.ts';

/** The most rows that are shown; the heading tells the total. */
const SHOWN = 100;

export function faultList(
  title: string,
  faults: readonly FileFault[],
  total: number,
  tone: 'bad' | 'wait' = 'bad',
): HTMLElement {
  const [first] = faults;
  const single = total === 1 && first !== undefined && first.index === undefined;
  return h(
    'div',
    { class: `notice ${tone} stack` },
    h('p', {}, h('strong', {}, title), single ? '' : ` (${counted(total, 'fault')})`),
    single
      ? h('p', {}, [first.message, placeWords(first)].filter(Boolean).join(', '), '.')
      : faultTable(faults, total),
  );
}

function placeWords({ line, column }: FileFault): string {
  if (line === undefined) return '';
  return column === undefined
    ? `line ${count(line)}`
    : `line ${count(line)}, column ${count(column)}`;
}

function faultTable(faults: readonly FileFault[], total: number): HTMLElement {
  const hasLines = faults.some(({ line }) => line !== undefined);
  return table(
    'Faults',
    [
      h('th', { scope: 'col', class: 'number' }, 'Item'),
      hasLines && h('th', { scope: 'col', class: 'number' }, 'Line'),
      h('th', { scope: 'col' }, 'Fault'),
    ],
    faults
      .slice(0, SHOWN)
      .map(({ index, line, message }) =>
        h(
          'tr',
          {},
          h('td', { class: 'number' }, index === undefined ? '' : count(index + 1)),
          hasLines && h('td', { class: 'number' }, line === undefined ? '' : count(line)),
          h('td', { class: 'wrap' }, message),
        ),
      ),
    total > SHOWN &&
      h(
        'tr',
        {},
        h('td', { colspan: hasLines ? 3 : 2 }, `and ${counted(total - SHOWN, 'more', 'more')}`),
      ),
  );
}
