/** Errors in words: a sentence, advice, and the faulty parts. */
import { isClientError } from '../../../../client/index.ts';
import { reasonWords } from '../../../../wire/reasons.ts';
import { h } from '../dom.ts';
import { counted } from '../format.ts';
import { WorkerFault } from '../workerClient.ts';

/** The most parts that are shown. */
const SHOWN = 8;

export interface Readable {
  readonly title: string;
  readonly detail: string;
  readonly parts: readonly string[];
  readonly total: number;
  /** The code, to look up in the documentation. */
  readonly code: string | null;
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

/** Puts an error in words. */
export function readable(error: unknown): Readable {
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
      parts: parts.slice(0, SHOWN),
      total: Math.max(parts.length, problem?.errors_total ?? 0),
      code,
    };
  }
  if (error instanceof WorkerFault) {
    const stopped = error.code === 'ABORTED';
    return {
      title: stopped ? 'Stopped' : 'This could not be done here',
      detail: stopped ? '' : error.message,
      parts: [],
      total: 0,
      code: error.code,
    };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: 'Something went wrong on this page', detail, parts: [], total: 0, code: null };
}

/** @returns whether the user stopped it, which is not an error */
export function isStopped(error: unknown): boolean {
  if (isClientError(error)) return error.kind === 'aborted';
  if (error instanceof WorkerFault) return error.code === 'ABORTED';
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The box that shows an error; screen readers read it out. */
export function problemBox(error: unknown): HTMLElement {
  const { title, detail, parts, total, code } = readable(error);
  return h(
    'div',
    { class: 'notice bad', role: 'alert' },
    h(
      'p',
      {},
      h('strong', {}, title),
      code !== null && h('span', { class: 'small' }, ` (${code})`),
    ),
    detail !== '' && h('p', {}, detail),
    parts.length > 0 &&
      h(
        'ul',
        { class: 'small' },
        parts.map((part) => h('li', {}, part)),
        total > parts.length && h('li', {}, `and ${counted(total - parts.length, 'more', 'more')}`),
      ),
  );
}
