/** What a webhook gets: the body, and the header that signs it. */
import { ERROR_CODES, type ErrorCode } from '../../shared/errors.ts';
import { STATE_TEXTS } from '../../wire/taskStates.ts';
import { hmacSha256 } from '../hash.ts';
import type { Delivery } from '../stores/port/webhookStore.ts';

/** The header of the signature: `t=<unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. */
export const SIGNATURE_HEADER = 'falconry-signature';

/** The same for every try of a delivery, so that `id` tells a repeat. */
export function messageBody(delivery: Delivery): string {
  const { taskId, clientId, state, count, submittedAt, finishedAt, errorCode } = delivery;
  const code = errorCode as ErrorCode | null;
  return JSON.stringify({
    id: `task-${taskId}-${state}`,
    type: `task.${state}`,
    process_id: taskId,
    client_id: clientId,
    status: STATE_TEXTS[state].list,
    batch_size: count,
    submitted_at: submittedAt,
    finished_at: finishedAt,
    ...(state === 'failed' && {
      error: { code: code ?? 'INTERNAL', title: ERROR_CODES[code ?? 'INTERNAL']?.message ?? '' },
    }),
  });
}

export function signatureOf(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const key = new TextEncoder().encode(secret);
  return `t=${seconds},v1=${hmacSha256(key, `${seconds}.`, body).toString('hex')}`;
}
