/** Bodies with `Content-Encoding: gzip`, unpacked as they arrive. */
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
 * @throws (while iterating) what `packed` throws; ProblemError `MALFORMED_GZIP` if it is not one
 *   whole gzip member and nothing else
 */
export async function* gunzipped(packed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const failure: { error?: unknown } = {};
  const source = streamOf(pieces(packed), failure);
  const reader = source.pipeThrough(new DecompressionStream('gzip')).getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    ended = true;
  } catch (error) {
    throw 'error' in failure ? failure.error : malformed(error);
  } finally {
    if (!ended) {
      // Not waited for: the sender may be silent now, since it waits for its answer.
      reader.cancel().catch(() => {});
      packed.return(undefined).catch(() => {});
    }
  }
}

const malformed = (cause: unknown) => new ProblemError('MALFORMED_GZIP', { cause });

async function* pieces(packed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of packed) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      yield chunk.subarray(at, at + PIECE_BYTES);
    }
  }
}

/** A stream of these pieces, taken one at a time. Its failure is noted, since pipes replace it. */
function streamOf(
  source: AsyncGenerator<Uint8Array>,
  failure: { error?: unknown },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await source.next();
          if (done) controller.close();
          else controller.enqueue(value as Uint8Array<ArrayBuffer>);
        } catch (error) {
          failure.error = error;
          controller.error(error);
        }
      },
    },
    { highWaterMark: 0 },
  );
}
