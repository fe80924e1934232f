/** What every store must do whose secrets can be exchanged. See `storeContract.ts`. */
import { deepStrictEqual, notDeepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { SecretStore } from '../stores/port/operatorStore.ts';
import type { TaskStore } from '../stores/port/taskStore.ts';
import { type DeclareTest, HOUR_MS } from './storeWorld.ts';

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte + 256).join();

/** Declares the tests. */
export function secretContract(test: DeclareTest<TaskStore & SecretStore>): void {
  test('rotates secrets, and knows the old ones for a while', async (w) => {
    const first = await w.store.secret('urls');
    const cursors = await w.store.secret('cursors');
    const retired = async (from = w.store) => (await from.secretRing('urls'))!.retired;
    deepStrictEqual(await retired(), []);
    await w.other.rotateSecret('urls');
    w.clockMs += 1000;
    const second = await w.store.secret('urls');
    strictEqual(second.length, 32);
    deepStrictEqual((await w.other.secretRing('urls'))!.current, second);
    notDeepStrictEqual(second, first);
    deepStrictEqual(await retired(), [{ value: first, agoMs: 1000 }]);
    await w.store.rotateSecret('urls');
    deepStrictEqual(await retired(w.other), [
      { value: second, agoMs: 0 },
      { value: first, agoMs: 1000 },
    ]);
    w.clockMs += 30 * 24 * HOUR_MS - 1000;
    const third = await w.other.secret('urls');
    await w.store.rotateSecret('urls');
    // The first one has been retired for 30 days.
    const kept = await retired();
    deepStrictEqual(
      kept.map(({ value }) => value),
      [third, second],
    );
    deepStrictEqual(await w.store.secret('cursors'), cursors);
    await w.store.rotateSecret('urls', { forget: true });
    deepStrictEqual(await retired(), []);
    const last = hex(await w.other.secret('urls'));
    ok(![first, second, third].map(hex).includes(last));
  });

  test('makes the first secret of a name by a rotation as well, and by no look', async (w) => {
    strictEqual(await w.store.secretRing('new'), null);
    strictEqual(await w.other.secretRing('new'), null);
    await w.store.rotateSecret('new');
    strictEqual((await w.other.secret('new')).length, 32);
  });

  test('loses no secret when several rotate at once', async (w) => {
    await w.store.secret('urls');
    await Promise.all([w.store, w.other, w.store, w.other].map((s) => s.rotateSecret('urls')));
    const all = [await w.store.secret('urls')];
    for (const { value } of (await w.store.secretRing('urls'))!.retired) all.push(value);
    strictEqual(new Set(all.map(hex)).size, 5);
  });
}
