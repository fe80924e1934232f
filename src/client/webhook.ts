/** Tells whether a request to a webhook came from the service. */

/** Headers of a request: those of `fetch`, or of Node. */
export type WebhookHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /** How old or how far ahead the signature may be; default 300 s. */
  readonly toleranceSeconds?: number;
  /** Unix time in milliseconds; default now. */
  readonly nowMs?: number;
}

const HEADER = 'falconry-signature';
const MAX_HEADER = 1024;
const utf8 = new TextEncoder();

/**
 * Whether the secret's holder signed this body within the tolerance. Repeats are valid: `id` in the
 * body tells them.
 *
 * @param secret the webhook's, as `falconry webhook` printed it
 * @param headers of the request, with `Falconry-Signature`
 * @param body as it arrived, before any parsing
 * @returns false for every header or body that is not right
 * @throws TypeError for arguments of wrong types or an empty secret, RangeError for a tolerance
 *   that is not 0 or more
 * @example
 * ```ts
 * const body = await request.text();
 * const good = await verifyWebhook(secret, request.headers, body);
 * if (!good) return new Response(null, { status: 400 });
 * ```
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  options: VerifyWebhookOptions = {},
): Promise<boolean> {
  const { toleranceSeconds = 300, nowMs = Date.now() } = options;
  if (typeof secret !== 'string' || secret === '') throw new TypeError('"secret" must be a text');
  if (typeof headers !== 'object' || headers === null) {
    throw new TypeError('"headers" must be an object');
  }
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('"body" must be the text or the bytes that arrived');
  }
  if (!(toleranceSeconds >= 0)) throw new RangeError('"toleranceSeconds" must be 0 or more');
  const signature = parse(headerOf(headers));
  if (signature === null) return false;
  if (Math.abs(nowMs / 1000 - signature.seconds) > toleranceSeconds) return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, [
    'verify',
  ]);
  const signed = joined(
    utf8.encode(`${signature.seconds}.`),
    typeof body === 'string' ? utf8.encode(body) : body,
  );
  // In constant time, as the engine has it.
  for (const tag of signature.tags) {
    if (await crypto.subtle.verify('HMAC', key, tag, signed)) return true;
  }
  return false;
}

function headerOf(headers: WebhookHeaders): string | null {
  if (typeof headers.get === 'function') return (headers as Pick<Headers, 'get'>).get(HEADER);
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === HEADER) return typeof value === 'string' ? value : null;
  }
  return null;
}

interface Signature {
  readonly seconds: number;
  /** More than one while a secret is replaced. */
  readonly tags: readonly Uint8Array<ArrayBuffer>[];
}

/** `t=<unix seconds>,v1=<64 hex digits>`; other parts are for later versions. */
function parse(header: string | null): Signature | null {
  if (typeof header !== 'string' || header.length > MAX_HEADER) return null;
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t='));
  if (times.length !== 1 || !/^t=\d{1,12}$/.test(times[0]!)) return null;
  const tags = parts.flatMap((part) => /^v1=([0-9a-f]{64})$/.exec(part)?.[1] ?? []);
  if (tags.length === 0) return null;
  return { seconds: Number(times[0]!.slice(2)), tags: tags.map(fromHex) };
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
