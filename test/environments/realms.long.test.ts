/** Realms with few globals: what needs none of them works, and the rest names what is missing. */
import { webcrypto } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundle } from '../boundary/bundle.ts';

let library: string;
let verifier: string;
beforeAll(async () => {
  library = await bundle('index.ts', 'iife');
  verifier = await bundle('falcon/verifyOnly.ts', 'iife');
});

/** A realm with these globals and those of the language; WebAssembly is one of them in V8. */
function realm(globals: object): (code: string) => unknown {
  const context = createContext({ ...globals });
  runInContext(library, context);
  return (code) => runInContext(`(async () => { const f = falconry; ${code} })()`, context);
}

const ITEMS = `
  const items = [1, 2, 3].map((i) => {
    const { publicKey, secretKey } = f.falcon512.keygen();
    const message = Uint8Array.of(i);
    return { publicKey, message, signature: f.falcon512.sign(message, secretKey) };
  });`;

describe('a realm with crypto alone', () => {
  const run = (code: string) => realm({ crypto: webcrypto })(code);

  test.each(['proof', 'bundle'])('aggregates and verifies a %s', async (format) => {
    expect(
      await run(`${ITEMS}
        const made = await f.aggregate(items, { format: '${format}', threads: 2 });
        return [f.verifyAggregate(made, items), await f.verifyAggregateAsync(made, items)];`),
    ).toEqual([true, true]);
  });

  test('finds invalid items in pools, which close', async () => {
    expect(
      await run(`${ITEMS}
        items[1].signature[60] ^= 1;
        const pool = f.createAggregatePool();
        const invalid = await pool.findInvalid(items);
        await pool.close();
        const late = await pool.findInvalid(items).catch(({ code }) => code);
        const verifiers = f.createVerifyPool();
        const wrong = await verifiers.verifyBatch(items);
        await verifiers.close();
        const gone = await verifiers.verifyBatch(items).catch(({ code }) => code);
        return [invalid.length, late, wrong.length, gone].join();`),
    ).toBe('1,ABORTED,1,ABORTED');
  });

  test('a signal is whatever behaves like one', async () => {
    const signal = `const listeners = new Set();
      const signal = {
        aborted: false,
        reason: 'enough',
        addEventListener: (_, listener) => listeners.add(listener),
        removeEventListener: (_, listener) => listeners.delete(listener),
      };`;
    expect(
      await run(`${ITEMS} ${signal}
        const pool = f.createAggregatePool();
        const invalid = await pool.findInvalid(items, { signal });
        const left = listeners.size;
        signal.aborted = true;
        const error = await f.aggregate(items, { signal }).catch((error) => error);
        return [invalid.length, left, error.code, error.cause].join();`),
    ).toBe('0,0,ABORTED,enough');
  });

  test('no call ends with a ReferenceError', async () => {
    expect(
      await run(`${ITEMS}
        const names = [];
        for (const call of [
          () => f.createAggregatePool({ workerUrl: 'worker.js' }),
          () => f.createVerifyPool({ workerUrl: 'worker.js' }),
          () => f.aggregate(items, { workerUrl: 'worker.js', threads: 2 }),
          () => f.aggregate(items, { signal: 1 }),
          () => f.createVerifyPool().verifyBatch(items, { signal: {} }),
          () => f.statementCommitment(items),
        ]) {
          try {
            await call();
            names.push('none');
          } catch ({ name, message }) {
            names.push(name + ': ' + message);
          }
        }
        return names.join('; ');`),
    ).toBe(
      [
        ...new Array(3).fill('TypeError: "workerUrl": this host has no URL'),
        'TypeError: "signal" expected an AbortSignal, got number',
        'TypeError: "signal" expected an AbortSignal, got object',
        'none',
      ].join('; '),
    );
  });
});

describe('an audio worklet, which has WebAssembly and the language', () => {
  test('verifies, with the whole library and with the small entry', async () => {
    const { item } = (await realm({ crypto: webcrypto })(
      `${ITEMS} return { item: items[0] };`,
    )) as { item: Record<string, Uint8Array> };
    const context = createContext({ item });
    runInContext(library, context);
    runInContext(verifier.replace('falconry', 'small'), context);
    for (const name of ['falconry', 'small']) {
      const call = (message: string) =>
        runInContext(
          `${name}.falcon512.verify(item.signature, ${message}, item.publicKey)`,
          context,
        );
      expect(call('item.message')).toBe(true);
      expect(call('item.publicKey')).toBe(false);
    }
  });

  test.each(['keygen()', 'sign(new Uint8Array(1), falconry.falcon512.keygen(seed).secretKey)'])(
    '%s says NO_RANDOMNESS',
    (call) => {
      const context = createContext({ seed: new Uint8Array(48).fill(1) });
      runInContext(library, context);
      expect(() => runInContext(`falconry.falcon512.${call}`, context)).toThrow(
        expect.objectContaining({ code: 'NO_RANDOMNESS', name: 'CodedError' }),
      );
    },
  );
});
