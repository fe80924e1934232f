/** The headers of answers: what each one holds, and which answers have it. */
import { ERROR_CODES, type ErrorCode } from '../../errors.ts';
import type { Answer, AnswerHeader } from './operation.ts';

interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example?: string | number;
}

const text = (description: string, schema: object = {}, required = true): { header: Header } => ({
  header: { description, required, schema: { type: 'string', ...schema } },
});

/** Component name → the header; the name of the header itself where it is another. */
export const HEADERS = {
  Accept: text('The type that is taken', { const: 'application/json' }, false),
  AcceptEncoding: text('The encoding that is taken', { const: 'identity' }, false),
  Allow: text('The methods of this path', { pattern: '^[A-Z]+(?:, [A-Z]+)*$' }),
  CacheControl: text('How long it may be kept', { minLength: 1 }),
  ContentDisposition: text('The name to save it under', {
    pattern: '^attachment; filename="\\d{1,18}\\.json"$',
  }),
  ContentLength: {
    header: {
      description: 'Bytes of the body',
      required: true,
      schema: { type: 'integer', minimum: 0 },
    },
  },
  ContentSecurityPolicy: text('What the page may load: nothing of other hosts', {
    pattern: "^default-src 'none'",
  }),
  ETag: text('The version; give it back as If-None-Match', { pattern: '^(?:W/)?"[^"]+"$' }),
  Location: text('Where the task, or the result, is', { format: 'uri' }),
  NoStore: text('Not to be kept by anybody', { const: 'no-store' }),
  RetryAfter: {
    header: {
      description: 'Seconds to wait',
      required: true,
      schema: { type: 'integer', minimum: 1 },
      example: 1,
    },
  },
  WwwAuthenticate: text('What is asked for', { pattern: '^ApiKey realm="[^"]+"$' }),
} as const satisfies Record<string, { header: Header }>;

type Name = keyof typeof HEADERS;

const COMPONENT: Readonly<Record<AnswerHeader, Name>> = {
  'Cache-Control': 'CacheControl',
  'Content-Disposition': 'ContentDisposition',
  'Content-Length': 'ContentLength',
  'Content-Security-Policy': 'ContentSecurityPolicy',
  ETag: 'ETag',
  Location: 'Location',
};

const ref = (name: Name) => ({ $ref: `#/components/headers/${name}` });

/** The headers of a good answer: its own, and that answers to a key are not kept. */
export function answerHeaders(right: 'key' | 'url' | 'open', { headers = [] }: Answer) {
  const own = headers.map((name) => [name, ref(COMPONENT[name])] as const);
  return {
    ...(right === 'key' && { 'Cache-Control': ref('NoStore') }),
    ...Object.fromEntries(own),
  };
}

/** The headers of a refusal with one of these codes, all of one status. */
export function problemHeaders(codes: readonly ErrorCode[]) {
  const { status } = ERROR_CODES[codes[0]!];
  // What never became a request is answered by the server, which keeps nothing anyway.
  const served = !['MALFORMED_REQUEST', 'HEADERS_TOO_LARGE'].includes(codes[0]!);
  return {
    ...(served && { 'Cache-Control': ref('NoStore') }),
    ...((status === 429 || status === 503) && { 'Retry-After': ref('RetryAfter') }),
    ...(status === 401 && { 'WWW-Authenticate': ref('WwwAuthenticate') }),
    ...(status === 405 && { Allow: ref('Allow') }),
    ...(status === 415 && { Accept: ref('Accept'), 'Accept-Encoding': ref('AcceptEncoding') }),
  };
}
