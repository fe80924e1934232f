/** Calls do not nest: a caller's code may run before a call enters the module, never meanwhile. */
import { createContext, Script } from 'node:vm';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { BatchItem } from '../../src/falcon/index.ts';
import { machine, run } from '../../src/falcon/wasm.ts';
import { isCodedError } from '../../src/shared/errors.ts';
import { SETS, testItems, testKeys } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const { publicKey, secretKey } = testKeys(degree);
  const message = testRandom(`nesting ${degree}`).bytes(50);
  const signature = falcon.sign(message, secretKey);
  const forged = signature.with(60, signature[60]! ^ 1);

  afterEach(() => {
    vi.restoreAllMocks();
    expect(falcon.verify(signature, message, publicKey)).toBe(true);
    expect(falcon.verify(forged, message, publicKey)).toBe(false);
  });

  /** The message in an array that calls something whenever it is asked for its length. */
  function talking(bytes: Uint8Array, say: () => void): Uint8Array {
    class Talking extends Uint8Array {
      override get length(): number {
        say();
        return super.length;
      }
    }
    const array = new Talking(bytes.byteLength);
    Uint8Array.prototype.set.call(array, bytes);
    return array;
  }

  test('keygen inside of the message of sign: the salt is no row of zeros', () => {
    const keys: unknown[] = [];
    const own = falcon.sign(
      talking(message, () => keys.push(falcon.keygen())),
      secretKey,
    );
    expect(own.subarray(1, 41).some((byte) => byte !== 0)).toBe(true);
    expect(falcon.verify(own, message, publicKey)).toBe(true);
    expect(keys).toEqual([]);
  });

  test('getters of options and of a test seed run before, once each', () => {
    const random = testRandom('seed');
    const [salt, samplerSeed] = [random.bytes(40), random.bytes(48)];
    const asked: string[] = [];
    const getter = <T>(name: string, value: T): T => {
      asked.push(name);
      falcon.keygen();
      falcon.sign(message, secretKey);
      return value;
    };
    const options = {
      get format() {
        return getter('format', 'padded' as const);
      },
      get testSeed() {
        return getter('testSeed', {
          get salt() {
            return getter('salt', salt);
          },
          get samplerSeed() {
            return getter('samplerSeed', samplerSeed);
          },
        });
      },
    };
    const testSeed = { salt, samplerSeed };
    const expected = falcon.sign(message, secretKey, { format: 'padded', testSeed });
    expect(falcon.sign(message, secretKey, options)).toEqual(expected);
    expect(asked.sort()).toEqual(['format', 'salt', 'samplerSeed', 'testSeed']);
  });

  describe('a batch whose items call', () => {
    const good = testItems(degree, 40, { keys: 3 });
    const items = good.map((item, i) =>
      i % 4 === 1 ? { ...item, signature: item.signature.with(70, item.signature[70]! ^ 4) } : item,
    );
    const expected = falcon.verifyBatch(items);

    test.each<[string, (i: number) => void]>([
      ['verifyBatch', () => void falcon.verifyBatch(good)],
      ['verify', () => void falcon.verify(signature, message, publicKey)],
      ['keygen', () => void falcon.keygen()],
      ['sign', () => void falcon.sign(message, secretKey)],
    ])('%s: every forged item is named', (_, call) => {
      let asked = 0;
      const calling = items.map((item, i) => {
        const field = <K extends keyof BatchItem>(name: K) => ({
          enumerable: true,
          get() {
            asked++;
            call(i);
            return item[name];
          },
        });
        return Object.defineProperties({} as BatchItem, {
          signature: field('signature'),
          message: field('message'),
          publicKey: field('publicKey'),
        });
      });
      expect(expected).toHaveLength(10);
      expect(falcon.verifyBatch(calling)).toEqual(expected);
      expect(asked).toBe(3 * items.length);
    });

    test('an item may spoil the ones before it, and is told so', () => {
      const first = { ...good[0]!, message: Uint8Array.from(good[0]!.message) };
      const spoiling = {
        ...good[1]!,
        get message() {
          structuredClone(first.message, { transfer: [first.message.buffer] });
          return good[1]!.message;
        },
      };
      expect(() => falcon.verifyBatch([first, spoiling])).toThrow(TypeError);
      expect(falcon.verifyBatch(good)).toEqual([]);
    });
  });

  describe('lists that are not what they seem', () => {
    const item = { signature, message, publicKey };
    const list = (traps: ProxyHandler<BatchItem[]>) => new Proxy([item, item], traps);

    test('the length is read once, and so is every element', () => {
      const asked: string[] = [];
      const watched = list({
        get(target, name, receiver) {
          asked.push(String(name));
          return Reflect.get(target, name, receiver);
        },
      });
      expect(falcon.verifyBatch(watched)).toEqual([]);
      expect(asked.sort()).toEqual(['0', '1', 'length']);
    });

    test.each([Number.NaN, -1, 1.5, '2', 2 ** 60, Number.POSITIVE_INFINITY, undefined, {}])(
      'a length of %s is refused',
      (length) => {
        // The length of an array's Proxy is anything as long as the array's own can be changed.
        const lying = list({ get: (_, name) => (name === 'length' ? length : item) });
        expect(() => falcon.verifyBatch(lying)).toThrow(/"items"/);
      },
    );

    test('too many, holes, elements that are missing', () => {
      expect(() => falcon.verifyBatch(new Array(2 ** 32 - 1))).toThrow(RangeError);
      expect(() => falcon.verifyBatch(new Array(5))).toThrow(/"items\[0\]" expected an object/);
      const longer = list({ get: (t, name) => (name === 'length' ? 3 : Reflect.get(t, name)) });
      expect(() => falcon.verifyBatch(longer)).toThrow(/"items\[2\]" expected an object/);
      expect(() => falcon.verifyBatch({ length: 1, 0: item } as never)).toThrow(TypeError);
      expect(() => falcon.verifyBatch(new Set([item]) as never)).toThrow(TypeError);
    });

    test('an array of another realm is an array', () => {
      const context = createContext({ item, forged: { ...item, signature: forged } });
      const foreign = new Script('[item, forged, item]').runInContext(context);
      expect(Object.getPrototypeOf(foreign)).not.toBe(Array.prototype);
      expect(falcon.verifyBatch(foreign).map(({ index }) => index)).toEqual([1]);
    });
  });

  describe('a host’s randomness that calls', () => {
    const inside = (call: () => unknown) => {
      const { crypto } = globalThis;
      const drawn = crypto.getRandomValues.bind(crypto);
      const errors: unknown[] = [];
      let depth = 0;
      vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
        if (depth++ === 0) {
          try {
            call();
          } catch (error) {
            errors.push(error);
          }
        }
        depth--;
        return drawn(array);
      });
      return errors;
    };

    test.each<[string, () => unknown]>([
      ['sign', () => falcon.sign(message, secretKey)],
      ['keygen', () => falcon.keygen(new Uint8Array(48))],
      ['verify', () => falcon.verify(signature, message, publicKey)],
      ['verifyBatch', () => falcon.verifyBatch([{ signature, message, publicKey }])],
      ['getPublicKey', () => falcon.getPublicKey(secretKey)],
    ])('%s: both calls are as good as any, as the module is not entered yet', (_, call) => {
      const errors = inside(call);
      const own = falcon.sign(message, secretKey);
      expect(own.subarray(1, 41).some((byte) => byte !== 0)).toBe(true);
      expect(falcon.verify(own, message, publicKey)).toBe(true);
      const pair = falcon.keygen();
      expect(errors).toEqual([]);
      expect(falcon.getPublicKey(pair.secretKey)).toEqual(pair.publicKey);
    });

    test('what it throws ends the call and nothing else', () => {
      const cause = new Error('no entropy');
      vi.spyOn(globalThis.crypto, 'getRandomValues').mockImplementation(() => {
        throw cause;
      });
      expect(() => falcon.sign(message, secretKey)).toThrow(
        expect.objectContaining({ code: 'NO_RANDOMNESS', cause }),
      );
      vi.restoreAllMocks();
      expect(falcon.verify(falcon.sign(message, secretKey), message, publicKey)).toBe(true);
    });
  });

  test('a call that the host broke off does not close the module for ever', async () => {
    const sandbox = createContext({ call: () => falcon.keygen() });
    const endless = new Script('for (;;) call()');
    for (let i = 0; i < 5; i++) {
      const broken = machine(falcon.module);
      expect(() => endless.runInContext(sandbox, { timeout: 30 })).toThrow(/timed out/);
      if (!broken.isEntered) continue; // between two calls
      expect(() => falcon.keygen()).toThrow(expect.objectContaining({ code: 'REENTERED' }));
      await Promise.resolve();
      expect(broken.memory.some((byte) => byte !== 0)).toBe(false);
    }
    const pair = falcon.keygen();
    expect(falcon.verify(falcon.sign(message, pair.secretKey), message, pair.publicKey)).toBe(true);
  });
});

test('a nested entry throws before it changes anything', () => {
  const outer = machine('plain');
  const seen = run('plain', false, (running) => {
    const before = running.memory.slice();
    let error: unknown;
    try {
      run('plain', true, () => undefined);
    } catch (caught) {
      error = caught;
    }
    expect(Buffer.compare(before, running.memory)).toBe(0);
    return error;
  });
  expect(isCodedError(seen) && seen.code).toBe('REENTERED');
  expect(machine('plain')).toBe(outer);
  expect(run('plain', false, () => 5)).toBe(5);
});
