/** How a request goes over the line: in one piece, in chunks, drop by drop, cut off. */
import { isPlainTarget } from '../../../src/middleware/http/address.ts';
import type { RawRequest } from '../../middleware/rawHttp.ts';
import type { Piece, Real, RequestPlan } from './requests.ts';

export const TRANSPORTS = [
  'plain',
  'chunked',
  /** In four drops. */
  'slow',
  /** Announces more than comes, and waits. */
  'short',
  /** Announces more than comes, and ends. */
  'cut',
  /** Announces less than comes. */
  'long',
  /** Announces more than any service takes. */
  'endless',
  'badChunk',
  'twoLengths',
  /** The same request once more on the same connection. */
  'twice',
] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** Only who went away, or sent what is no HTTP, may be left without an answer. */
export const MAY_GO_UNANSWERED: ReadonlySet<Transport> = new Set(['cut', 'badChunk']);

/** A plan with everything filled in. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | null;
  readonly transport: Transport;
}

/** Fills in what the service has made up. */
export function filledIn(plan: RequestPlan, fill: (real: Real) => string): Sent {
  const text = (piece: Piece) => (typeof piece === 'string' ? piece : edited(piece, fill(piece)));
  return {
    method: plan.method,
    // What is not ASCII would be bytes that no one can read again.
    target: plan.target.map((piece) => text(piece).replaceAll(/[^\x21-\x7e]/g, encodeURI)).join(''),
    headers: plan.headers.map(([name, value]) => [name, text(value)] as const),
    body: plan.body,
    transport: plan.transport,
  };
}

function edited({ edit }: Real, value: string): string {
  if (edit === undefined || value === '') return value;
  const at = edit.at % value.length;
  return value.slice(0, at) + edit.to + value.slice(at + 1);
}

/** The lines about the length of the body, and in what pieces it comes. */
export function framing({ body, transport }: Pick<Sent, 'body' | 'transport'>): readonly string[] {
  const length = body?.length ?? 0;
  const announced = (bytes: number) => [`Content-Length: ${bytes}`];
  switch (transport) {
    case 'plain':
    case 'twice':
      return body === null ? [] : announced(length);
    case 'slow':
      return announced(length);
    case 'short':
    case 'cut':
      return announced(length + 7);
    case 'long':
      return announced(Math.floor(length / 2));
    case 'endless':
      return announced(1e12);
    case 'twoLengths':
      return [...announced(1), ...announced(2)];
    case 'chunked':
    case 'badChunk':
      return ['Transfer-Encoding: chunked'];
  }
}

/** The bytes of a request. */
export function overTheLine(sent: Sent, port: number): RawRequest {
  const { method, target, headers, transport } = sent;
  const body = sent.body ?? Buffer.alloc(0);
  const host = headers.some(([name]) => name === 'Host') ? [] : [`Host: 127.0.0.1:${port}`];
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${target} HTTP/1.1`, ...host, ...lines, ...framing(sent), '', ''];
  const parts: (string | Uint8Array)[] = [head.join('\r\n')];
  const isHead = method === 'HEAD' ? { head: true } : {};
  const quarter = Math.max(1, Math.ceil(body.length / 4));
  const pieces = [0, 1, 2, 3].map((i) => body.subarray(i * quarter, (i + 1) * quarter));
  switch (transport) {
    case 'slow':
      return { parts: [...parts, ...pieces], pauseMs: 5, ...isHead };
    case 'cut':
      return { parts: [...parts, body], ending: 'end', ...isHead };
    case 'twice':
      return { parts: [...parts, body, ...parts, body], ...isHead };
    case 'chunked':
    case 'badChunk': {
      const chunks = pieces
        .filter(({ length }) => length > 0)
        .map((piece) => {
          const size = transport === 'badChunk' ? 'zz' : piece.length.toString(16);
          return Buffer.concat([Buffer.from(`${size}\r\n`), piece, Buffer.from('\r\n')]);
        });
      return { parts: [...parts, ...chunks, '0\r\n\r\n'], ...isHead };
    }
    default:
      return { parts: [...parts, body], ...isHead };
  }
}

/** The path as the service reads it: percent signs are decoded where they can be. */
export function pathOf(target: string): string {
  // None that the service has if it is spelt unusually; of a whole URL, its path counts.
  if (!isPlainTarget(target.replace(/^\w+:\/\/[^/]*/, ''))) return '/unusual';
  const { pathname } = new URL(target, 'http://falcon.test');
  return pathname.replaceAll(/%25/g, '%');
}
