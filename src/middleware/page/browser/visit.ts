/** Gets the key of a demonstration from the service. */
import { counted } from './format.ts';

/** The service gave no key; the message says why, `detail` what helps. */
export class VisitRefused extends Error {
  readonly detail: string;

  constructor(message: string, detail: string) {
    super(message);
    this.name = 'VisitRefused';
    this.detail = detail;
  }
}

export interface Visit {
  readonly key: string;
  /** When it ends. */
  readonly endsAt: string;
}

/** @throws VisitRefused; the reason of the signal, if it is aborted */
export async function visit(base: string, signal: AbortSignal): Promise<Visit> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{}', credentials: 'omit', signal } as const;
  const answer = await fetch(`${base}/v1/ui/demonstration`, init).catch((error) => {
    if (signal.aborted) throw error;
    throw new VisitRefused('The service could not be reached', 'Are you online?');
  });
  const body = (await answer.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
  const { api_key: key, expires_at: endsAt } = body;
  if (answer.ok && typeof key === 'string' && typeof endsAt === 'string') return { key, endsAt };
  const waitSeconds = Number(answer.headers.get('retry-after'));
  const advice = waitSeconds > 0 ? `Try again in ${inWords(waitSeconds)}.` : '';
  throw new VisitRefused(String(body.detail ?? `The service answered ${answer.status}`), advice);
}

const inWords = (seconds: number): string =>
  seconds < 90 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
