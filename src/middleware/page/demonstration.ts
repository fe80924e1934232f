/**
 * `POST /v1/ui/demonstration`: an API key for whoever visits the page, where the operator offers a
 * demonstration. See `middleware/demonstration.ts`.
 */
import { z } from 'zod';
import { remoteAddress } from '../http/address.ts';
import { bodyLimits, withParsedBody } from '../http/body.ts';
import { RequestLimiter } from '../limits.ts';
import type { Operation } from '../openapi/operation.ts';
import type { Deps, Route } from '../routes/route.ts';
import { judge } from '../schemas.ts';

/** Keys of one address: three at once, and one more every five minutes. */
const PER_ADDRESS = { perSecond: 1 / 300, burst: 3 };

const MAX_BODY_BYTES = 1024;

export function demonstrationRoute({ settings, runtime, budget }: Deps): Route {
  const limiter = new RequestLimiter(PER_ADDRESS);
  const limits = bodyLimits(settings, MAX_BODY_BYTES);
  return {
    method: 'POST',
    path: '/v1/ui/demonstration',
    right: 'open',
    operation: OPERATION,
    async handle(c) {
      const leave = runtime.enter();
      try {
        const { visitors } = runtime.ports;
        // Of JSON, which no page of another origin can send unasked.
        await withParsedBody(c, limits, budget.of(0), async (body) => judge(Empty, body));
        limiter.take(remoteAddress(c, settings));
        const { key, clientId, expiresAt } = await visitors!.enter();
        settings.logger.info('a visitor has a key', { clientId, expiresAt });
        const answer = { api_key: key, expires_at: expiresAt };
        return c.json(answer, 201, { 'cache-control': 'no-store' });
      } finally {
        leave();
      }
    },
  };
}

const Empty = z.object({}).meta({ id: 'DemonstrationRequest' });
const DemonstrationKey = z
  .strictObject({
    api_key: z.string().meta({ description: 'The API key of a new client' }),
    expires_at: z.string().meta({ format: 'date-time', description: 'When it ends' }),
  })
  .meta({ id: 'DemonstrationKey' });

const OPERATION: Operation = {
  id: 'createDemonstrationKey',
  tag: 'Documents',
  summary: 'Get an API key for trying the service',
  description:
    'For the page; there only where the operator offers a demonstration. The key ends after an ' +
    'hour, and all that was made with it is erased then. Its quotas are narrow.',
  body: {
    schema: Empty,
    description: 'An empty object',
    required: true,
    example: {},
  },
  answers: {
    201: {
      description: 'The key, which is shown only here',
      schema: DemonstrationKey,
      headers: ['Cache-Control'],
      example: {
        api_key: 'falconry_RgLRtq3XoBGOlGyuT7sIV9mCGFPh2ZYdFMAUBvSVkiU',
        expires_at: '2026-11-23T20:12:00.000Z',
      },
    },
  },
  problems: [
    'INVALID_HEADER',
    'INCOMPLETE_BODY',
    'REQUEST_TIMEOUT',
    'BODY_TOO_LARGE',
    'BODY_CONSUMED',
    'MALFORMED_JSON',
    'MALFORMED_GZIP',
    'UNSUPPORTED_MEDIA_TYPE',
    'INVALID_BODY',
    'RATE_LIMITED',
    'OVERLOADED',
    'NOT_STARTED',
    'SHUTTING_DOWN',
    'STORE_UNAVAILABLE',
    'STORAGE_FULL',
    'INTERNAL',
  ],
};
