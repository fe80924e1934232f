/** An answer for a socket on which there is no whole request, and so nothing that could answer. */

import { problemBody } from '../../middleware/http/problems.ts';
import { newTraceId, REQUEST_ID } from '../../middleware/http/traceContext.ts';
import type { CodedError } from '../../shared/errors.ts';

/** The bytes of a last answer: a problem document, under an id of its own. */
export function socketAnswer(
  error: CodedError,
  headers: Readonly<Record<string, string>> = {},
): string {
  const problem = problemBody(error);
  const body = JSON.stringify(problem);
  const all = {
    Connection: 'close',
    'Cache-Control': 'no-store',
    'Content-Type': 'application/problem+json',
    [REQUEST_ID]: newTraceId(),
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n${body}`;
}
