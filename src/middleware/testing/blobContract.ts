/** What every blob store must do: one suite, run over each of them. */
import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { type BlobStore, newInputKey, resultKey } from '../blobs/port/blobStore.ts';
import type { TestRunner } from './storeWorld.ts';
import { matches } from './storeWorld.ts';

export interface OpenedBlobs {
  readonly blobs: BlobStore;
  /** The same files, opened anew. */
  readonly again: BlobStore;
  /** Closes both, and removes what the test has left. */
  close(): Promise<void>;
}

/**
 * Opens a new store of files for a test.
 *
 * @param nowMs the clock by which the ends of its urls and the age of its files are judged, in ms
 */
export type OpenBlobs = (nowMs: () => number) => Promise<OpenedBlobs>;

const LIMIT = { maxBytes: 1 << 20 };
const FOREVER = { olderThanMs: 0, referenced: async () => new Set<string>() };

/** A store under test, with a clock that the test sets. */
class BlobWorld {
  clockMs = Date.now();
  opened!: OpenedBlobs;

  get blobs(): BlobStore {
    return this.opened.blobs;
  }

  async text(key: string): Promise<string | null> {
    const found = await this.opened.again.get({ key });
    return found && new Response(found.body).text();
  }
}

async function* pieces(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield new TextEncoder().encode(part);
}

/**
 * The port `BlobStore`.
 *
 * @param name of the store, for the titles
 * @param open gives each test a store of its own
 */
export function blobContract(runner: TestRunner, name: string, open: OpenBlobs): void {
  const test = (title: string, body: (w: BlobWorld) => Promise<void>) =>
    runner.it(title, async () => {
      const w = new BlobWorld();
      w.opened = await open(() => w.clockMs);
      try {
        await body(w);
      } finally {
        await w.opened.close();
      }
    });
  runner.describe(`${name}: the contract of a blob store`, () => {
    test('keeps what it was given, in every form of body', async (w) => {
      const bodies = [
        new TextEncoder().encode('hello'),
        pieces('he', '', 'llo'),
        new Blob(['hel', 'lo']).stream() as ReadableStream<Uint8Array>,
      ];
      for (const body of bodies) {
        const key = newInputKey();
        matches(await w.blobs.put(key, body, LIMIT), { key, bytes: 5 });
        strictEqual(await w.text(key), 'hello');
        matches(await w.blobs.stat(key), { key, bytes: 5 });
        const found = await w.blobs.get({ key });
        matches(found, { bytes: 5 });
        await found!.body.cancel();
        const bytes = await w.blobs.read({ key }, 5);
        strictEqual(new TextDecoder().decode(bytes!), 'hello');
        await rejects(w.blobs.read({ key }, 4), { code: 'BODY_TOO_LARGE' });
      }
      const empty = newInputKey();
      matches(await w.blobs.put(empty, new Uint8Array(0), LIMIT), { bytes: 0 });
      strictEqual(await w.text(empty), '');
    });

    test('keeps a file whose bytes are overwritten or given away after it was put', async (w) => {
      const key = newInputKey();
      const bytes = new TextEncoder().encode('hello');
      await w.blobs.put(key, bytes, LIMIT);
      bytes.fill(0);
      structuredClone(bytes, { transfer: [bytes.buffer] });
      strictEqual(await w.text(key), 'hello');
    });

    test('knows nothing of a key that was not put, or was deleted', async (w) => {
      const key = resultKey(17, 2);
      const absent = async () => {
        strictEqual(await w.blobs.get({ key }), null);
        strictEqual(await w.blobs.read({ key }, 100), null);
        strictEqual(await w.blobs.stat(key), null);
      };
      await absent();
      await w.blobs.delete(key);
      await w.blobs.put(key, new Uint8Array(3), LIMIT);
      notStrictEqual(await w.blobs.stat(key), null);
      await w.blobs.delete(key);
      await absent();
    });

    test('takes exactly the limit, stops reading beyond it, and keeps nothing then', async (w) => {
      const exact = newInputKey();
      const nine = pieces('abc', 'def', 'ghi');
      matches(await w.blobs.put(exact, nine, { maxBytes: 9 }), { bytes: 9 });
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
      const put = w.blobs.put(key, endless(), { maxBytes: 5000 });
      await rejects(put, { code: 'BODY_TOO_LARGE' });
      ok(given < 12);
      strictEqual(ended, true);
      strictEqual(await w.text(key), null);
      w.clockMs += 60_000;
      strictEqual(await w.blobs.clean(FOREVER), 1);
    });

    test('keeps nothing of a body that fails or is aborted half way', async (w) => {
      const key = newInputKey();
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(10);
        throw new Error('line cut');
      }
      await rejects(w.blobs.put(key, failing(), LIMIT), /line cut/);
      strictEqual(await w.text(key), null);

      const controller = new AbortController();
      const stalled = new ReadableStream<Uint8Array>({
        start: (stream) => stream.enqueue(new Uint8Array(10)),
        pull: () => controller.abort(),
      });
      const put = w.blobs.put(key, stalled, { ...LIMIT, signal: controller.signal });
      await rejects(put);
      strictEqual(await w.text(key), null);
      w.clockMs += 60_000;
      strictEqual(await w.blobs.clean(FOREVER), 0);
    });

    test('refuses keys that are not its own', async (w) => {
      const foreign = ['', '../x.json', 'inputs/../../x.json', 'inputs/a/b.json', '/etc/passwd'];
      foreign.push('results/1/2.json/..', 'results/1/x.json', 'results/1/2.json\0', 'tmp/x.json');
      for (const key of foreign) {
        await rejects(w.blobs.put(key, new Uint8Array(1), LIMIT), RangeError, key);
        await rejects(w.blobs.get({ key }), RangeError, key);
        await rejects(w.blobs.delete(key), RangeError, key);
      }
    });

    test('cleans away old files that nobody needs', async (w) => {
      const keys = [newInputKey(), newInputKey(), resultKey(5, 1), resultKey(6, 1)] as const;
      for (const key of keys) await w.blobs.put(key, new Uint8Array(1), LIMIT);
      const asked: string[] = [];
      const referenced = async (some: readonly string[]) => {
        asked.push(...some);
        return new Set<string>([keys[0], keys[2]]);
      };
      w.clockMs = Date.now() + 1000;
      strictEqual(await w.blobs.clean({ olderThanMs: 60_000, referenced }), 0);
      deepStrictEqual(asked, []);
      w.clockMs += 60_000;
      strictEqual(await w.blobs.clean({ olderThanMs: 60_000, referenced }), 2);
      deepStrictEqual(asked.toSorted(), [...keys].sort());
      const left = await Promise.all(keys.map(async (key) => (await w.text(key)) !== null));
      deepStrictEqual(left, [true, false, true, false]);
    });

    test('answers a ping', async (w) => {
      await w.blobs.ping();
    });

    test('has urls of results, if any, that end in the id of the task', async (w) => {
      if (!w.blobs.results) return;
      const url = await w.blobs.results.url(resultKey(77, 3), { expiresAtMs: w.clockMs + 60_000 });
      strictEqual(new URL(url).pathname.endsWith('/77.json'), true);
    });
  });
}
