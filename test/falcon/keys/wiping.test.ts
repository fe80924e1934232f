/**
 * Copies of secrets are zero after every call. The module looks its methods up once, so its memory
 * is watched where it is allocated.
 */
import { describe, expect, test, vi } from 'vitest';
import type * as Keys from '../../../src/falcon/keys/index.ts';
import { SETS, testKeys } from '../../support/ours.ts';

const FORMS = ['raw', 'bare', 'extended', 'pkcs8', 'pem', 'jwk', 'json'] as const;
const LAYOUTS = ['oqs', 'bouncyCastle'] as const;

/** The buffers of all arrays that were made since the last `clear`. */
const made = new Set<ArrayBufferLike>();
const Watched: typeof Uint8Array = new Proxy(Uint8Array, {
  construct(target, args, newTarget) {
    const array: Uint8Array = Reflect.construct(
      target,
      args,
      newTarget === Watched ? target : newTarget,
    );
    made.add(array.buffer);
    return array;
  },
});

/** Loads the module anew, so that all its memory is watched. */
async function watched(use: (keys: typeof Keys) => Promise<void> | void): Promise<void> {
  vi.resetModules();
  vi.stubGlobal('Uint8Array', Watched);
  try {
    await use(await import('../../../src/falcon/keys/index.ts'));
  } finally {
    vi.unstubAllGlobals();
    vi.resetModules();
  }
}

function asInput(wrapped: unknown): Buffer {
  if (ArrayBuffer.isView(wrapped)) return Buffer.from(wrapped as Uint8Array);
  return Buffer.from(typeof wrapped === 'string' ? wrapped : JSON.stringify(wrapped));
}

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const { secretKey } = testKeys(degree);
  const part = Buffer.from(secretKey.subarray(300, 360));
  const texts = ['base64', 'base64url', 'hex'] as const;
  const windows = [part, ...texts.map((text) => Buffer.from(part.toString(text).slice(4, 40)))];

  /** The buffers that hold a part of the secret key, except those kept. */
  function left(...kept: unknown[]): unknown[] {
    expect(made.size).toBeGreaterThan(0);
    const held = [...made].filter(
      (buffer) =>
        !kept.includes(buffer) &&
        buffer.byteLength < 65_536 &&
        windows.some((window) => Buffer.from(buffer).includes(window)),
    );
    made.clear();
    return held;
  }

  test.each(FORMS)('%s: import, of either kind, and export', (form) =>
    watched((keys) => {
      for (const layout of LAYOUTS) {
        const input = asInput(keys.exportSecretKey(secretKey, { form, layout }));
        for (const parameterSet of ['falcon512', 'falcon1024'] as const) {
          made.clear();
          let key: unknown;
          try {
            key = keys.importSecretKey(input, { parameterSet }).key.buffer;
          } catch {
            // The other parameter set.
          }
          expect(key !== undefined).toBe(parameterSet === falcon.name);
          expect(left(key, input.buffer), parameterSet).toEqual([]);
        }
        expect(() => keys.importPublicKey(input, { form: 'spki' })).toThrow();
        expect(left(input.buffer), 'as a public key').toEqual([]);
        const result: unknown = keys.exportSecretKey(secretKey, { form, layout });
        expect(left((result as Partial<Uint8Array>).buffer), 'export').toEqual([]);
      }
    }),
  );

  test('encryption and decryption', () =>
    watched(async (keys) => {
      const options = { kdf: 'pbkdf2', iterations: 1000 } as const;
      made.clear();
      const encrypted = await keys.exportEncryptedSecretKey(secretKey, 'pass', options);
      expect(left(), 'encryption').toEqual([]);
      const { key } = await keys.importEncryptedSecretKey(encrypted, 'pass');
      expect(left(key.buffer), 'decryption').toEqual([]);
    }));
});
