/**
 * What a service said, with everything taken out that may differ from one run to the next
 * (addresses, ids, times, signatures) and nothing else: two hosts that behave alike have the same
 * transcript, byte for byte.
 */
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Received } from './client.ts';

/** Headers that are the service's to say; the rest is the host's. */
const HEADERS = [
  'content-type',
  'content-encoding',
  'cache-control',
  'content-disposition',
  'content-security-policy',
  'location',
  'allow',
  'accept',
  'www-authenticate',
  'retry-after',
  'etag',
  'vary',
  'x-content-type-options',
];

const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const NANOSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;

export class Transcript {
  readonly #steps: string[] = [];
  readonly #ids = new Map<string, string>();
  readonly #base: string;
  readonly #serviceName: string;

  /** @param base the address of the mount point */
  constructor(base: string, serviceName: string) {
    this.#base = base;
    this.#serviceName = serviceName;
  }

  /** One text for each answer, in order. */
  get steps(): readonly string[] {
    return this.#steps;
  }

  /** Writes an answer down. `vague` members of the body are only said to be there. */
  add(name: string, request: string, received: Received, vague: readonly string[] = []): void {
    const { status, headers, body } = received;
    const lines = [`# ${name}`, this.plain(request), String(status)];
    for (const header of HEADERS) {
      const value = headers[header];
      if (value === undefined) continue;
      // The pages name the address, so their hashes depend on it.
      lines.push(`${header}: ${header === 'etag' ? '{etag}' : this.plain(value)}`);
    }
    // A length is there or not as the host likes; where it is, it is right.
    const length = headers['content-length'];
    if (length !== undefined && !request.startsWith('HEAD')) {
      expect(Number(length), name).toBe(body.length);
    }
    lines.push(this.#bodyText(headers['content-type'], decoded(received), vague));
    this.#steps.push(lines.join('\n'));
  }

  /** What was seen beside the answers. */
  note(text: string): void {
    this.#steps.push(`* ${text}`);
  }

  /** A text without address, the service's name, ids and signatures of urls. */
  plain(text: string): string {
    return (
      text
        .replaceAll(this.#base, '{base}')
        // Before the name, whose three letters may stand in them by chance.
        .replaceAll(/\?expires=\d+&signature=[\w-]+/g, '?{signed}')
        .replaceAll(/cursor=[\w-]{23}/g, 'cursor={cursor}')
        .replaceAll(this.#serviceName, '{name}')
        .replaceAll(/\d{12,16}/g, (id) => this.#label(id))
    );
  }

  #label(id: string): string {
    let label = this.#ids.get(id);
    if (label === undefined) this.#ids.set(id, (label = `{id ${this.#ids.size + 1}}`));
    return label;
  }

  #bodyText(type: string | undefined, body: Buffer, vague: readonly string[]): string {
    const text = body.toString('utf8');
    if (/^text\/html/.test(type ?? '') || text.startsWith('{"openapi"')) {
      return createHash('sha256').update(this.plain(text)).digest('hex');
    }
    if (!/^application\/(problem\+)?json$/.test(type ?? '')) return this.plain(text);
    if (text === '') return '';
    const value: unknown = JSON.parse(text, (name, member: unknown) =>
      this.#member(name, member, vague),
    );
    return JSON.stringify(value, null, 1);
  }

  #member(name: string, value: unknown, vague: readonly string[]): unknown {
    if (vague.includes(name)) return '{any}';
    if (/(^|_)id$/.test(name) && typeof value === 'number' && value > 1e9) {
      return this.#label(String(value));
    }
    // The file of a result holds times, in digits of their own.
    if (name === 'result_bytes') return '{bytes}';
    if (typeof value !== 'string') return value;
    if (SECONDS.test(value)) return '{time, s}';
    if (NANOSECONDS.test(value)) return '{time, ns}';
    if (name === 'next' && value !== '') return '{cursor}';
    // Signatures differ at every signing, even in length.
    if (name === 'signature') return '{signature}';
    if (name === 'public_key') return `{key of ${value.length} characters}`;
    return this.plain(value);
  }
}

/** The body without its compression, whose bytes every runtime makes in its own way. */
function decoded({ headers, body }: Received): Buffer {
  if (body.length === 0) return body;
  const encoding = headers['content-encoding'];
  if (encoding === 'gzip') return gunzipSync(body);
  return encoding === 'br' ? brotliDecompressSync(body) : body;
}
