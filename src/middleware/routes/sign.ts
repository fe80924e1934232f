/** `POST /v1/falcon/sign`: for testing, with a key that the operator holds. */
import { CodedError } from '../../shared/errors.ts';
import { encodeWireHex } from '../../wire/hex.ts';
import { bodyLimits, withParsedBody } from '../http/body.ts';
import { ProblemError } from '../http/problems.ts';
import { requireHex, requireObject } from '../http/strictJson.ts';
import { SignerBusy } from '../signing/signer.ts';
import type { Deps, Route } from './route.ts';

/** Room for JSON around the hex digits, including spaces and unknown members. */
const ENVELOPE_BYTES = 16 * 1024;

export function signRoutes({ settings, runtime, budget }: Deps): Route[] {
  const { maxDigestBytes } = settings;
  // A digit may be written as an escape of six characters.
  const limits = bodyLimits(settings, 2 * 6 * maxDigestBytes + ENVELOPE_BYTES);
  return [
    {
      method: 'POST',
      path: '/v1/falcon/sign',
      right: 'key',
      handle: (c, { clientId }) =>
        withParsedBody(c, limits, budget.of(clientId), async (value) => {
          const { signer } = runtime.ports;
          if (signer === null) throw new CodedError('SIGNING_DISABLED');
          const message = requireHex(requireObject(value).digest, '/digest', maxDigestBytes);
          const { signature, publicKey } = await signer.sign(clientId, message).catch((error) => {
            throw error instanceof SignerBusy ? withRetryAfter(error) : error;
          });
          return c.json({
            digest: encodeWireHex(message),
            signature: encodeWireHex(signature),
            public_key: encodeWireHex(publicKey),
          });
        }),
    },
  ];
}

const withRetryAfter = ({ code, message, retryAfterSeconds }: SignerBusy) =>
  new ProblemError(code, { message, headers: { 'retry-after': String(retryAfterSeconds) } });
