/** What every task store must do for keys, quotas and secrets. See `ownContract.ts`. */
import { expect } from 'vitest';
import { type DeclareTest, HOUR_MS } from '../../src/testing/storeWorld.ts';
import type { FullStore } from './fullStore.ts';

const hash = (digit: string) => digit.repeat(64);

/** Declares the tests. */
export function keyContract(test: DeclareTest<FullStore>): void {
  lifeContract(test);
  rotationContract(test);
  quotaContract(test);
  secretContract(test);
}

const iso = (ms: number) => new Date(ms).toISOString();

function lifeContract(test: DeclareTest<FullStore>): void {
  test('lets API keys expire at their time, and says so afterwards', async (w) => {
    const made = await w.store.putApiKey({ sha256: hash('1'), name: 'a', ttlMs: HOUR_MS });
    const endMs = w.clockMs + HOUR_MS;
    expect(made).toMatchObject({ expiresAt: iso(endMs), expired: false, lastUsedAt: null });
    const ever = await w.store.putApiKey({ sha256: hash('2'), name: 'b' });
    expect(ever).toMatchObject({ expiresAt: null, expired: false });
    w.clockMs = endMs - 1;
    expect(await w.other.findApiKey(hash('1'))).toEqual(made);
    w.clockMs = endMs;
    expect(await w.other.findApiKey(hash('1'))).toEqual({ ...made, expired: true });
    const listed = await w.store.listApiKeys();
    expect(listed.map(({ expired }) => expired)).toEqual([true, false]);
    expect(await w.store.removeApiKey(hash('1'))).toBe(true);
  });

  test('keeps the last use of API keys', async (w) => {
    for (const digit of ['1', '2', '3']) {
      await w.store.putApiKey({ sha256: hash(digit), name: digit, ttlMs: HOUR_MS });
    }
    await w.store.markApiKeysUsed([]);
    await w.store.markApiKeysUsed([hash('1'), hash('3'), hash('9')]);
    w.clockMs += 60_000;
    await w.other.markApiKeysUsed([hash('3')]);
    const times = (await w.store.listApiKeys()).map(({ name, lastUsedAt }) => [name, lastUsedAt]);
    expect(Object.fromEntries(times)).toEqual({
      1: iso(w.clockMs - 60_000),
      2: null,
      3: iso(w.clockMs),
    });
    expect(await w.store.findApiKey(hash('9'))).toBe(null);
  });
}

function rotationContract(test: DeclareTest<FullStore>): void {
  test('rotates an API key: the old one ends after the overlap, and never later', async (w) => {
    const { store, other } = w;
    const old = await store.putApiKey({ sha256: hash('1'), name: 'a', clientId: 7 });
    await store.markApiKeysUsed([hash('1')]);
    const next = { sha256: hash('2'), ttlMs: 3 * HOUR_MS, overlapMs: HOUR_MS };
    const made = await store.rotateApiKey(hash('1'), next);
    expect(made).toMatchObject({ sha256: hash('2'), name: 'a', clientId: 7, lastUsedAt: null });
    expect(made!.expiresAt).toBe(iso(w.clockMs + 3 * HOUR_MS));
    expect(await other.findApiKey(hash('1'))).toEqual({
      ...old,
      expiresAt: iso(w.clockMs + HOUR_MS),
      lastUsedAt: iso(w.clockMs),
    });
    // Longer than what is left of it.
    const again = { sha256: hash('3'), overlapMs: 9 * HOUR_MS };
    expect(await store.rotateApiKey(hash('1'), again)).toMatchObject({ expiresAt: null });
    expect(await other.findApiKey(hash('1'))).toMatchObject({
      expiresAt: iso(w.clockMs + HOUR_MS),
    });
    await store.rotateApiKey(hash('2'), { sha256: hash('4'), overlapMs: 0 });
    expect(await other.findApiKey(hash('2'))).toMatchObject({ expired: true });
    expect(await store.rotateApiKey(hash('8'), { ...next, sha256: hash('5') })).toBe(null);
    expect(await other.findApiKey(hash('5'))).toBe(null);
    // A hash that is taken changes nothing.
    expect(await store.rotateApiKey(hash('3'), { ...next, sha256: hash('4') })).toBe(null);
    expect(await other.findApiKey(hash('3'))).toMatchObject({ expiresAt: null });
    const { clientId } = (await store.putApiKey({ sha256: hash('6'), name: 'new' }))!;
    expect(clientId).toBe(8);
  });
}

function quotaContract(test: DeclareTest<FullStore>): void {
  test('keeps quotas of clients, each limit by itself', async (w) => {
    expect(await w.store.quota(3)).toBe(null);
    expect(await w.store.setQuota(3, { openTasks: 0, storedBytes: 2 ** 40 })).toEqual({
      openTasks: 0,
      storedBytes: 2 ** 40,
    });
    const both = { openTasks: 5, storedBytes: 2 ** 40, requestsPerSecond: 9 };
    expect(await w.other.setQuota(3, { openTasks: 5, requestsPerSecond: 9 })).toEqual(both);
    expect(await w.store.quota(3)).toEqual(both);
    await w.store.setQuota(1, { requestsPerSecond: 1 });
    expect(await w.other.quotas()).toEqual([
      { clientId: 1, requestsPerSecond: 1 },
      { clientId: 3, ...both },
    ]);
    expect(await w.store.setQuota(3, null)).toBe(null);
    expect(await w.store.setQuota(3, null)).toBe(null);
    expect(await w.other.quota(3)).toBe(null);
    expect((await w.store.quotas()).length).toBe(1);
  });
}

function secretContract(test: DeclareTest<FullStore>): void {
  test('rotates secrets, and knows the old ones for a while', async (w) => {
    const first = await w.store.secret('urls');
    const cursors = await w.store.secret('cursors');
    const retired = async (from = w.store) => (await from.secretRing('urls'))!.retired;
    expect(await retired()).toEqual([]);
    await w.other.rotateSecret('urls');
    w.clockMs += 1000;
    const second = await w.store.secret('urls');
    expect(second.length).toBe(32);
    expect((await w.other.secretRing('urls'))!.current).toEqual(second);
    expect(second).not.toEqual(first);
    expect(await retired()).toEqual([{ value: first, agoMs: 1000 }]);
    await w.store.rotateSecret('urls');
    expect(await retired(w.other)).toEqual([
      { value: second, agoMs: 0 },
      { value: first, agoMs: 1000 },
    ]);
    w.clockMs += 30 * 24 * HOUR_MS - 1000;
    const third = await w.other.secret('urls');
    await w.store.rotateSecret('urls');
    const kept = await retired();
    expect(kept.map(({ value }) => value)).toEqual([third, second]);
    expect(await w.store.secret('cursors')).toEqual(cursors);
    await w.store.rotateSecret('urls', { forget: true });
    expect(await retired()).toEqual([]);
    expect([first, second, third]).not.toContainEqual(await w.other.secret('urls'));
    // One that is not there yet.
    expect(await w.store.secretRing('new')).toBe(null);
    await w.store.rotateSecret('new');
    expect((await w.other.secret('new')).length).toBe(32);
  });

  test('loses no secret when several rotate at once', async (w) => {
    await w.store.secret('urls');
    await Promise.all([w.store, w.other, w.store, w.other].map((s) => s.rotateSecret('urls')));
    const all = [await w.store.secret('urls')];
    for (const { value } of (await w.store.secretRing('urls'))!.retired) all.push(value);
    expect(new Set(all.map((value) => Buffer.from(value).toString('hex'))).size).toBe(5);
  });
}
