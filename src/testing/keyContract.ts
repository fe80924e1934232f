/** What every store of API keys must do. */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { ApiKeyStore, TaskStore } from '../middleware/stores/taskStore.ts';
import { matches } from './matches.ts';
import type { DeclareTest } from './storeWorld.ts';

/** Declares the tests. */
export function keyContract(test: DeclareTest<TaskStore & ApiKeyStore>): void {
  test('gives each named client a number of its own', async (w) => {
    await w.store.putApiKey({ sha256: '1'.repeat(64), name: 'key' });
    const [a, b, again] = await Promise.all([
      w.store.clientNamed('alice'),
      w.other.clientNamed('bob'),
      w.other.clientNamed('alice'),
    ]);
    strictEqual(again, a);
    strictEqual(new Set([1, a, b]).size, 3);
    notStrictEqual(await w.store.clientNamed('Alice'), a);
    const key = await w.store.putApiKey({ sha256: '2'.repeat(64), name: 'key' });
    ok(![1, a, b].includes(key!.clientId));
  });

  test('keeps API keys by their hash', async (w) => {
    const hash = (digit: string) => digit.repeat(64);
    const first = await w.store.putApiKey({ sha256: hash('1'), name: 'first' });
    matches(first, { clientId: 1, name: 'first' });
    strictEqual(await w.store.putApiKey({ sha256: hash('1'), name: 'again' }), null);
    matches(await w.store.putApiKey({ sha256: hash('2'), name: 'b', clientId: 9 }), {
      clientId: 9,
    });
    matches(await w.store.putApiKey({ sha256: hash('3'), name: 'c' }), {
      clientId: 10,
    });
    deepStrictEqual(await w.other.findApiKey(hash('1')), first);
    strictEqual(await w.store.findApiKey(hash('4')), null);
    deepStrictEqual(
      (await w.store.listApiKeys()).map((key) => key.name),
      ['first', 'b', 'c'],
    );
    strictEqual(await w.store.removeApiKey(hash('1')), true);
    strictEqual(await w.store.removeApiKey(hash('1')), false);
    strictEqual(await w.other.findApiKey(hash('1')), null);
    // A client whose last key is gone leaves its number to nobody.
    await w.store.removeApiKey(hash('3'));
    matches(await w.other.putApiKey({ sha256: hash('5'), name: 'e' }), {
      clientId: 11,
    });
    matches(await w.store.putApiKey({ sha256: hash('6'), name: 'f', clientId: 2 }), {
      clientId: 2,
    });
    matches(await w.store.putApiKey({ sha256: hash('7'), name: 'g' }), {
      clientId: 12,
    });
  });
}
