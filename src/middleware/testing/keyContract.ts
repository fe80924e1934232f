/** What every store of API keys must do. See `storeContract.ts`. */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { ApiKeyRecord, ApiKeyStore } from '../stores/port/taskStore.ts';
import {
  type DeclareTest,
  HOUR_MS,
  matches,
  type StoreWorld,
  type WithPort,
} from './storeWorld.ts';

interface KeyWorld extends StoreWorld<WithPort<'apiKeys'>> {
  readonly keys: ApiKeyStore;
  readonly otherKeys: ApiKeyStore;
}

type KeyTest = (name: string, body: (w: KeyWorld) => Promise<void>) => void;

const hash = (digit: string) => digit.repeat(64);
/** The end of a key, in ms since 1970. */
const endOf = (key: ApiKeyRecord | null) => key?.expiresAt && Date.parse(key.expiresAt);

/** Declares the tests. */
export function keyContract(declare: DeclareTest<WithPort<'apiKeys'>>): void {
  const test: KeyTest = (name, body) =>
    declare(name, (w) => {
      const [keys, otherKeys] = [w.ports.apiKeys, w.otherPorts.apiKeys];
      return body(Object.assign(w, { keys, otherKeys }));
    });
  hashContract(test);
  lifeContract(test);
  rotationContract(test);
}

function hashContract(test: KeyTest): void {
  test('gives each named client a number of its own', async (w) => {
    await w.keys.putApiKey({ sha256: '1'.repeat(64), name: 'key' });
    const [a, b, again] = await Promise.all([
      w.store.clientNamed('alice'),
      w.other.clientNamed('bob'),
      w.other.clientNamed('alice'),
    ]);
    strictEqual(again, a);
    strictEqual(new Set([1, a, b]).size, 3);
    notStrictEqual(await w.store.clientNamed('Alice'), a);
    const key = await w.keys.putApiKey({ sha256: '2'.repeat(64), name: 'key' });
    ok(![1, a, b].includes(key!.clientId));
  });

  test('keeps API keys by their hash', async (w) => {
    const first = await w.keys.putApiKey({ sha256: hash('1'), name: 'first' });
    matches(first, { clientId: 1, name: 'first' });
    strictEqual(await w.keys.putApiKey({ sha256: hash('1'), name: 'again' }), null);
    matches(await w.keys.putApiKey({ sha256: hash('2'), name: 'b', clientId: 9 }), { clientId: 9 });
    matches(await w.keys.putApiKey({ sha256: hash('3'), name: 'c' }), { clientId: 10 });
    deepStrictEqual(await w.otherKeys.findApiKey(hash('1')), first);
    strictEqual(await w.keys.findApiKey(hash('4')), null);
    const names = (await w.keys.listApiKeys()).map(({ name }) => name);
    deepStrictEqual(names, ['first', 'b', 'c']);
    strictEqual(await w.keys.removeApiKey(hash('1')), true);
    strictEqual(await w.keys.removeApiKey(hash('1')), false);
    strictEqual(await w.otherKeys.findApiKey(hash('1')), null);
    // A client whose last key is gone leaves its number to nobody.
    await w.keys.removeApiKey(hash('3'));
    matches(await w.otherKeys.putApiKey({ sha256: hash('5'), name: 'e' }), { clientId: 11 });
    matches(await w.keys.putApiKey({ sha256: hash('6'), name: 'f', clientId: 2 }), { clientId: 2 });
    matches(await w.keys.putApiKey({ sha256: hash('7'), name: 'g' }), { clientId: 12 });
  });
}

