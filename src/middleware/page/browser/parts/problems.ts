/** Errors, and the faults of files, in words. */
import { isClientError } from '../../../../client/index.ts';
import { isCodedError } from '../../../../shared/errors.ts';
import { reasonWords } from '../../../../wire/reasons.ts';
import { count, counted } from '../../../../wire/sizes.ts';
import { div, h, p, strong } from '../dom.ts';
import type { FileFault } from '../worker/protocol.ts';
import { cell, column, table } from './controls.ts';

/** The most parts of an error that are shown. */
const SHOWN_PARTS = 8;
/** The most rows of faults that are shown; the heading has the total. */
const SHOWN_FAULTS = 100;

interface Readable {
  readonly title: string;
  readonly detail: string;
  /** The code, to look up in the documentation. */
  readonly code: string | null;
  readonly parts: readonly string[];
  readonly total: number;
}

/** Advice for a code, in addition to the service's own text. */
const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHENTICATED:
    'Is it complete? Enter the key alone, without a word such as Bearer in front of it.',
  SIGNING_DISABLED: 'The operator has turned the signing endpoint off; it is only for tests.',
  RATE_LIMITED: 'Wait a moment and try again.',
  NETWORK: 'Is the service running, and are you online?',
  TIMEOUT: 'The service did not answer in time. Try again.',
  FORBIDDEN_URL: 'Signed URLs expire. Try again to get a new one.',
};

function readable(error: unknown): Readable {
  const nothing = { parts: [], total: 0 };
  if (isClientError(error)) {
    const { problem, code } = error;
    const parts = [
      ...error.errors.map(({ path, message }) => `${path === '' ? 'The body' : path}: ${message}`),
      ...error.invalid.map(({ index, reason }) => `Item ${index + 1}: ${reasonWords(reason)}`),
    ];
    const detail = [error.detail, ADVICE[code]].filter(Boolean).join('. ').replaceAll('..', '.');
    return {
      title: problem?.title ?? 'The service could not be reached',
      detail: detail === problem?.title ? '' : detail,
      code,
      parts: parts.slice(0, SHOWN_PARTS),
      total: Math.max(parts.length, problem?.errors_total ?? 0),
    };
  }
  if (isCodedError(error)) {
    const { code, cause } = error;
    if (code === 'ABORTED') return { title: 'Stopped', detail: '', code, ...nothing };
    const lost = 'The worker of the page could not be loaded, or failed';
    // The worker's own words are in the cause.
    const detail = code === 'THREAD_LOST' ? lost : (cause as Error).message;
    const shown = code === 'INTERNAL' || code === 'THREAD_LOST' ? null : code;
    return { title: 'This could not be done here', detail, code: shown, ...nothing };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: 'Something went wrong on this page', detail, code: null, ...nothing };
}

/** @returns whether the user stopped it, which is not an error */
export function isStopped(error: unknown): boolean {
  if (isClientError(error)) return error.kind === 'aborted';
  if (isCodedError(error)) return error.code === 'ABORTED';
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The box that shows an error; screen readers read it out. */
export function problemBox(error: unknown): HTMLElement {
  const { title, detail, parts, total, code } = readable(error);
  const more = total - parts.length;
  return h(
    'div',
    { class: 'notice bad', role: 'alert' },
    p('', strong(title), code !== null && h('span', { class: 'small' }, ` (${code})`)),
    detail !== '' && p('', detail),
    parts.length > 0 &&
      h(
        'ul',
        { class: 'small' },
        parts.map((part) => h('li', {}, part)),
        more > 0 && h('li', {}, `and ${count(more)} more`),
      ),
  );
}

/** The faults of a file, by item and line. */
export function faultList(
  title: string,
  faults: readonly FileFault[],
  total: number,
  tone: 'bad' | 'wait' = 'bad',
): HTMLElement {
  const [first] = faults;
  const single = total === 1 && first !== undefined && first.index === undefined;
  return div(
    `notice ${tone} stack`,
    p('', strong(title), single ? '' : ` (${counted(total, 'fault')})`),
    single ? p('', first.message, placeWords(first), '.') : faultTable(faults, total),
  );
}

function placeWords({ line, column }: FileFault): string {
  if (line === undefined) return '';
  return `, line ${count(line)}${column === undefined ? '' : `, column ${count(column)}`}`;
}

function faultTable(faults: readonly FileFault[], total: number): HTMLElement {
  const hasLines = faults.some(({ line }) => line !== undefined);
  const number = (value: number | undefined) =>
    cell('number', value === undefined ? '' : count(value));
  const head = [column('Item', 'number'), hasLines && column('Line', 'number'), column('Fault')];
  const rows = faults.slice(0, SHOWN_FAULTS).map(({ index, line, message }) => {
    const item = number(index === undefined ? undefined : index + 1);
    return h('tr', {}, item, hasLines && number(line), cell('wrap', message));
  });
  const more = total - SHOWN_FAULTS;
  const rest = h('td', { colspan: hasLines ? 3 : 2 }, `and ${count(more)} more`);
  return table('Faults', head, rows, more > 0 && h('tr', {}, rest));
}
