/** Sends Standard Webhooks: signed, and retried until the receiver accepts them. */
import { setTimeout } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';

export interface Message {
  /** The same for every attempt, so that the receiver can recognise a repeat. */
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Delays before each further attempt, in milliseconds: about an hour in total. */
const DELAYS_MS = [500, 5_000, 60_000, 600_000, 3_000_000];
const TIMEOUT_MS = 10_000;

/**
 * Delivers a message.
 *
 * @returns false if every attempt failed
 */
export async function deliver(url: string, secret: string, message: Message): Promise<boolean> {
  const { id, type, data } = message;
  const webhook = new Webhook(secret);
  const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
  for (const delayMs of [0, ...DELAYS_MS]) {
    await setTimeout(delayMs, undefined, { ref: false });
    // Signed anew each time, since receivers reject old messages.
    const now = new Date();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': webhook.sign(id, now, body),
    };
    const options = { method: 'POST', headers, body, redirect: 'manual' } as const;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { ...options, signal }).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return true;
  }
  return false;
}
