/** Bodies with `Content-Encoding: gzip`, unpacked as they arrive. */
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ProblemError } from '../problems.ts';

/**
 * Some hosts unpack a piece in one go, and deflate makes at most 1032 bytes of one: so no more than
 * 4 MiB come of a piece.
 */
const PIECE_BYTES = 4096;

/**
 * The unpacked bytes. Reading ends as soon as the caller stops, so a caller who counts is safe from
 * bombs.
 *
 * By `node:zlib`, not by `DecompressionStream`: when reading ends early, that of Node 24 may throw
 * where nobody can catch it, which ends the process.
 *
 * @throws (while iterating) what `packed` throws; ProblemError `MALFORMED_GZIP` if it is not one
 *   whole gzip member and nothing else
 */
export async function* gunzipped(packed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const failure: { error?: unknown } = {};
  const source = Readable.from(pieces(packed, failure), { highWaterMark: 1 });
  const unpacked = createGunzip({ rejectGarbageAfterEnd: true });
  // Reading `unpacked` meets every failure. It also ends the source if the caller stops, which is
  // not waited for: the sender may be silent now, since it waits for its answer.
  pipeline(source, unpacked, () => {});
  try {
    for await (const chunk of unpacked) yield chunk as Uint8Array;
  } catch (error) {
    throw 'error' in failure ? failure.error : new ProblemError('MALFORMED_GZIP', { cause: error });
  }
}

/** The bytes in short pieces. What fails is noted, since streams may replace it. */
async function* pieces(
  packed: AsyncGenerator<Uint8Array>,
  failure: { error?: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of packed) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        yield chunk.subarray(at, at + PIECE_BYTES);
      }
    }
  } catch (error) {
    failure.error = error;
    throw error;
  }
}
