/** Files in a Map. */
import { CodedError } from 'falconry';
import type { BlobBody, BlobStore } from 'falconry/middleware';

const KEY = /^(inputs\/[0-9a-f-]{36}|results\/\d{1,9}\/\d{1,16})\.json$/;

export type Files = Map<string, { readonly bytes: Uint8Array; readonly atMs: number }>;

/**
 * @param files the files; two stores may share them
 * @param nowMs the clock, in milliseconds since 1970; the suites set it
 */
export function mapBlobs(files: Files, nowMs: () => number = Date.now): BlobStore {
  const find = (key: string) => {
    if (!KEY.test(key)) throw new RangeError('the key is not one of ours');
    return files.get(key)?.bytes ?? null;
  };
  return {
    async put(key, body, { maxBytes, signal }) {
      find(key);
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      const keep = async () =>
        void files.set(key, { bytes: await new Blob(chunks as BlobPart[]).bytes(), atMs: nowMs() });
      for await (const chunk of untilAborted(body, signal)) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new CodedError('BODY_TOO_LARGE');
        chunks.push(chunk);
      }
      await keep();
      return { key, bytes };
    },
    async get({ key }) {
      const bytes = find(key);
      return bytes && { bytes: bytes.length, body: new Blob([bytes as BlobPart]).stream() };
    },
    async read({ key }, maxBytes) {
      const bytes = find(key);
      if (bytes && bytes.length > maxBytes) throw new CodedError('BODY_TOO_LARGE');
      return bytes;
    },
    async stat(key) {
      const bytes = find(key);
      return bytes && { key, bytes: bytes.length };
    },
    async delete(key) {
      find(key);
      files.delete(key);
    },
    ping: async () => {},
    async clean({ olderThanMs, referenced }) {
      const old = [...files].filter(([, { atMs }]) => atMs + olderThanMs <= nowMs());
      const keys = old.map(([key]) => key);
      const used = keys.length > 0 ? await referenced(keys) : new Set<string>();
      const gone = keys.filter((key) => !used.has(key));
      for (const key of gone) files.delete(key);
      return gone.length;
    },
  };
}

/** Yields the pieces of a body; throws as soon as the signal aborts. */
async function* untilAborted(body: BlobBody, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) {
    yield body;
    return;
  }
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
  aborted.catch(() => {});
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([pieces.next(), aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    // Otherwise a body waiting for its next piece would not notice.
    pieces.return?.().catch(() => {});
  }
}
