/** What is no option is refused, by every call, and what is an option is read once, of its own. */
import { afterEach, describe, expect, test } from 'vitest';
import { createFalcon, falcon512 } from '../../src/falcon/index.ts';
import {
  aggregate,
  createAggregatePool,
  createVerifyPool,
  verifyAggregate,
  verifyAggregateAsync,
} from '../../src/index.ts';
import { SETS, testItems, testKeys } from '../support/ours.ts';
import { shortKey } from '../support/secretKeys.ts';

class Settings {
  format = 'padded';
}

const NO_OPTIONS: readonly [string, unknown][] = [
  ['null', null],
  ['an array', []],
  ['a filled array', ['padded']],
  ['a Map', new Map([['format', 'padded']])],
  ['a Set', new Set()],
  ['a function', () => ({})],
  ['a string', 'padded'],
  ['a number', 5],
  ['a boolean', true],
  ['a Date', new Date()],
  ['bytes', new Uint8Array(3)],
  ['an instance of a class', new Settings()],
  ['an unknown name', { context: new Uint8Array(3) }],
];

const { publicKey, secretKey } = testKeys(512);
const message = new Uint8Array(20);
const signature = falcon512.sign(message, secretKey);
const sealed = falcon512.attached.seal(message, secretKey);
const items = testItems(512, 2);

describe.each(NO_OPTIONS)('%s is no option', (_, value) => {
  const options = value as never;

  test('of a synchronous call', () => {
    for (const call of [
      () => createFalcon('falcon512', options),
      () => falcon512.sign(message, secretKey, options),
      () => falcon512.sign(message, secretKey, { testSeed: options }),
      () => falcon512.verify(signature, message, publicKey, options),
      () => falcon512.attached.seal(message, secretKey, options),
      () => falcon512.attached.open(sealed, publicKey, options),
      () => createVerifyPool(options),
      () => createAggregatePool(options),
    ]) {
      expect(call, call.toString()).toThrow(TypeError);
    }
  });

  test('of an asynchronous call', async () => {
    const bundle = await aggregate(items);
    const pool = createAggregatePool({ threads: 1 });
    const verifyPool = createVerifyPool({ threads: 1 });
    for (const call of [
      () => aggregate(items, options),
      () => verifyAggregateAsync(bundle, items, options),
      () => pool.aggregate(items, options),
      () => pool.verifyAggregate(bundle, items, options),
      () => pool.findInvalid(items, options),
      () => verifyPool.verifyBatch(items, options),
    ]) {
      await expect(call(), call.toString()).rejects.toThrow(TypeError);
    }
    await pool.close();
    await verifyPool.close();
  });
});

test('plain objects of any realm, also empty ones, are options', async () => {
  const bare = Object.assign(Object.create(null), { format: 'padded' });
  expect(falcon512.sign(message, secretKey, bare)).toHaveLength(666);
  expect(falcon512.sign(message, secretKey, {})).not.toHaveLength(0);
  expect(falcon512.verify(signature, message, publicKey, {})).toBe(true);
  expect(falcon512.verify(signature, message, publicKey, undefined)).toBe(true);
  expect(falcon512.attached.open(sealed, publicKey, {})).toEqual(message);
  const bundle = await aggregate(items, Object.create(null));
  expect(verifyAggregate(bundle, items)).toBe(true);
});

describe('a polluted prototype', () => {
  const prototype = Object.prototype as Record<string, unknown>;
  afterEach(() => {
    for (const name of ['testSeed', 'format', 'module', 'threads']) delete prototype[name];
  });

  test('sets no option: randomness stays random', () => {
    prototype.testSeed = { salt: new Uint8Array(40), samplerSeed: new Uint8Array(48) };
    prototype.format = 'constantTime';
    prototype.module = 'plain';
    const made = falcon512.sign(message, secretKey, {});
    const format = createFalcon('falcon512', {}).module;
    delete prototype.testSeed;
    delete prototype.format;
    delete prototype.module;
    expect(made.subarray(1, 41).some((byte) => byte !== 0)).toBe(true);
    expect(made.length).not.toBe(809);
    expect(format).toBe(falcon512.module);
  });
});

describe.each(SETS)('keys of Falcon-$degree', ({ degree, falcon }) => {
  const pair = testKeys(degree);

  test.each([
    ['prepared', () => falcon.preparePublicKey(pair.publicKey)],
    ['expanded', () => falcon.expandSecretKey(pair.secretKey)],
  ])('a key that is %s is frozen, and closed', (_, make) => {
    const key = make();
    const other = degree === 512 ? 'falcon1024' : 'falcon512';
    expect(Object.isFrozen(key)).toBe(true);
    expect(() => Object.assign(key, { parameterSet: other })).toThrow(TypeError);
    expect(key.parameterSet).toBe(falcon.name);
    const prototype = Object.getPrototypeOf(key);
    expect(Object.isFrozen(prototype)).toBe(true);
    // No way to the class, whose constructor takes inner bytes.
    expect(key.constructor).toBe(Object);
    for (const name of Reflect.ownKeys(key)) {
      expect(ArrayBuffer.isView(Reflect.get(key, name))).toBe(false);
    }
  });

  test('a copy of an expanded key signs nothing', () => {
    const key = falcon.expandSecretKey(pair.secretKey);
    for (const fake of [{ ...key }, Object.create(key), new Proxy(key, {}), structuredClone(key)]) {
      expect(() => falcon.sign(message, fake as never)).toThrow(TypeError);
    }
    const text = falcon.sign(message, key);
    expect(falcon.verify(text, message, pair.publicKey)).toBe(true);
    key.destroy();
    expect(key.destroyed).toBe(true);
    expect(() => falcon.sign(message, key)).toThrow(TypeError);
  });
});

describe('getPublicKey refuses what sign refuses', () => {
  const changed = (change: (key: Uint8Array) => void): Uint8Array => {
    const key = Uint8Array.from(secretKey);
    change(key);
    return key;
  };
  test.each<[string, Uint8Array]>([
    ['deviations outside of the sampler’s range', shortKey()],
    ['another F', changed((key) => (key[key.length - 1]! ^= 1))],
    ['the forbidden value in F', changed((key) => (key[key.length - 1] = 0x80))],
    ['another f', changed((key) => (key[1]! ^= 4))],
    ['no header', changed((key) => (key[0] = 0))],
    ['f = 0', changed((key) => key.fill(0, 1, 1 + 384))],
  ])('%s', (_, key) => {
    expect(() => falcon512.sign(message, key)).toThrow(RangeError);
    expect(() => falcon512.expandSecretKey(key)).toThrow(RangeError);
    expect(() => falcon512.getPublicKey(key)).toThrow(RangeError);
  });
});
