/** The headers of answers: their meaning, and which answers have them. */
import { ERROR_CODES, type ErrorCode } from '../../shared/errors.ts';
import { tellsWhen } from '../problems.ts';
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

/** The headers by the names of their components. */
export const HEADERS = {
  Accept: text('The accepted types', { enum: ['application/json'] }, false),
  AcceptEncoding: text('The accepted encodings', { enum: ['gzip, identity', 'identity'] }, false),
  Allow: text('The methods of this path', { pattern: '^[A-Z]+(?:, [A-Z]+)*$' }),
  CacheControl: text('How long the answer may be cached', { minLength: 1 }),
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
  ContentSecurityPolicy: text('What the page may load: nothing from other hosts', {
    pattern: "^default-src 'none'",
  }),
  ETag: text('The version; send it back as If-None-Match', { pattern: '^(?:W/)?"[^"]+"$' }),
  Location: text('The address of the task or the result', { format: 'uri' }),
  NoStore: text('The answer must not be cached', { const: 'no-store' }),
  RequestId: text('The id of the request in the log: its trace-id, if it had a `traceparent`', {
    pattern: '^[0-9a-f]{32}$',
  }),
  RetryAfter: {
    header: {
      description: 'Seconds to wait',
      required: true,
      schema: { type: 'integer', minimum: 1 },
      example: 1,
    },
  },
  RetryAfterIfKnown: {
    header: {
      description: 'Seconds to wait; absent if waiting does not help',
      required: false,
      schema: { type: 'integer', minimum: 1 },
      example: 1,
    },
  },
  WwwAuthenticate: text('The required authentication', { pattern: '^ApiKey realm="[^"]+"$' }),
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

/** The headers of a success; answers to an API key must not be cached. */
export function answerHeaders(right: 'key' | 'url' | 'open', { headers = [] }: Answer) {
  const own = headers.map((name) => [name, ref(COMPONENT[name])] as const);
  return {
    ...(right === 'key' && { 'Cache-Control': ref('NoStore') }),
    'X-Request-Id': ref('RequestId'),
    ...Object.fromEntries(own),
  };
}

/** The headers of an error with one of these codes, all of the same status. */
export function problemHeaders(codes: readonly ErrorCode[]) {
  const { status } = ERROR_CODES[codes[0]!];
  const retryAfter = codes.every(tellsWhen) ? 'RetryAfter' : 'RetryAfterIfKnown';
  return {
    'Cache-Control': ref('NoStore'),
    'X-Request-Id': ref('RequestId'),
    ...(codes.some(tellsWhen) && { 'Retry-After': ref(retryAfter) }),
    ...(status === 401 && { 'WWW-Authenticate': ref('WwwAuthenticate') }),
    ...(status === 405 && { Allow: ref('Allow') }),
    ...(status === 415 && { Accept: ref('Accept'), 'Accept-Encoding': ref('AcceptEncoding') }),
  };
}
