/** Signatures without header byte, and NIST's frame. */
import { describe, expect, test } from 'vitest';
import {
  fromBareSignature,
  joinAttached,
  splitAttached,
  toBareSignature,
} from '../../../src/falcon/keys/index.ts';
import { SETS, testItems, testKeys } from '../../support/ours.ts';

describe.each(SETS)('Falcon-$degree', ({ degree, falcon }) => {
  const items = testItems(degree, 6, { forms: ['compressed', 'padded'], label: 'bare' });
  const slot = falcon.lengths.signaturePadded;
  const { secretKey } = testKeys(degree);

  test('without its header byte, and back', () => {
    for (const { signature, message, publicKey } of items) {
      const bare = toBareSignature(signature);
      expect(bare.at(-1)).not.toBe(0);
      expect(bare).toEqual(signature.slice(1, 1 + bare.length));
      const back = fromBareSignature(bare, falcon.name);
      expect(back).toEqual(signature.slice(0, 1 + bare.length));
      expect(falcon.verify(back, message, publicKey)).toBe(true);
    }
  });

  test('in a slot filled up with zeros, as TRON’s contract has it, and back', () => {
    for (const { signature, message, publicKey } of items) {
      const filled = toBareSignature(signature, { length: slot });
      expect(filled.length).toBe(slot);
      expect(falcon.verify(fromBareSignature(filled, falcon.name), message, publicKey)).toBe(true);
    }
    const filled = toBareSignature(items[0]!.signature, { length: slot });
    const changed = filled.map((byte, i) => (i === 100 ? byte ^ 1 : byte));
    const { message, publicKey } = items[0]!;
    const back = fromBareSignature(changed, falcon.name);
    expect(falcon.verify(back, message, publicKey)).toBe(false);
  });

  test('attached to its message, as NIST’s crypto_sign has it', () => {
    for (const { signature, message, publicKey } of items) {
      const sealed = joinAttached(message, signature);
      expect(falcon.attached.open(sealed, publicKey)).toEqual(message);
      const compressed = fromBareSignature(toBareSignature(signature), falcon.name);
      const parts = { parameterSet: falcon.name, signature: compressed, message };
      expect(splitAttached(sealed)).toEqual(parts);
    }
    const sealed = falcon.attached.seal(Uint8Array.of(1, 2), secretKey);
    const { signature, message } = splitAttached(sealed);
    expect(joinAttached(message, signature)).toEqual(sealed);
  });

  test('every frame that is refused', () => {
    const sealed = joinAttached(items[0]!.message, items[0]!.signature);
    const last = (sealed[0]! << 8) | sealed[1]!;
    const change = (at: number, to: number) => sealed.map((byte, i) => (i === at ? to : byte));
    for (const input of [
      new Uint8Array(0),
      sealed.slice(0, 42),
      change(0, 0xff),
      change(1, sealed[1]! ^ 1),
      change(sealed.length - last, 0x39),
    ]) {
      expect(() => splitAttached(input)).toThrow(
        expect.objectContaining({ code: 'BAD_KEY', form: 'sm' }),
      );
    }
  });

  test('what is wrong with a file is named', () => {
    const { signature, message } = items[0]!;
    const hex = Buffer.from(signature).toString('hex');
    const mark = Uint8Array.of(0xef, 0xbb, 0xbf);
    const sealed = joinAttached(message, signature);
    const cases: [Uint8Array, RegExp][] = [
      [Buffer.from(hex), /text in hexadecimal/],
      [Buffer.from(`0x${hex}\n`), /text in hexadecimal/],
      [Buffer.from(hex.repeat(3)), /text in hexadecimal/],
      [Buffer.concat([mark, signature]), /a byte order mark is in front of it/],
      [Buffer.from(JSON.stringify({ signature: hex })), /begins as JSON does/],
      [Buffer.concat([signature, new Uint8Array(1462)]), /zeros are at its end, to be cut off/],
      [Uint8Array.of(0), /zeros are at its end/],
      [new Uint8Array(0), /has 0 bytes$/],
    ];
    for (const [input, what] of cases) {
      expect(() => toBareSignature(input)).toThrow(RangeError);
      expect(() => toBareSignature(input)).toThrow(what);
      expect(() => joinAttached(message, input)).toThrow(what);
    }
    expect(() => fromBareSignature(Buffer.from(hex), falcon.name)).toThrow(RangeError);
    expect(() => fromBareSignature(Buffer.from(hex), falcon.name)).toThrow(/in hexadecimal/);
    for (const [input, what] of [
      [
        Buffer.from(Buffer.from(sealed).toString('hex')),
        /attached to a message: it is text in hex/,
      ],
      [Buffer.concat([mark, sealed]), /attached to a message: a byte order mark/],
      [sealed.slice(1), /attached to a message$/],
    ] as const) {
      expect(() => splitAttached(input)).toThrow(what);
    }
    // A bare signature may begin with any bytes.
    for (const start of [mark, Uint8Array.of(0x7b), Uint8Array.of(0x20, 0x7b)]) {
      const bare = Uint8Array.of(...start, ...signature.slice(1 + start.length));
      expect(fromBareSignature(bare, falcon.name)[1]).toBe(start[0]);
    }
  });

  test('a caller’s mistakes', () => {
    const { signature, message } = items[0]!;
    const constantTime = falcon.sign(message, secretKey, { format: 'constantTime' });
    const filled = (length: number) => new Uint8Array(length).fill(0x30 + Math.log2(degree));
    expect(toBareSignature(filled(42)).length).toBe(41);
    expect(toBareSignature(filled(1462)).length).toBe(1461);
    for (const input of [constantTime, filled(41), filled(1463), filled(600).fill(0x49)]) {
      expect(() => toBareSignature(input)).toThrow(RangeError);
      expect(() => joinAttached(message, input)).toThrow(RangeError);
    }
    const { length: exact } = toBareSignature(signature);
    for (const length of [exact, 4096]) {
      expect(toBareSignature(signature, { length }).length).toBe(length);
    }
    for (const length of [0, exact - 1, 4097, exact + 0.5]) {
      expect(() => toBareSignature(signature, { length })).toThrow(/^"length" expected/);
    }
    expect(() => toBareSignature(signature, { size: 1 } as never)).toThrow(TypeError);
    expect(fromBareSignature(new Uint8Array(4096), falcon.name).length).toBe(1);
    expect(() => fromBareSignature(new Uint8Array(4097), falcon.name)).toThrow(RangeError);
    expect(() => fromBareSignature(signature, 'falcon256' as never)).toThrow(RangeError);
    for (const input of ['00', undefined, [1]]) {
      expect(() => toBareSignature(input as never)).toThrow(TypeError);
      expect(() => fromBareSignature(input as never, falcon.name)).toThrow(TypeError);
      expect(() => splitAttached(input as never)).toThrow(TypeError);
      expect(() => joinAttached(input as never, signature)).toThrow(TypeError);
    }
  });
});
