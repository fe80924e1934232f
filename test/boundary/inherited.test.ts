/**
 * Properties that a page, a dependency or an attack has put on Object.prototype: options and items
 * are neither set by them nor written to them.
 */
import { describe, expect, test } from 'vitest';
import {
  aggregate,
  aggregateSync,
  findInvalid,
  statementCommitment,
  verifyAggregate,
} from '../../src/aggregate/index.ts';
import { createClient } from '../../src/client/index.ts';
import { falcon512 as noble } from '../../src/falcon/compat/noble/index.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { exportSecretKey, importSecretKey } from '../../src/falcon/keys/index.ts';
import { resolveOptions } from '../../src/middleware/options/options.ts';
import { testItems, testKeys } from '../support/ours.ts';

const { publicKey, secretKey } = testKeys(512);
const other = testKeys(512, 1).publicKey;
const message = Uint8Array.of(1, 2, 3);
const items = testItems(512, 2, { label: 'inherited' });
const bundle = aggregateSync(items);

/** Ways in which a property can be on a prototype; `written` is told what is written to it. */
const WAYS: readonly [string, (value: unknown, written: (v: unknown) => void) => object][] = [
  ['an accessor', (value, written) => ({ get: () => value, set: written })],
  ['a read-only value', (value) => ({ value, writable: false })],
  ['a getter that throws', () => ({ get: thrower, set: thrower })],
];
function thrower(): never {
  throw new Error('inherited');
}

/** Runs a call, while Object.prototype has this property. */
function inheriting<T>(name: string, descriptor: object, call: () => T): T {
  const prototype = Object.prototype as object;
  Object.defineProperty(prototype, name, { ...descriptor, configurable: true });
  try {
    return call();
  } finally {
    Reflect.deleteProperty(prototype, name);
  }
}

const testSeed = { salt: new Uint8Array(40).fill(1), samplerSeed: new Uint8Array(48).fill(2) };
const salts = () => [
  falcon512.sign(message, secretKey, {}),
  falcon512.sign(message, secretKey, {}),
];

describe.each(WAYS)('%s on Object.prototype', (_, descriptorOf) => {
  const seen: unknown[] = [];
  const with_ = <T>(name: string, value: unknown, call: () => T): T => {
    seen.length = 0;
    const result = inheriting(
      name,
      descriptorOf(value, (v) => seen.push(v)),
      call,
    );
    expect(seen).toEqual([]);
    return result;
  };

  test.each([
    ['testSeed', testSeed],
    ['salt', 'derived'],
    ['format', 'padded'],
  ])('does not sign with %s', (name, value) => {
    const [first, second] = with_(name, value, salts);
    expect(first!.subarray(1, 41)).not.toEqual(second!.subarray(1, 41));
    expect(falcon512.verify(first!, message, publicKey, { format: 'compressed' })).toBe(true);
  });

  test.each(['random', 'extraEntropy', 'context'])('does not sign as noble with %s', (name) => {
    const sign = () => [0, 1].map(() => noble.sign(message, secretKey, {}));
    const value = name === 'random' ? (n: number) => new Uint8Array(n) : new Uint8Array(48);
    const [first, second] = with_(name, value, sign);
    expect(first!.subarray(1, 41)).not.toEqual(second!.subarray(1, 41));
  });

  test.each(['publicKey', 'message', 'signature'] as const)('is no %s of an item', (name) => {
    const value = name === 'publicKey' ? other : new Uint8Array(9);
    expect(with_(name, value, () => verifyAggregate(bundle, items))).toBe(true);
    expect(with_(name, value, () => findInvalid(items))).toEqual([]);
    expect(with_(name, value, () => aggregateSync(items))).toEqual(bundle);
    const commitment = with_(name, value, () => statementCommitment(items));
    expect(commitment).toEqual(statementCommitment(items));
    const verdict = falcon512.verifyBatch(items);
    expect(with_(name, value, () => falcon512.verifyBatch(items))).toEqual(verdict);
    const wrong = [{ ...items[0]!, publicKey: other }, items[1]!];
    expect(with_(name, items[0]![name], () => verifyAggregate(bundle, wrong))).toBe(false);
  });

  test.each(['profile', 'profiles', 'threads', 'workerUrl'])(
    'is no option %s of an aggregation',
    async (name) => {
      const made = with_(name, 'eth-falcon', () => aggregate(items, { format: 'bundle' }));
      expect(await made).toEqual(bundle);
      expect(with_(name, ['eth-falcon'], () => verifyAggregate(bundle, items, {}))).toBe(true);
    },
  );

  test.each(['form', 'oid', 'layout', 'parameterSet'])('is no option %s of keys', (name) => {
    const pem = with_(name, 'bare', () => exportSecretKey(secretKey, {}));
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(with_(name, 'bare', () => importSecretKey(pem, {})).key).toEqual(secretKey);
  });

  test.each(['maxSignatures', 'threads', 'burst', 'limits'])(
    'is no option %s of the service',
    (name) => {
      const plain = resolveOptions({ threads: 1 });
      const settings = with_(name, 7, () => resolveOptions({ threads: 1 }));
      expect([settings.maxSignatures, settings.threads]).toEqual([plain.maxSignatures, 1]);
      expect(settings.limits).toEqual(plain.limits);
    },
  );

  test.each(['timeoutMs', 'retries', 'serviceName'])('is no option %s of the client', (name) => {
    const baseUrl = 'http://localhost/a/';
    expect(with_(name, '', () => createClient({ baseUrl })).baseUrl).toBe('http://localhost/a');
  });
});
