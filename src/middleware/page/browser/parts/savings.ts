/**
 * The savings as a picture: the bytes of plain signatures and those of the aggregate, on one scale.
 * Both are what a verifier needs beside keys and messages, all in: salts too. The headline says the
 * same numbers.
 */
import { sizeText } from '../../../../wire/sizes.ts';
import { type Child, h, svg } from '../dom.ts';
import { count, percent } from '../format.ts';

export interface SavingsInput {
  readonly format: string;
  readonly count: number;
  readonly aggregate: number;
  readonly salts: number;
  readonly signatures: number;
}

interface Segment {
  readonly name: 'salts' | 'plain' | 'proof';
  readonly label: string;
  readonly bytes: number;
}

/** The width of the drawing, which is scaled to fit. */
const WIDTH = 1000;
const HEIGHT = 36;
/** The gap between segments. */
const GAP = 3;

export function savings(input: SavingsInput): HTMLElement {
  const { aggregate, salts, signatures } = input;
  const body = input.format === 'proof' ? 'proof' : input.format;
  const plain: Segment[] = [
    { name: 'plain', label: 'signatures', bytes: Math.max(0, signatures - salts) },
    { name: 'salts', label: 'salts', bytes: salts },
  ];
  const made: Segment[] = [
    { name: 'proof', label: body, bytes: Math.max(0, aggregate - salts) },
    { name: 'salts', label: 'salts', bytes: salts },
  ];
  const scale = Math.max(sum(plain), sum(made), 1);
  const saved = 1 - aggregate / Math.max(1, signatures);
  return h(
    'figure',
    { class: 'picture' },
    h(
      'p',
      { class: 'headline' },
      `${sizeText(signatures)} of signatures became ${sizeText(aggregate)}: `,
      saved >= 0 ? `${percent(saved)} saved` : 'the batch is too small',
    ),
    h(
      'div',
      { class: 'bars' },
      bar(`${count(input.count)} plain signatures`, plain, scale),
      bar(`One aggregate (${input.format})`, made, scale),
    ),
    legend([
      ['plain', `Signatures ${sizeText(plain[0]!.bytes)}`],
      ['proof', `${body === 'proof' ? 'Proof' : 'Bundle'} ${sizeText(made[0]!.bytes)}`],
      ['salts', saltsText(salts, aggregate)],
    ]),
    h(
      'p',
      { class: 'hint' },
      'Keys and messages, which a verifier needs in either case, are not counted.',
    ),
  );
}

/** What the salts cost. */
const saltsText = (salts: number, aggregate: number): string =>
  salts === 0
    ? 'Salts 0 B: they follow from keys and messages, or are constant'
    : `Salts ${sizeText(salts)}, in both: ${percent(salts / aggregate)} of the aggregate`;

const sum = (segments: readonly Segment[]) => segments.reduce((all, one) => all + one.bytes, 0);

function bar(name: string, segments: readonly Segment[], scale: number): HTMLElement {
  const parts = segments
    .map(({ label, bytes: size }) => `${sizeText(size)} of ${label}`)
    .join(', ');
  let x = 0;
  const rects = segments
    .filter((segment) => segment.bytes > 0)
    .map((segment) => {
      const width = (segment.bytes / scale) * WIDTH;
      const rect = svg('rect', {
        class: segment.name,
        x: x.toFixed(2),
        y: 0,
        // Even the smallest part is visible.
        width: Math.max(1.5, width - GAP).toFixed(2),
        height: HEIGHT,
      });
      x += width;
      return rect;
    });
  return h(
    'div',
    { class: 'tight' },
    h('p', { class: 'bar-name' }, h('span', {}, name), h('b', {}, sizeText(sum(segments)))),
    svg(
      'svg',
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `${name}: ${parts}`,
      },
      svg('rect', { class: 'track', x: 0, y: 0, width: WIDTH, height: HEIGHT }),
      rects,
    ),
  );
}

function legend(entries: readonly (readonly [name: string, label: Child])[]): HTMLElement {
  return h(
    'ul',
    { class: 'legend', 'aria-label': 'Parts' },
    entries.map(([name, label]) =>
      h('li', {}, h('i', { class: name, 'aria-hidden': 'true' }), label),
    ),
  );
}
