/** The host's secure randomness. */
import { CodedError, isCodedError, isStackOverflow } from './errors.ts';
import { lengthOf } from './intrinsics.ts';

const BLOCK_BYTES = 16;

/**
 * Draws bytes from the host's generator.
 *
 * A block of 16 zeros, at a multiple of 16 or at the end, means a generator that is stubbed or
 * fills only a part: a good one gives it with probability 2^-128. Shorter arrays are one block.
 *
 * @returns fresh memory
 * @throws CodedError `NO_RANDOMNESS`
 */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  try {
    globalThis.crypto.getRandomValues(bytes);
  } catch (cause) {
    throw isStackOverflow(cause) || isCodedError(cause) ? cause : noRandomness(cause);
  }
  // A generator may have detached it.
  if (lengthOf(bytes) !== length) throw noRandomness();
  for (let at = 0; at < length; at += BLOCK_BYTES) {
    const from = Math.max(0, Math.min(at, length - BLOCK_BYTES));
    let bits = 0;
    for (let i = from; i < from + BLOCK_BYTES && i < length; i++) bits |= bytes[i]!;
    if (bits === 0) throw noRandomness();
  }
  return bytes;
}

const noRandomness = (cause?: unknown): CodedError =>
  new CodedError('NO_RANDOMNESS', {
    message:
      'This host has no crypto.getRandomValues that works. A polyfill must be loaded before the ' +
      'first key or signature is made.',
    cause,
  });
