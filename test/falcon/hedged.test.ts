/**
 * Hedged signing: salt and coins from key, randomness and message, against the definition in
 * assembly/falcon/hedged.ts, written again here; and what keeps one point from two signatures.
 */
import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createFalcon, type SignatureFormat } from '../../src/falcon/index.ts';
import { ethFalcon512 } from '../../src/falcon/profiles/ethFalcon.ts';
import { BUILDS, falconOf, testKeys } from '../support/ours.ts';
import type { Degree } from '../support/peers.ts';
import { testRandom } from '../support/random.ts';
import { signingModule } from '../support/signingModule.ts';

const FORMATS = ['compressed', 'padded', 'constantTime'] as const;
const DEGREES = [512, 1024] as const;

const shake = (length: number, ...parts: readonly Uint8Array[]) =>
  createHash('shake256', { outputLength: length }).update(Buffer.concat(parts)).digest();

/** The sponge's output after the point: 64 bytes after the last block that the point needs. */
function digestAfterPoint(degree: Degree, format: number, input: Uint8Array): Buffer {
  let blocks = degree === 512 ? 11 : 20;
  const out = shake(136 * 40, input);
  if (format !== 2) {
    let kept = 0;
    for (blocks = 0; kept < degree; blocks++) {
      for (let at = 0; at < 136; at += 2) {
        if (out.readUInt16BE(136 * blocks + at) < 61445) kept++;
      }
    }
  }
  return out.subarray(136 * blocks, 136 * blocks + 64);
}

interface Hedged {
  readonly degree: Degree;
  readonly secretKey: Uint8Array;
  readonly format: number;
  readonly r: Uint8Array;
  readonly profile?: number;
}

function parts({ degree, secretKey, format, r, profile = 0 }: Hedged): Uint8Array[] {
  const logn = degree === 512 ? 9 : 10;
  const label = Buffer.from('falconry hedged v1');
  return [label, Uint8Array.of(logn), secretKey, Uint8Array.of(profile, format), r];
}

const saltOf = (hedged: Hedged) => shake(40, ...parts(hedged), Uint8Array.of(0));

/** Replaces the host's randomness; counts the calls. */
function stub(fill: (array: Uint8Array) => void) {
  return vi.spyOn(globalThis.crypto, 'getRandomValues').mockImplementation((array) => {
    fill(array as Uint8Array);
    return array;
  });
}
const always = (r: Uint8Array) => stub((array) => array.set(r.subarray(0, array.length)));

afterEach(() => vi.restoreAllMocks());

async function* inPieces(message: Uint8Array, step: number) {
  for (let at = 0; at < message.length; at += step) yield message.subarray(at, at + step);
}

const { exports, at, bytes } = await signingModule();

describe.each(DEGREES)('Falcon-%i', (degree) => {
  const falcon = falconOf(degree);
  const random = testRandom(`hedged ${degree}`);
  const { secretKey, publicKey } = testKeys(degree);
  const logn = degree === 512 ? 9 : 10;

  test.each([0, 1, 2])('the salt and the coins of format %i are as defined', (format) => {
    const r = random.bytes(48);
    const message = random.bytes(100);
    const salt = saltOf({ degree, secretKey, format, r });
    bytes('SK', secretKey.length).set(secretKey);
    exports.expandSecretKey!(logn);
    exports.absorbKey!(logn, 2);
    bytes('SEED', 88).set(r, 40);
    exports.startHedged!(logn, format, 0);
    expect(Buffer.from(bytes('SEED', 40))).toEqual(salt);
    bytes('IN', 100).set(message);
    const length = exports.signHedged!(logn, format, 100, 0);
    expect(length).toBeGreaterThan(0);
    const d = digestAfterPoint(degree, format, Buffer.concat([salt, message]));
    const coins = shake(56, ...parts({ degree, secretKey, format, r }), Uint8Array.of(1), d);
    const used = new Uint8Array(exports.memory.buffer, at('SEEDS') + 256, 56);
    expect(Buffer.from(used)).toEqual(coins);

    always(r);
    const signature = falcon.sign(message, secretKey, { format: FORMATS[format]! });
    expect(signature).toEqual(bytes('SIG', length).slice());
    expect(falcon.verify(signature, message, publicKey)).toBe(true);
  });

  test.each(FORMATS)(
    'one signature on every way: key, expanded key, stream, build: %s',
    async (format) => {
      for (const size of [0, 33, 20_000]) {
        const message = random.bytes(size);
        const drawn = always(random.bytes(48));
        const expected = falcon.sign(message, secretKey, { format });
        for (const { sets } of BUILDS) {
          const { falcon: build } = sets.find((set) => set.degree === degree)!;
          const expanded = build.expandSecretKey(secretKey);
          const streamed = (key: Uint8Array | typeof expanded) =>
            build.signStream(inPieces(message, 7000), key, { format });
          expect(build.sign(message, secretKey, { format })).toEqual(expected);
          expect(build.sign(message, expanded, { format })).toEqual(expected);
          expect(await streamed(secretKey)).toEqual(expected);
          expect(await streamed(expanded)).toEqual(expected);
        }
        // Once for each signature, and nothing after the salt.
        expect(drawn.mock.calls.map(([array]) => array!.byteLength)).toEqual(Array(9).fill(48));
        drawn.mockRestore();
      }
    },
  );

  test('attached signatures are the same, and so is their randomness', () => {
    const message = random.bytes(50);
    const drawn = always(random.bytes(48));
    const sealed = falcon.attached.seal(message, secretKey);
    const signature = falcon.sign(message, secretKey);
    expect(sealed.subarray(2, 42)).toEqual(signature.subarray(1, 41));
    expect(sealed.subarray(-(signature.length - 41))).toEqual(signature.subarray(41));
    expect(drawn).toHaveBeenCalledTimes(2);
  });

  test('a constant generator: a message has one signature, another message other coins', () => {
    always(random.bytes(48));
    const messages = [random.bytes(32), random.bytes(32)];
    const [first, second] = messages.map((message) => falcon.sign(message, secretKey));
    expect(first!.subarray(1, 41)).toEqual(second!.subarray(1, 41));
    expect(first!.subarray(41)).not.toEqual(second!.subarray(41));
    expect(falcon.sign(messages[0]!, secretKey)).toEqual(first);
  });

  test('the salt depends on randomness, key and format', () => {
    const r = random.bytes(48);
    const salts = new Set<string>();
    const add = (key: Uint8Array, format: SignatureFormat, given: Uint8Array) => {
      const drawn = always(given);
      salts.add(Buffer.from(falcon.sign(r, key, { format }).subarray(1, 41)).toString('hex'));
      drawn.mockRestore();
    };
    for (const format of FORMATS) add(secretKey, format, r);
    add(testKeys(degree, 1).secretKey, 'compressed', r);
    for (const place of [0, 17, 47]) add(secretKey, 'compressed', r.with(place, r[place]! ^ 1));
    expect(salts.size).toBe(7);
  });
});

