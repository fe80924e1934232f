/** Media types and encodings of bodies. */
import type { Context } from 'hono';
import { ProblemError } from './problems.ts';

export type BodyEncoding = 'identity' | 'gzip';

/**
 * Returns the encoding of the body of a request, if it is JSON.
 *
 * @throws ProblemError as `checkForm`
 */
export function requireForm(c: Context): BodyEncoding {
  return checkForm(c.req.header('content-type'), c.req.header('content-encoding'));
}

/**
 * Returns the encoding that the headers of a request or a file name, if they name JSON in UTF-8,
 * plain or compressed with gzip.
 *
 * @throws ProblemError `UNSUPPORTED_MEDIA_TYPE` with what would be accepted
 */
export function checkForm(contentType = '', contentEncoding = ''): BodyEncoding {
  const [essence, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const plain = parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
  const encoding = contentEncoding.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'The body must be plain, or packed with gzip',
      headers: { 'accept-encoding': 'gzip, identity' },
    });
  }
  if (essence === 'application/json' && plain) return encoding;
  throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'The body must be application/json',
    headers: { accept: 'application/json' },
  });
}
