/** What every blob store must do: one suite, run over each of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, newInputKey, resultKey } from '../../src/middleware/blobs/blobStore.ts';

export interface OpenedBlobs {
  readonly blobs: BlobStore;
  /** The same files, opened anew. */
  readonly again: BlobStore;
  close(): Promise<void>;
}

const LIMIT = { maxBytes: 1 << 20 };
const FOREVER = { olderThanMs: 0, referenced: async () => new Set<string>() };

export function blobContract(
  name: string,
  open: (nowMs: () => number) => Promise<OpenedBlobs>,
): void {
  describe(`${name}: the contract of a blob store`, () => {
    let clockMs: number;
    let opened: OpenedBlobs;
    let blobs: BlobStore;

    beforeEach(async () => {
      clockMs = Date.now();
      opened = await open(() => clockMs);
      blobs = opened.blobs;
    });
    afterEach(() => opened.close());

    const text = async (key: string): Promise<string | null> => {
      const found = await opened.again.get({ key });
      return found && new Response(found.body).text();
    };
    async function* pieces(...parts: string[]): AsyncGenerator<Uint8Array> {
      for (const part of parts) yield new TextEncoder().encode(part);
    }

    it('keeps what it was given, in every form of body', async () => {
      const bodies = [
        new TextEncoder().encode('hello'),
        pieces('he', '', 'llo'),
        new Blob(['hel', 'lo']).stream() as ReadableStream<Uint8Array>,
      ];
      for (const body of bodies) {
        const key = newInputKey();
        expect(await blobs.put(key, body, LIMIT)).toMatchObject({ key, bytes: 5 });
        expect(await text(key)).toBe('hello');
        expect(await blobs.stat(key)).toMatchObject({ key, bytes: 5 });
        expect(await blobs.get({ key })).toMatchObject({ bytes: 5 });
        const bytes = await blobs.read({ key }, 5);
        expect(new TextDecoder().decode(bytes!)).toBe('hello');
        await expect(blobs.read({ key }, 4)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
      }
      const empty = newInputKey();
      expect(await blobs.put(empty, new Uint8Array(0), LIMIT)).toMatchObject({ bytes: 0 });
      expect(await text(empty)).toBe('');
    });

    it('knows nothing of a key that was not put, or was deleted', async () => {
      const key = resultKey(17, 2);
      const absent = async () => {
        expect(await blobs.get({ key })).toBe(null);
        expect(await blobs.read({ key }, 100)).toBe(null);
        expect(await blobs.stat(key)).toBe(null);
      };
      await absent();
      await blobs.delete(key);
      await blobs.put(key, new Uint8Array(3), LIMIT);
      expect(await blobs.stat(key)).not.toBe(null);
      await blobs.delete(key);
      await absent();
    });

    it('takes exactly the limit, stops reading beyond it, and keeps nothing then', async () => {
      const exact = newInputKey();
      const nine = pieces('abc', 'def', 'ghi');
      expect(await blobs.put(exact, nine, { maxBytes: 9 })).toMatchObject({ bytes: 9 });
      const key = newInputKey();
      let given = 0;
      let ended = false;
      async function* endless(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) {
            given++;
            yield new Uint8Array(1000);
          }
        } finally {
          ended = true;
        }
      }
      const put = blobs.put(key, endless(), { maxBytes: 5000 });
      await expect(put).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
      expect(given).toBeLessThan(12);
      expect(ended).toBe(true);
      expect(await text(key)).toBe(null);
      clockMs += 60_000;
      expect(await blobs.clean(FOREVER)).toBe(1);
    });

    it('keeps nothing of a body that fails or is aborted half way', async () => {
      const key = newInputKey();
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(10);
        throw new Error('line cut');
      }
      await expect(blobs.put(key, failing(), LIMIT)).rejects.toThrow('line cut');
      expect(await text(key)).toBe(null);

      const controller = new AbortController();
      const stalled = new ReadableStream<Uint8Array>({
        start: (stream) => stream.enqueue(new Uint8Array(10)),
        pull: () => controller.abort(),
      });
      const put = blobs.put(key, stalled, { ...LIMIT, signal: controller.signal });
      await expect(put).rejects.toThrow();
      expect(await text(key)).toBe(null);
      clockMs += 60_000;
      expect(await blobs.clean(FOREVER)).toBe(0);
    });

    it('refuses keys that are not its own', async () => {
      const foreign = ['', '../x.json', 'inputs/../../x.json', 'inputs/a/b.json', '/etc/passwd'];
      foreign.push('results/1/2.json/..', 'results/1/x.json', 'results/1/2.json\0', 'tmp/x.json');
      for (const key of foreign) {
        await expect(blobs.put(key, new Uint8Array(1), LIMIT), key).rejects.toThrow(RangeError);
        await expect(blobs.get({ key }), key).rejects.toThrow(RangeError);
        await expect(blobs.delete(key), key).rejects.toThrow(RangeError);
      }
    });

    it('cleans away old files that nobody needs', async () => {
      const keys = [newInputKey(), newInputKey(), resultKey(5, 1), resultKey(6, 1)] as const;
      for (const key of keys) await blobs.put(key, new Uint8Array(1), LIMIT);
      const asked: string[] = [];
      const referenced = async (some: readonly string[]) => {
        asked.push(...some);
        return new Set<string>([keys[0], keys[2]]);
      };
      clockMs = Date.now() + 1000;
      expect(await blobs.clean({ olderThanMs: 60_000, referenced })).toBe(0);
      expect(asked).toEqual([]);
      clockMs += 60_000;
      expect(await blobs.clean({ olderThanMs: 60_000, referenced })).toBe(2);
      expect(asked.toSorted()).toEqual([...keys].sort());
      const left = await Promise.all(keys.map(text));
      expect(left.map((file) => file !== null)).toEqual([true, false, true, false]);
    });

    it('answers a ping', async () => {
      await blobs.ping();
    });

    it('has urls of results, if any, that end in the id of the task', async () => {
      if (!blobs.results) return;
      const url = await blobs.results.url(resultKey(77, 3), { expiresAtMs: clockMs + 60_000 });
      expect(new URL(url).pathname.endsWith('/77.json')).toBe(true);
    });
  });
}
