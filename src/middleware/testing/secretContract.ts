/** What every store must do whose secrets can be exchanged. See `storeContract.ts`. */
import { deepStrictEqual, notDeepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { CompleteStore } from '../stores/port/serviceStore.ts';
import { type DeclareTest, HOUR_MS } from './storeWorld.ts';

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte + 256).join();

/** Declares the tests. */
export function secretContract(test: DeclareTest<Pick<CompleteStore, 'tasks' | 'secrets'>>): void {
  test('rotates secrets, and knows the old ones for a while', async (w) => {
    const first = await w.store.secret('urls');
    const cursors = await w.store.secret('cursors');
    const retired = async (from = w.ports.secrets) => (await from.secretRing('urls'))!.retired;
    deepStrictEqual(await retired(), []);
    await w.otherPorts.secrets.rotateSecret('urls');
    w.clockMs += 1000;
    const second = await w.store.secret('urls');
    strictEqual(second.length, 32);
    deepStrictEqual((await w.otherPorts.secrets.secretRing('urls'))!.current, second);
    notDeepStrictEqual(second, first);
    deepStrictEqual(await retired(), [{ value: first, agoMs: 1000 }]);
    await w.ports.secrets.rotateSecret('urls');
    deepStrictEqual(await retired(w.otherPorts.secrets), [
      { value: second, agoMs: 0 },
      { value: first, agoMs: 1000 },
    ]);
    w.clockMs += 30 * 24 * HOUR_MS - 1000;
    const third = await w.other.secret('urls');
    await w.ports.secrets.rotateSecret('urls');
    // The first one has been retired for 30 days.
    const kept = await retired();
    deepStrictEqual(
      kept.map(({ value }) => value),
      [third, second],
    );
    deepStrictEqual(await w.store.secret('cursors'), cursors);
    await w.ports.secrets.rotateSecret('urls', { forget: true });
    deepStrictEqual(await retired(), []);
    const last = hex(await w.other.secret('urls'));
    ok(![first, second, third].map(hex).includes(last));
  });

  test('makes the first secret of a name by a rotation as well, and by no look', async (w) => {
    strictEqual(await w.ports.secrets.secretRing('new'), null);
    strictEqual(await w.otherPorts.secrets.secretRing('new'), null);
    await w.ports.secrets.rotateSecret('new');
    strictEqual((await w.other.secret('new')).length, 32);
  });

  test('loses no secret when several rotate at once', async (w) => {
    await w.store.secret('urls');
    const [a, b] = [w.ports.secrets, w.otherPorts.secrets];
    await Promise.all([a, b, a, b].map((secrets) => secrets.rotateSecret('urls')));
    const all = [await w.store.secret('urls')];
    for (const { value } of (await w.ports.secrets.secretRing('urls'))!.retired) all.push(value);
    strictEqual(new Set(all.map(hex)).size, 5);
  });
}
