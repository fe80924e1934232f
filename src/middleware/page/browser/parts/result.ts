/** Displays a result: its size, description, file and verification. */
import { count, counted, sizeText } from '../../../../wire/sizes.ts';
import type { App } from '../app.ts';
import { announce, button, div, fill, h, p, setOff, strong, svg } from '../dom.ts';
import { duration, percent } from '../format.ts';
import type { BatchSummary, ResultSummary } from '../worker/protocol.ts';
import { chip, download, dropZone, facts, hexValue, panel, whileBusy } from './controls.ts';
import { problemBox, readTaskFile } from './problems.ts';

const SETS: Readonly<Record<string, string>> = {
  falcon512: 'Falcon-512',
  falcon1024: 'Falcon-1024',
  mixed: 'Falcon-512 and Falcon-1024',
};

const TIMINGS: Readonly<Record<string, string>> = {
  read_ms: 'Read in',
  verify_ms: 'Verified in',
  aggregate_ms: 'Aggregated in',
};

/** Reads a result file in the worker. @throws CodedError if it is not one */
export async function readResult(app: App, file: File): Promise<ResultSummary> {
  return app.call('readResult', { bytes: await file.arrayBuffer() });
}

export function resultPanels(app: App, result: ResultSummary, file: File): HTMLElement[] {
  const { sizes, timings } = result;
  const batch = app.submitted.get(String(result.processId)) ?? null;
  const promise =
    'The library verifies the result in this browser. Nothing is sent anywhere, and you need not ' +
    'trust the service.';
  return [
    panel('What was saved', savings(result)),
    panel('Verify the aggregate', p('soft', promise), new Verifier(app, result, batch).element),
    panel(
      'The result',
      facts([
        ['Format', result.format],
        ['Signatures', count(result.count)],
        ['Parameter set', SETS[result.parameterSet] ?? result.parameterSet],
        ['Aggregate', sizeText(sizes.aggregate)],
        ['Result file', sizeText(file.size)],
        ...Object.entries(timings).map(([key, ms]) => [TIMINGS[key] ?? key, duration(ms)] as const),
      ]),
      hexValue('Statement commitment', result.statement),
      div(
        'row',
        button('Save the result file', () => download(file.name, file)),
      ),
    ),
  ];
}

const NAMES: Readonly<Record<string, string>> = {
  proof: 'Proof',
  bundle: 'Bundle',
  merged: 'Merged proof',
  series: 'Series',
};

interface Segment {
  readonly name: 'salts' | 'plain' | 'proof';
  readonly label: string;
  readonly bytes: number;
}

/** The drawing's units; it is scaled to fit. */
const WIDTH = 1000;
const HEIGHT = 36;
const GAP = 3;

/**
 * Draws the bytes of the plain signatures and of the aggregate on one scale. Both numbers include
 * the salts: together with keys and messages, each is all that a verifier needs.
 */
function savings({ format, count: items, sizes }: ResultSummary): HTMLElement {
  const { aggregate, salts, signatures } = sizes;
  const salted: Segment = { name: 'salts', label: 'salts', bytes: salts };
  const rest = (bytes: number) => Math.max(0, bytes - salts);
  const plain: Segment = { name: 'plain', label: 'signatures', bytes: rest(signatures) };
  const proof: Segment = { name: 'proof', label: format, bytes: rest(aggregate) };
  const scale = Math.max(signatures, aggregate, salts, 1);
  const saved = 1 - aggregate / Math.max(1, signatures);
  const saltsText =
    salts === 0
      ? 'Salts 0 B: derived from keys and messages, or constant'
      : `Salts ${sizeText(salts)} in each: ${percent(salts / aggregate)} of the aggregate`;
  const legend = [
    [plain.name, `Signatures ${sizeText(plain.bytes)}`],
    [proof.name, `${NAMES[format] ?? format} ${sizeText(proof.bytes)}`],
    [salted.name, saltsText],
  ].map(([name, label]) => h('li', {}, h('i', { class: name, 'aria-hidden': 'true' }), label));
  return h(
    'figure',
    { class: 'picture' },
    p(
      'headline',
      `${sizeText(signatures)} of signatures became ${sizeText(aggregate)}: `,
      saved >= 0 ? `${percent(saved)} saved` : 'the batch is too small',
    ),
    bar(counted(items, 'plain signature'), [plain, salted], scale),
    bar(`One aggregate (${format})`, [proof, salted], scale),
    h('ul', { class: 'legend', 'aria-label': 'Parts' }, legend),
    p('hint', 'Keys and messages are not counted: a verifier needs them in either case.'),
  );
}

