/** Describes errors and the faults of files. */
import { isClientError } from '../../../../client/index.ts';
import { isCodedError } from '../../../../shared/errors.ts';
import { reasonWords } from '../../../../wire/reasons.ts';
import { count, counted } from '../../../../wire/sizes.ts';
import type { App } from '../app.ts';
import { announce, div, fill, h, p, strong } from '../dom.ts';
import type { BatchSummary, FileFault } from '../worker/protocol.ts';
import { type Column, table } from './controls.ts';

/** The maximum number of parts of an error on display. */
const SHOWN_PARTS = 8;
/** The maximum number of faults in a table; the heading has the total. */
const SHOWN_FAULTS = 100;

interface Readable {
  readonly title: string;
  readonly detail: string;
  /** The code, which the documentation explains. */
  readonly code: string | null;
  readonly parts: readonly string[];
  readonly total: number;
}

/** Advice by error code, added to the service's own text. */
const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHENTICATED:
    'Check that it is complete. Enter only the key, without a prefix such as Bearer.',
  SIGNING_DISABLED: 'The operator has disabled the signing endpoint, which is for testing only.',
  RATE_LIMITED: 'Wait a moment and try again.',
  NETWORK: 'Check that the service is running and that you are online.',
  TIMEOUT: 'The service did not answer in time. Try again.',
  FORBIDDEN_URL: 'Signed URLs expire. Try again to get a new one.',
};

function readable(error: unknown): Readable {
  const nothing = { parts: [], total: 0 };
  if (isClientError(error)) {
    const { problem, code } = error;
    const parts = [
      ...error.errors.map(({ path, message }) => `${path === '' ? 'The body' : path}: ${message}`),
      ...error.invalid.map(({ index, reason }) => `Item ${index}: ${reasonWords(reason)}`),
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
    const lost = 'The page’s worker could not be loaded, or failed';
    // The worker's message is in the cause.
    const detail = code === 'THREAD_LOST' ? lost : (cause as Error).message;
    const shown = code === 'INTERNAL' || code === 'THREAD_LOST' ? null : code;
    return { title: 'This failed in the browser', detail, code: shown, ...nothing };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: 'Something went wrong on this page', detail, code: null, ...nothing };
}

/** Returns true if the user stopped the action, which is not an error. */
export function isStopped(error: unknown): boolean {
  if (isClientError(error)) return error.kind === 'aborted';
  if (isCodedError(error)) return error.code === 'ABORTED';
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Shows an error; screen readers announce it. */
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

/** Lists the faults of a file by item and line. */
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
  const number = (value: number | undefined) => (value === undefined ? '' : count(value));
  const lineColumn: Column[] = hasLines ? [['Line', 'number']] : [];
  const rows = faults.slice(0, SHOWN_FAULTS).map(({ index, line, message }) => {
    return [number(index), ...(hasLines ? [number(line)] : []), message];
  });
  const more = total > SHOWN_FAULTS ? `and ${count(total - SHOWN_FAULTS)} more` : null;
  return table('Faults', [['Item', 'number'], ...lineColumn, ['Fault', 'wrap']], rows, more);
}

/** Reads a task file in the worker. Shows its faults, or an error, in `place`, and returns null. */
export async function readTaskFile(
  app: App,
  file: File,
  kind: BatchSummary['kind'],
  place: HTMLElement,
): Promise<BatchSummary | null> {
  const { limits } = app;
  const { name, size } = file;
  try {
    // The worker rejects a file that is too large by its size alone.
    const bytes = size > limits.maxFileBytes ? new ArrayBuffer(0) : await file.arrayBuffer();
    const reading = await app.call('readFile', { bytes, size, name, kind, limits });
    if ('summary' in reading) return reading.summary;
    const { faults, total } = reading;
    fill(place, faultList(`${name} is not a task file`, faults, total));
    announce(`${name} is not a task file: ${counted(total, 'fault')}`);
  } catch (error) {
    fill(place, problemBox(error));
  }
  return null;
}
