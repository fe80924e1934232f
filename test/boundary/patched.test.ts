/**
 * A page that patches the built-in functions after the library was loaded sees no secret of
 * falconry/keys: not as `this`, not as an argument or result, not in parts, not digit by digit.
 * What WebCrypto and scrypt of @noble/hashes are given is exempt (SECURITY.md).
 */
import { describe, expect, test } from 'vitest';
import * as keys from '../../src/falcon/keys/index.ts';
import { testKeys } from '../support/ours.ts';

const { publicKey, secretKey } = testKeys(512);
const PASSPHRASE = 'a long passphrase, ключ, that nobody would guess';
const PASSPHRASE_BYTES = new TextEncoder().encode(PASSPHRASE);

const typedArray = Object.getPrototypeOf(Uint8Array) as { readonly prototype: object };
const PATCHED: readonly [string, object][] = [
  ['Uint8Array', Uint8Array],
  ['Uint8Array.prototype', Uint8Array.prototype],
  ['%TypedArray%', typedArray],
  ['%TypedArray%.prototype', typedArray.prototype],
  ['ArrayBuffer', ArrayBuffer],
  ['ArrayBuffer.prototype', ArrayBuffer.prototype],
  ['DataView.prototype', DataView.prototype],
  ['Array', Array],
  ['Array.prototype', Array.prototype],
  ['%ArrayIterator%.prototype', Object.getPrototypeOf([].values())],
  ['String', String],
  ['String.prototype', String.prototype],
  ['%StringIterator%.prototype', Object.getPrototypeOf(''[Symbol.iterator]())],
  ['RegExp.prototype', RegExp.prototype],
  ['JSON', JSON],
  ['Object', Object],
  ['Number', Number],
  ['Math', Math],
  ['Set.prototype', Set.prototype],
  ['Map.prototype', Map.prototype],
  ['Reflect', Reflect],
  ['Function.prototype', Function.prototype],
  ['TextDecoder.prototype', TextDecoder.prototype],
  ['TextEncoder.prototype', TextEncoder.prototype],
  ['Buffer.prototype', Buffer.prototype],
];

/** Every run of 16 secret bytes contains one of these, in whatever encoding it is. */
const raw = Buffer.from(secretKey);
const WINDOWS: readonly Buffer[] = [
  ...Array.from({ length: 160 }, (_, i) => raw.subarray(8 * i, 8 * i + 8)),
  ...Array.from({ length: 160 }, (_, i) =>
    Buffer.from(raw.subarray(8 * i, 8 * i + 8).toString('hex')),
  ),
  ...[0, 1, 2].flatMap((shift) => {
    const text = raw.subarray(shift).toString('base64');
    const url = raw.subarray(shift).toString('base64url');
    const count = Math.floor(text.length / 8) - 1;
    return [text, url].flatMap((each) =>
      Array.from({ length: count }, (_, i) => Buffer.from(each.slice(8 * i, 8 * i + 12))),
    );
  }),
  ...Array.from({ length: 5 }, (_, i) => Buffer.from(PASSPHRASE).subarray(8 * i, 8 * i + 8)),
];
const STARTS = new Map(WINDOWS.map((window) => [window.readUInt32BE(), window]));
/** More is memory of scrypt. */
const MOST = 2 ** 21;

function isSecret(bytes: Buffer): boolean {
  const { length } = bytes;
  let start = 0;
  for (let i = 0; i < length && i < MOST; i++) {
    start = ((start << 8) | bytes[i]!) >>> 0;
    const window = i < 3 ? undefined : STARTS.get(start);
    if (window?.equals(bytes.subarray(i - 3, i - 3 + window.length))) {
      return true;
    }
  }
  return false;
}

