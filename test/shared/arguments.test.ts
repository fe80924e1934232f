import { createSecretKey } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import {
  checkHook,
  copyBytes,
  isBytes,
  isIntact,
  readBytes,
  readList,
  readOptions,
} from '../../src/shared/arguments.ts';

const IN_JSON = 'object (bytes that went through JSON: encode them)';
const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const thrower = (trap: 'get' | 'getOwnPropertyDescriptor') =>
  new Proxy(
    {},
    {
      [trap]() {
        throw new Error('asked');
      },
    },
  );
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
const cryptoKey = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', true, [
  'encrypt',
]);

describe('readBytes', () => {
  test('gives the length and a copy', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    for (const given of [bytes, Buffer.from(bytes), bytes.subarray(0)]) {
      const read = readBytes('x', given, 1, 3);
      expect(read.length).toBe(3);
      expect(read.copy()).toEqual(bytes);
      expect(read.copy().buffer).not.toBe(bytes.buffer);
      expect(copyBytes('x', given)).toEqual(bytes);
    }
    const target = new Uint8Array(5);
    readBytes('x', bytes).copyTo(target, 2);
    expect(target).toEqual(Uint8Array.of(0, 0, 1, 2, 3));
    expect(() => readBytes('x', bytes).copyTo(target, 3)).toThrow(RangeError);
  });

  test.each([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a string', 'abc', 'string'],
    ['a list', [1, 2], 'array (convert it: Uint8Array.from(it))'],
    ['a buffer', new ArrayBuffer(3), 'ArrayBuffer (wrap it: new Uint8Array(it))'],
    ['shared memory', new SharedArrayBuffer(3), 'SharedArrayBuffer (wrap it: new Uint8Array(it))'],
    ['words', new Uint16Array(3), 'Uint16Array'],
    ['signed bytes', new Int8Array(3), 'Int8Array'],
    ['clamped bytes', new Uint8ClampedArray(3), 'Uint8ClampedArray'],
    ['a DataView', new DataView(new ArrayBuffer(3)), 'DataView'],
    ['a promise', Promise.resolve(new Uint8Array(3)), 'Promise (await it)'],
    [
      'a promise of another realm',
      runInContext('(async () => 1)()', createContext()),
      'Promise (await it)',
    ],
    ['a Map', new Map(), 'Map'],
    ['a date', new Date(0), 'Date'],
    ['a function', () => new Uint8Array(3), 'function'],
    ['a KeyObject', createSecretKey(new Uint8Array(3)), 'KeyObject (export it)'],
    ['a CryptoKey', cryptoKey, 'CryptoKey (export it)'],
    ['bytes in JSON', jsonOf(Uint8Array.of(1, 2)), IN_JSON],
    ['a Buffer in JSON', jsonOf(Buffer.of(1, 2)), IN_JSON],
    ['another object', { type: 'Buffer', data: 5 }, 'object'],
    ['what calls itself bytes', { [Symbol.toStringTag]: 'Uint8Array' }, 'object'],
    ['what calls itself a sentence', { [Symbol.toStringTag]: 'Any text.' }, 'object'],
    ['what cannot be asked', thrower('get'), 'object'],
    ['what has no properties', thrower('getOwnPropertyDescriptor'), 'object'],
    ['a revoked Proxy', revoked(), 'object'],
    ['a lookalike', Object.create({ length: 3, 0: 1 }), 'object'],
    ['a Proxy', new Proxy(new Uint8Array(3), {}), 'object'],
  ])('%s: a TypeError', (_, value, type) => {
    expect(() => readBytes('key', value)).toThrow(
      new TypeError(`"key" expected Uint8Array, got ${type}`),
    );
    expect(isBytes(value)).toBe(false);
    expect(isIntact(value)).toBe(false);
  });

  test('a wrong length is a RangeError that says what was expected', () => {
    const read = (length: number, ...allowed: number[]) =>
      readBytes('seed', new Uint8Array(length), ...allowed);
    expect(() => read(5, 48)).toThrow(RangeError);
    expect(() => read(5, 48)).toThrow('"seed" expected 48 bytes, got 5');
    expect(() => read(0, 1, 2)).toThrow('expected 1 or 2 bytes, got 0');
  });

  test('an array that was empty all along is empty, one that lost its memory is refused', () => {
    expect(readBytes('x', new Uint8Array(0)).length).toBe(0);
    const lost = new Uint8Array(4);
    const read = readBytes('x', lost);
    structuredClone(lost.buffer, { transfer: [lost.buffer] });
    expect(isBytes(lost)).toBe(true);
    expect(isIntact(lost)).toBe(false);
    expect(() => readBytes('key', lost)).toThrow('"key" is detached');
    expect(() => read.copy()).toThrow(TypeError);
  });
});

describe('readList', () => {
  const read = (value: unknown, most = 10) => readList('items', value, most, (x, i) => [i, x]);

  test('reads each element in order', () => {
    expect(read(['a', 'b'])).toEqual([
      [0, 'a'],
      [1, 'b'],
    ]);
    expect(read(runInContext('["a"]', createContext()))).toEqual([[0, 'a']]);
    expect(read([])).toEqual([]);
  });

  test('what is no array', () => {
    for (const value of [undefined, null, 'ab', { length: 0 }, new Set([1]), () => []]) {
      expect(() => read(value)).toThrow(TypeError);
    }
    expect(() => read(new Uint8Array(3))).toThrow('"items" expected an array, got Uint8Array');
  });

  test('stops at the first element that is refused, and before too many', () => {
    let count = 0;
    const refuse = () => {
      count++;
      throw new TypeError('no');
    };
    expect(() => readList('items', new Array(1e9), 1e9, refuse)).toThrow('no');
    expect(count).toBe(1);
    expect(() => read(new Array(11))).toThrow('"items" expected at most 10 elements');
  });
});

describe('readOptions', () => {
  test('own properties alone, each read once', () => {
    let reads = 0;
    const options = Object.create({ inherited: 1 }) as object;
    expect(() => readOptions(options, ['inherited'])).toThrow(TypeError);
    const given = {
      get a() {
        return ++reads;
      },
    };
    expect(readOptions(given, ['a', 'b'])).toEqual({ a: 1, b: undefined });
    expect(reads).toBe(1);
    expect(readOptions(undefined, ['a'])).toEqual({ a: undefined });
    expect(readOptions(runInContext('({ a: 2 })', createContext()), ['a'])).toEqual({ a: 2 });
  });

  test('what is wrong is named', () => {
    expect(() => readOptions({ c: 1 }, ['a'])).toThrow('unknown option "c" in "options"');
    expect(() => readOptions({ c: 1 }, ['a'], 'testSeed')).toThrow('in "testSeed"');
    expect(() => readOptions(null, ['a'])).toThrow('"options" expected a plain object, got null');
    expect(() => readOptions([], ['a'])).toThrow('got array');
    expect(() => readOptions(new Map(), ['a'])).toThrow('got Map');
    const proto = JSON.parse('{ "__proto__": { "a": 1 } }');
    expect(() => readOptions(proto, ['a'])).toThrow('unknown option "__proto__"');
  });
});

test('checkHook', () => {
  checkHook('onProgress', undefined);
  checkHook('onProgress', () => undefined);
  for (const hook of [null, 5, {}, 'f']) {
    expect(() => checkHook('onProgress', hook)).toThrow('"onProgress" expected a function');
  }
});
