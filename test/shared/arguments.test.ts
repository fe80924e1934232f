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
    ['a list', [1, 2], 'array'],
    ['a buffer', new ArrayBuffer(3), 'object'],
    ['words', new Uint16Array(3), 'object'],
    ['a DataView', new DataView(new ArrayBuffer(3)), 'object'],
    ['a lookalike', { length: 3, 0: 1 }, 'object'],
    ['a Proxy', new Proxy(new Uint8Array(3), {}), 'object'],
  ])('%s: a TypeError', (_, value, type) => {
    expect(() => readBytes('key', value)).toThrow(TypeError);
    expect(() => readBytes('key', value)).toThrow(`"key" expected Uint8Array, got ${type}`);
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
    expect(() => read(new Uint8Array(3))).toThrow('"items" expected an array, got object');
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
    expect(() => readOptions(new Map(), ['a'])).toThrow('got object');
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