/** The originals, for the observer itself. */
const { apply, construct, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;

/** Returns whether a value holds secret bytes, also deeper inside. */
function holdsSecret(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.length >= 8 && isSecret(Buffer.from(value));
  if (typeof value !== 'object' || value === null || depth > 2) return false;
  // A view gives away the whole buffer.
  if (ArrayBuffer.isView(value)) return holdsSecret(value.buffer, depth);
  if (value instanceof ArrayBuffer) return isSecret(Buffer.from(value));
  if (Array.isArray(value) && value.length >= 8 && value.every((one) => typeof one === 'number')) {
    return isSecret(Buffer.from(value));
  }
  // Only what the library could hand over: a list, options, a JWK.
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  const values = isPlain ? Object.values(value) : [];
  return values.length < 50 && values.some((one) => holdsSecret(one, depth + 1));
}

type Wrap = (name: string, original: (...args: never[]) => unknown) => unknown;

/** Replaces every function and getter. @returns what restores them */
function patchAll(wrap: Wrap, setBusy: (busy: boolean) => void): (() => void)[] {
  const undo: (() => void)[] = [];
  for (const [owner, object] of PATCHED) {
    for (const key of ownKeys(object)) {
      const found = getOwnPropertyDescriptor(object, key)!;
      const name = `${owner}.${String(key)}`;
      if (key === 'constructor' || key === 'prototype' || !found.configurable) continue;
      const patch = { ...found };
      if (found.get) patch.get = wrap(name, found.get as never) as () => unknown;
      else if (typeof found.value === 'function') patch.value = wrap(name, found.value as never);
      else continue;
      undo.push(() => defineProperty(object, key, found));
      setBusy(true);
      defineProperty(object, key, patch);
      setBusy(false);
    }
  }
  return undo;
}

/** Patches everything, runs the call, and returns the names of the functions that saw a secret. */
async function whoSaw(call: () => unknown): Promise<string[]> {
  const seen = new Set<string>();
  const numbers = new Map<string, number[]>();
  let isBusy = false;
  const look = (name: string, values: () => readonly unknown[]) => {
    if (isBusy) return;
    isBusy = true;
    try {
      for (const [i, value] of seen.has(name) ? [] : values().entries()) {
        if (typeof value === 'number') {
          const list = numbers.get(`${name} ${i}`) ?? [];
          numbers.set(`${name} ${i}`, list);
          list.push(value);
        } else if (holdsSecret(value) && !`${new Error().stack}`.includes('@noble/hashes')) {
          seen.add(name);
        }
      }
    } catch {
      // A prototype with accessors: no value of the library.
    } finally {
      isBusy = false;
    }
  };
  const wrap = (name: string, original: (...args: never[]) => unknown) =>
    function (this: unknown, ...args: unknown[]): unknown {
      look(name, () => [this, ...args]);
      const result = new.target
        ? construct(original, args)
        : apply(original, this, args as never[]);
      look(`${name} result`, () => [result]);
      return result;
    };
  const undo = patchAll(wrap, (busy) => {
    isBusy = busy;
  });
  try {
    await call();
  } catch {
    // A call that throws must be as silent.
  } finally {
    isBusy = true;
    for (let i = 0; i < undo.length; i++) undo[i]!();
  }
  for (const [name, list] of numbers) {
    const bytes = Buffer.from(list.filter((one) => one >= 0 && one < 256));
    if (isSecret(bytes)) seen.add(`${name}, one by one`);
  }
  return [...seen];
}

const FORMS = ['raw', 'bare', 'extended', 'pkcs8', 'pem', 'jwk', 'json'] as const;
const cheap = { kdf: 'pbkdf2', iterations: 1000 } as const;
const encrypted = await keys.exportEncryptedSecretKey(secretKey, PASSPHRASE, cheap);
const scrypted = await keys.exportEncryptedSecretKey(secretKey, PASSPHRASE);

describe('the observer itself', () => {
  test.each<[string, () => unknown, string]>([
    ['a view', () => secretKey.subarray(3, 4), '%TypedArray%.prototype.subarray'],
    ['a length', () => secretKey.length, '%TypedArray%.prototype.length'],
    ['an iteration', () => [...secretKey], '%TypedArray%.prototype.Symbol(Symbol.iterator)'],
    ['a part', () => secretKey.slice(100, 116).at(0), '%TypedArray%.prototype.at'],
    ['text', () => JSON.parse(JSON.stringify(raw.toString('base64'))), 'JSON.stringify'],
    ['hex', () => raw.toString('hex').charCodeAt(0), 'String.prototype.charCodeAt'],
    [
      'base64 of a part',
      () => raw.subarray(1, 40).toString('base64').trim(),
      'String.prototype.trim',
    ],
    ['a list', () => Object.keys([secretKey]), 'Object.keys'],
    [
      'one by one',
      () => {
        for (let i = 0; i < 100; i++) Math.abs(secretKey[i]!);
      },
      'Math.abs 1, one by one',
    ],
    ['a passphrase', () => PASSPHRASE.slice(3), 'String.prototype.slice'],
  ])('sees %s', async (_, call, name) => {
    expect(await whoSaw(call)).toContain(name);
  });

  test('sees nothing where nothing is', async () => {
    expect(
      await whoSaw(() => [...publicKey.slice(0, 20)].map((byte) => byte.toString(16))),
    ).toEqual([]);
  });
});

describe.each(FORMS)('%s', (form) => {
  const layouts = form === 'pkcs8' || form === 'pem' ? (['oqs', 'bouncyCastle'] as const) : ['oqs'];
  test.each(layouts as ('oqs' | 'bouncyCastle')[])('import and export, %s', async (layout) => {
    const wrapped = keys.exportSecretKey(secretKey, { form, layout });
    const inputs: unknown[] = [wrapped];
    if (!ArrayBuffer.isView(wrapped)) {
      const text = typeof wrapped === 'string' ? wrapped : JSON.stringify(wrapped);
      const bytes = new Uint8Array(new TextEncoder().encode(text));
      inputs.push(
        text,
        `\ufeff${text}`,
        bytes,
        `\n${text.slice(0, -20)}`,
        text.replaceAll('\n', ''),
      );
    } else {
      const hex = Buffer.from(wrapped as Uint8Array).toString('hex');
      inputs.push((wrapped as Uint8Array).slice(1), hex);
    }
    for (const input of inputs) {
      expect(await whoSaw(() => keys.importSecretKey(input as string))).toEqual([]);
      expect(await whoSaw(() => keys.importPublicKey(input as string))).toEqual([]);
      const opening = () => keys.importEncryptedSecretKey(input as string, PASSPHRASE);
      expect(await whoSaw(opening)).toEqual([]);
    }
    const again = () => keys.exportSecretKey(secretKey, { form, layout });
    expect(await whoSaw(again)).toEqual([]);
  });
});

test.each<[string, () => unknown]>([
  ['encryption', () => keys.exportEncryptedSecretKey(secretKey, PASSPHRASE, cheap)],
  ['encryption by scrypt', () => keys.exportEncryptedSecretKey(secretKey, PASSPHRASE)],
  ['decryption', () => keys.importEncryptedSecretKey(encrypted, PASSPHRASE)],
  ['decryption by scrypt', () => keys.importEncryptedSecretKey(scrypted, PASSPHRASE)],
  ['a wrong passphrase', () => keys.importEncryptedSecretKey(encrypted, `${PASSPHRASE}!`)],
  ['half a pair', () => keys.importEncryptedSecretKey(encrypted, `${PASSPHRASE}\ud800`)],
  ['passphraseKey', () => keys.passphraseKey(PASSPHRASE_BYTES, new Uint8Array(16))],
  ['a passphrase in bytes', () => keys.importEncryptedSecretKey(encrypted, PASSPHRASE_BYTES)],
])('%s', async (_, call) => {
  expect(await whoSaw(call)).toEqual([]);
});