function lifeContract(test: KeyTest): void {
  test('lets API keys expire at their time, and says so afterwards', async (w) => {
    const made = await w.keys.putApiKey({ sha256: hash('1'), name: 'a', ttlMs: HOUR_MS });
    const endMs = w.clockMs + HOUR_MS;
    strictEqual(endOf(made), endMs);
    matches(made, { expired: false, lastUsedAt: null });
    const ever = await w.keys.putApiKey({ sha256: hash('2'), name: 'b' });
    matches(ever, { expiresAt: null, expired: false });
    w.clockMs = endMs - 1;
    deepStrictEqual(await w.otherKeys.findApiKey(hash('1')), made);
    w.clockMs = endMs;
    deepStrictEqual(await w.otherKeys.findApiKey(hash('1')), { ...made, expired: true });
    const ended = (await w.keys.listApiKeys()).map(({ expired }) => expired);
    deepStrictEqual(ended, [true, false]);
    strictEqual(await w.keys.removeApiKey(hash('1')), true);
  });

  test('keeps the last use of API keys', async (w) => {
    for (const digit of ['1', '2', '3']) {
      await w.keys.putApiKey({ sha256: hash(digit), name: digit, ttlMs: HOUR_MS });
    }
    await w.keys.markApiKeysUsed([]);
    await w.keys.markApiKeysUsed([hash('1'), hash('3'), hash('9')]);
    w.clockMs += 60_000;
    await w.otherKeys.markApiKeysUsed([hash('3')]);
    const keys = await w.keys.listApiKeys();
    const times = keys.map(({ name, lastUsedAt }) => [name, lastUsedAt && Date.parse(lastUsedAt)]);
    const expected = { 1: w.clockMs - 60_000, 2: null, 3: w.clockMs };
    deepStrictEqual(Object.fromEntries(times), expected);
    strictEqual(await w.keys.findApiKey(hash('9')), null);
  });
}

function rotationContract(test: KeyTest): void {
  test('rotates an API key: the old one ends after the overlap, and never later', async (w) => {
    const { keys: store, otherKeys: other } = w;
    const find = (digit: string) => other.findApiKey(hash(digit));
    const old = await store.putApiKey({ sha256: hash('1'), name: 'a', clientId: 7 });
    await store.markApiKeysUsed([hash('1')]);
    const next = { sha256: hash('2'), ttlMs: 3 * HOUR_MS, overlapMs: HOUR_MS };
    const made = await store.rotateApiKey(hash('1'), next);
    matches(made, { sha256: hash('2'), name: 'a', clientId: 7, lastUsedAt: null });
    strictEqual(endOf(made), w.clockMs + 3 * HOUR_MS);
    const { expiresAt, lastUsedAt, ...rest } = (await find('1'))!;
    const { expiresAt: _, lastUsedAt: __, ...before } = old!;
    deepStrictEqual(rest, before);
    const times = [expiresAt, lastUsedAt].map((time) => time && Date.parse(time));
    deepStrictEqual(times, [w.clockMs + HOUR_MS, w.clockMs]);
    // Longer than what is left of it.
    const again = { sha256: hash('3'), overlapMs: 9 * HOUR_MS };
    matches(await store.rotateApiKey(hash('1'), again), { expiresAt: null });
    strictEqual(endOf(await find('1')), w.clockMs + HOUR_MS);
    await store.rotateApiKey(hash('2'), { sha256: hash('4'), overlapMs: 0 });
    matches(await find('2'), { expired: true });
  });

  test('changes nothing if there is no such key, or if the new one is taken', async (w) => {
    const { keys: store, otherKeys: other } = w;
    await store.putApiKey({ sha256: hash('3'), name: 'a', clientId: 7 });
    await store.putApiKey({ sha256: hash('4'), name: 'b', clientId: 7 });
    const next = { ttlMs: HOUR_MS, overlapMs: 0 };
    strictEqual(await store.rotateApiKey(hash('8'), { ...next, sha256: hash('5') }), null);
    strictEqual(await other.findApiKey(hash('5')), null);
    strictEqual(await store.rotateApiKey(hash('3'), { ...next, sha256: hash('4') }), null);
    matches(await other.findApiKey(hash('3')), { expiresAt: null });
    const { clientId } = (await store.putApiKey({ sha256: hash('6'), name: 'new' }))!;
    strictEqual(clientId, 8);
  });
}