describe('ETHFALCON', () => {
  const { secretKey, publicKey } = testKeys(512);
  const random = testRandom('hedged eth');

  test('has its own salts, and coins from its own sponge', async () => {
    const r = random.bytes(48);
    const message = random.bytes(300);
    always(r);
    const signature = ethFalcon512.sign(message, secretKey);
    const salt = saltOf({ degree: 512, secretKey, format: 0, r, profile: 2 });
    expect(Buffer.from(signature.subarray(1, 41))).toEqual(salt);
    expect(ethFalcon512.verify(signature, message, publicKey)).toBe(true);
    const expanded = ethFalcon512.expandSecretKey(secretKey);
    expect(ethFalcon512.sign(message, expanded)).toEqual(signature);
    expect(await ethFalcon512.signStream(inPieces(message, 99), expanded)).toEqual(signature);
    expect(ethFalcon512.sign(message.with(0, message[0]! ^ 1), expanded)).not.toEqual(signature);
  });

  test('has coins of the digest from which its point is derived', () => {
    const r = random.bytes(48);
    const hedged = { degree: 512, secretKey, format: 1, r, profile: 2 } as const;
    const salt = saltOf(hedged);
    const message = random.bytes(200);
    bytes('SK', secretKey.length).set(secretKey);
    exports.expandSecretKey!(9);
    exports.absorbKey!(9, 2);
    bytes('SEED', 88).set(r, 40);
    exports.startHedged!(9, 1, 2);
    bytes('IN', 200).set(message);
    const length = exports.signHedged!(9, 1, 200, 2);
    const digest = keccak_256(Buffer.concat([salt, message]));
    const d = Buffer.concat([digest, new Uint8Array(32)]);
    const used = new Uint8Array(exports.memory.buffer, at('SEEDS') + 256, 56);
    expect(Buffer.from(used)).toEqual(shake(56, ...parts(hedged), Uint8Array.of(1), d));
    always(r);
    const signature = ethFalcon512.sign(message, secretKey, { format: 'padded' });
    expect(signature).toEqual(bytes('SIG', length).slice());
  });

  test('has no derived salts, whose labels are those of round 3', async () => {
    const options = { salt: 'derived' } as const;
    const sign = () => ethFalcon512.sign(new Uint8Array(3), secretKey, options);
    expect(sign).toThrow('"salt" is no option in eth-falcon');
    const seal = () => ethFalcon512.attached.seal(new Uint8Array(3), secretKey, options);
    expect(seal).toThrow(RangeError);
    const streamed = ethFalcon512.signStream(inPieces(secretKey, 9), secretKey, options as never);
    await expect(streamed).rejects.toThrow(TypeError);
  });

  test('one expanded key signs in both profiles, each with its own salt', () => {
    const expanded = createFalcon('falcon512').expandSecretKey(secretKey);
    always(random.bytes(48));
    const salts = [falconOf(512), ethFalcon512].map((falcon) =>
      falcon.sign(new Uint8Array(3), expanded).subarray(1, 41),
    );
    expect(salts[0]).not.toEqual(salts[1]);
  });
});
