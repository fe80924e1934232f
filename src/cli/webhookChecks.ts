/** The check of the operator's webhook: reached, and told nothing. */
import type { Settings } from '../middleware/options/options.ts';
import { addressOf } from '../middleware/webhooks/address.ts';
import { reach } from '../middleware/webhooks/post.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

const PATIENCE_MS = 5000;

/**
 * Whether the webhook may be sent to its address, and whether somebody takes a connection there,
 * with a certificate of that name. No request is sent.
 */
export async function checkWebhook({
  webhookUrl,
  webhookAllowPrivate: allowPrivate,
}: Pick<Settings, 'webhookUrl' | 'webhookAllowPrivate'>): Promise<Finding[]> {
  if (webhookUrl === undefined) return [];
  const url = new URL(webhookUrl);
  const { host } = url;
  let address: string;
  try {
    address = await addressOf(url, allowPrivate);
  } catch (error) {
    const advice = 'correct --webhook-url; --webhook-allow-private for a network of your own';
    return [fault('webhook', `${host}: ${(error as Error).message}`, advice)];
  }
  try {
    await reach(url, address, PATIENCE_MS);
  } catch (error) {
    const advice = 'what cannot be sent is sent again later, for 25 hours';
    return [warning('webhook', `${host}: ${(error as Error).message}`, advice)];
  }
  return [ok('webhook', `${host} takes connections`)];
}
