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
      const found = await opened.again.get(key);
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
        expect(await blobs.get(key)).toMatchObject({ bytes: 5 });
        const bytes = await blobs.read(key, 5);
        expect(new TextDecoder().decode(bytes!)).toBe('hello');
        await expect(blobs.read(key, 4)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
      }
      const empty = newInputKey();
      expect(await blobs.put(empty, new Uint8Array(0), LIMIT)).toMatchObject({ bytes: 0 });
      expect(await text(empty)).toBe('');
    });

    it('knows nothing of a key that was not put, or was deleted', async () => {
      const key = resultKey(17, 2);
      const absent = async () => {
        expect(await blobs.get(key)).toBe(null);
        expect(await blobs.read(key, 100)).toBe(null);
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
        await expect(blobs.get(key), key).rejects.toThrow(RangeError);
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

    describe('urls', () => {
      const base = 'https://example.test/mount/v1/svc';
      const expiresAtMs = () => clockMs + 60_000;
      const queryOf = (url: string) => new URL(url).searchParams;

      it('give their right, and no other', async () => {
        if (blobs.urls === 'remote') return;
        const url = await blobs.uploadUrl(42, { base, expiresAtMs: expiresAtMs() });
        expect(url.startsWith(`${base}/uploads/42?`)).toBe(true);
        const query = queryOf(url);
        const put = { method: 'PUT', taskId: 42 } as const;
        expect(await blobs.checkUrl(put, query)).toBe('ok');
        expect(await opened.again.checkUrl(put, query)).toBe('ok');
        expect(await blobs.checkUrl({ method: 'PUT', taskId: 43 }, query)).toBe('forged');
        expect(await blobs.checkUrl({ method: 'GET', key: 'uploads/42' }, query)).toBe('forged');
        clockMs += 61_000;
        expect(await blobs.checkUrl(put, query)).toBe('expired');
      });

      it('of results end in the id of the task', async () => {
        const key = resultKey(77, 3);
        const url = await blobs.resultUrl(key, { base, expiresAtMs: expiresAtMs() });
        expect(new URL(url).pathname.endsWith('/77.json')).toBe(true);
        if (blobs.urls === 'remote') return;
        expect(await blobs.checkUrl({ method: 'GET', key }, queryOf(url))).toBe('ok');
        const other = { method: 'GET', key: resultKey(77, 4) } as const;
        expect(await blobs.checkUrl(other, queryOf(url))).toBe('forged');
      });

      it('are forged by any change of their query', async () => {
        if (blobs.urls === 'remote') return;
        const put = { method: 'PUT', taskId: 42 } as const;
        const url = await blobs.uploadUrl(42, { base, expiresAtMs: expiresAtMs() });
        const expires = queryOf(url).get('expires')!;
        const signature = queryOf(url).get('signature')!;
        const forged: string[] = ['', `expires=${expires}`, `signature=${signature}`];
        forged.push(`expires=${Number(expires) + 1}&signature=${signature}`);
        for (const text of [
          `0${expires}`,
          `${expires}.0`,
          `+${expires}`,
          `${expires}e0`,
          '',
          '-1',
        ]) {
          forged.push(`expires=${encodeURIComponent(text)}&signature=${signature}`);
        }
        for (let i = 0; i < signature.length; i++) {
          const other = signature[i] === 'A' ? 'B' : 'A';
          const text = signature.slice(0, i) + other + signature.slice(i + 1);
          forged.push(`expires=${expires}&signature=${text}`);
        }
        for (const text of [
          signature.slice(1),
          `${signature}A`,
          `${signature}=`,
          `${signature}%20`,
        ]) {
          forged.push(`expires=${expires}&signature=${text}`);
        }
        forged.push(`expires=${expires}&signature=${signature}&signature=${signature}`);
        forged.push(`expires=${expires}&expires=${expires}&signature=${signature}`);
        for (const query of forged) {
          expect(await blobs.checkUrl(put, new URLSearchParams(query)), query).toBe('forged');
        }
        expect(forged.length).toBe(59);
      });
    });
  });
}
