/** What a request says of its body, and of the answer that it wants: types and encodings. */
import type { Context } from 'hono';
import { ProblemError } from '../problems.ts';

export type BodyType = 'json' | 'cbor';
export type BodyEncoding = 'identity' | 'gzip';

export interface BodyForm {
  readonly type: BodyType;
  readonly encoding: BodyEncoding;
}

/** The types as requests name them. */
const MEDIA_TYPES: Readonly<Record<BodyType, string>> = {
  json: 'application/json',
  cbor: 'application/cbor',
};

/**
 * The form of the body of a request, if it is one of these types.
 *
 * @throws ProblemError as `checkForm`
 */
export function requireForm(c: Context, types: readonly BodyType[]): BodyForm {
  return checkForm(types, c.req.header('content-type'), c.req.header('content-encoding'));
}

/**
 * The form that these headers of a request or of a file name, if it is one of these types, plain or
 * packed with gzip. JSON is in UTF-8.
 *
 * @throws ProblemError `UNSUPPORTED_MEDIA_TYPE` with what would be accepted
 */
export function checkForm(
  types: readonly BodyType[],
  contentType = '',
  contentEncoding = '',
): BodyForm {
  const [essence, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const plain = parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
  const type = types.find((each) => MEDIA_TYPES[each] === essence);
  const encoding = contentEncoding.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'The body must be plain, or packed with gzip',
      headers: { 'accept-encoding': 'gzip, identity' },
    });
  }
  if (type !== undefined && plain) return { type, encoding };
  const accepted = types.map((each) => MEDIA_TYPES[each]);
  throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
    message: `The body must be ${accepted.join(' or ')}`,
    headers: { accept: accepted.join(', ') },
  });
}

/** Whether the request names CBOR for its answer, and likes JSON no better. */
export function wantsCbor(c: Context): boolean {
  const weights = new Map<string, number>();
  for (const part of (c.req.header('accept') ?? '').split(',')) {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = parameters.find((each) => each.startsWith('q='));
    weights.set(type, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  const cbor = weights.get(MEDIA_TYPES.cbor) ?? 0;
  return cbor > 0 && cbor >= (weights.get(MEDIA_TYPES.json) ?? 0);
}