function bar(name: string, segments: readonly Segment[], scale: number): HTMLElement {
  let x = 0;
  const rects = segments
    .filter(({ bytes }) => bytes > 0)
    .map(({ name: kind, bytes }) => {
      const at = x;
      const width = (bytes / scale) * WIDTH;
      x += width;
      // Keeps even the smallest part visible.
      const shown = Math.max(1.5, width - GAP).toFixed(2);
      return svg('rect', { class: kind, x: at.toFixed(2), y: 0, width: shown, height: HEIGHT });
    });
  const parts = segments.map(({ label, bytes }) => `${sizeText(bytes)} of ${label}`).join(', ');
  const total = sizeText(segments.reduce((all, { bytes }) => all + bytes, 0));
  const picture = {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${name}: ${parts}`,
  };
  const track = svg('rect', { class: 'track', x: 0, y: 0, width: WIDTH, height: HEIGHT });
  return div(
    'tight',
    p('bar-name', h('span', {}, name), h('b', {}, total)),
    svg('svg', picture, track, rects),
  );
}

/** The maximum number of outcomes on display. */
const MAX_OUTCOMES = 6;

/**
 * Verifies a result in this browser against the submitted task or a task file. As a negative test,
 * verifies an aggregate with one changed byte, which must be rejected.
 */
class Verifier {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #result: ResultSummary;
  readonly #known: BatchSummary | null;
  #batch: BatchSummary | null;
  readonly #source = div('stack');
  readonly #trouble = div('stack');
  readonly #log = h('div', { class: 'stack log', role: 'log', 'aria-label': 'Outcomes' });
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
    hint: 'Its digests and keys must be those of the result, in order; signatures are ignored',
    onFile: (file) => void this.#read(file),
  });

  constructor(app: App, result: ResultSummary, known: BatchSummary | null) {
    this.#app = app;
    this.#result = result;
    this.#known = known;
    this.#batch = known;
    this.#show();
    this.element = div('stack', this.#source, div('row', this.#verify, this.#tamper), this.#log);
  }

  /** Runs a check; the log shows a chip until its outcome. */
  #run(control: HTMLButtonElement, text: string, check: () => Promise<HTMLElement>): void {
    void whileBusy(control, async () => {
      const waiting = div('row', chip(text, 'busy'));
      this.#log.prepend(waiting);
      while (this.#log.children.length > MAX_OUTCOMES) this.#log.lastElementChild?.remove();
      waiting.replaceWith(await check().catch(problemBox));
    });
  }

  async #verdict(): Promise<HTMLElement> {
    const verdict = await this.#app.call('verifyResult', this.#pair());
    if (!verdict.valid) return outcome('bad', 'Not valid.', ` ${verdict.reason}.`);
    this.#tamper.disabled = false;
    const what = `${counted(this.#result.count, 'signature')} in ${duration(verdict.ms)}`;
    const where = `by WebAssembly on ${counted(verdict.threads, 'thread')} of this browser`;
    return outcome('good', 'Valid.', ` ${what}, ${where}. The service was not involved.`);
  }

  async #counterCheck(): Promise<HTMLElement> {
    const { valid, ms, at, before, after } = await this.#app.call('tamper', this.#pair());
    const place = `byte ${count(at)} of ${count(this.#result.sizes.aggregate)}`;
    const what = `${place} changed from ${hexByte(before)} to ${hexByte(after)}`;
    return valid
      ? outcome('bad', 'Accepted, which must never happen:', ` ${what}.`)
      : outcome('good', 'Rejected, as expected:', ` ${what} (${duration(ms)}).`);
  }

  #pair(): { result: number; batch: number } {
    if (this.#batch === null) throw new Error('There is no task file yet');
    return { result: this.#result.result, batch: this.#batch.batch };
  }

  async #read(file: File): Promise<void> {
    const summary = await readTaskFile(this.#app, file, 'statements', this.#trouble);
    if (summary === null) return;
    this.#batch = summary;
    this.#show();
    this.#verify.focus();
    announce(`${file.name} read: ${counted(summary.count, 'item')}`);
  }

  #show(): void {
    const batch = this.#batch;
    setOff(this.#verify, batch === null);
    setOff(this.#tamper, batch === null);
    fill(this.#trouble);
    if (batch === null) {
      fill(this.#source, this.#zone.element, this.#trouble);
      return;
    }
    const name = batch === this.#known ? 'the task submitted from this page' : batch.name;
    const items = `: ${counted(batch.count, 'item')}, ${counted(batch.keys, 'key')}.`;
    const about = p('', 'Against ', strong(name), items);
    const other = button('Use another file', () => this.#useAnother(), { look: 'quiet' });
    fill(this.#source, div('row apart', about, other));
  }

  #useAnother(): void {
    this.#batch = null;
    this.#show();
    this.#source.querySelector('input')?.focus();
  }
}

const hexByte = (byte: number) => `0x${byte.toString(16).padStart(2, '0')}`;

const outcome = (tone: 'good' | 'bad', title: string, text: string): HTMLElement =>
  div(`notice ${tone}`, p('', strong(title), text));
