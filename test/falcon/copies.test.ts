/** Copies of secrets that the library makes outside of the module are zeros after every call. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { falcon512 as noble } from '../../src/falcon/compat/noble/index.ts';
import { EDITS } from '../../src/falcon/falcon.relaxed.wasm.gen.ts';
import { MODULE } from '../../src/falcon/falcon.wasm.gen.ts';
import { falcon512, useFalconModule } from '../../src/falcon/index.ts';
import { FALCON_512 } from '../../src/falcon/params.ts';
import { moduleBytes } from '../../src/shared/moduleEdits.ts';
import { bestModule } from '../../src/shared/wasmLoader.ts';
import { testKeys } from '../support/ours.ts';
import { testRandom } from '../support/random.ts';
import { foundSecrets, type Piece, secretPieces } from '../support/secretScan.ts';

const Plain = Uint8Array;
/** Every array made while it stands for Uint8Array, those of `slice` and `subarray` included. */
const made: Uint8Array[] = [];
class Watched extends Plain<ArrayBuffer> {
  // The parameters differ by overload.
  constructor(...given: [never]) {
    super(...given);
    made.push(this);
  }
}

const edits = bestModule() === 'relaxed' ? EDITS : undefined;
const shipped = new WebAssembly.Module(moduleBytes(MODULE, edits));

beforeAll(() => {
  vi.stubGlobal('Uint8Array', Watched);
  // The next call makes an instance whose regions are watched.
  useFalconModule(shipped);
});
afterAll(() => {
  vi.unstubAllGlobals();
  useFalconModule(shipped);
});
beforeEach(() => {
  made.length = 0;
});

const random = testRandom('copies');
const { secretKey } = testKeys(512);
const message = random.bytes(300);
const bytesOf = (text: string) => new Plain(Buffer.from(text, 'hex'));

/** The secrets left in arrays that were made since the test began, except for the results. */
function left(pieces: readonly Piece[], results: readonly Uint8Array[]): string[] {
  const own = new Set(results.map(({ buffer }) => buffer as unknown));
  const buffers = new Set(made.map(({ buffer }) => buffer).filter((each) => !own.has(each)));
  expect(buffers.size).toBeGreaterThan(0);
  return [...buffers].flatMap((buffer) => foundSecrets(new Plain(buffer), pieces));
}

const samplerSeed = random.bytes(48);
const salt = random.bytes(40);
const pieces = (() => {
  const expanded = falcon512.expandSecretKey(secretKey);
  const seed = random.bytes(48);
  return secretPieces({ params: FALCON_512, seed, secretKey, samplerSeed, expanded });
})();
async function* stream() {
  yield message.subarray(0, 100);
  yield message.subarray(100);
}

describe('signStream', () => {
  test.each([
    ['hedged', undefined],
    ['with the coins of a test', { salt, samplerSeed }],
  ])('leaves neither key, coins nor the state of the hash: %s', async (_, testSeed) => {
    const options = testSeed ? { testSeed } : {};
    const signature = await falcon512.signStream(stream(), secretKey, options);
    expect(left(pieces, [signature])).toEqual([]);
    const states = made.filter(({ length }) => length === 208 || length === 88);
    expect(states.length).toBeGreaterThanOrEqual(2);
    for (const state of states) expect(state.every((byte) => byte === 0)).toBe(true);
  });

  test('leaves nothing when the stream fails', async () => {
    const broken = async function* () {
      yield message;
      throw new Error('broken');
    };
    await expect(falcon512.signStream(broken(), secretKey)).rejects.toThrow('broken');
    expect(left(pieces, [])).toEqual([]);
    const states = made.filter(({ length }) => length === 208 || length === 88);
    for (const state of states) expect(state.every((byte) => byte === 0)).toBe(true);
  });

  test('uses the salt of the call, whatever becomes of the array meanwhile', async () => {
    const own = { salt: salt.slice(), samplerSeed: samplerSeed.slice() };
    const changing = async function* () {
      own.salt.fill(1);
      own.samplerSeed.fill(1);
      yield message;
    };
    const signature = await falcon512.signStream(changing(), secretKey, { testSeed: own });
    const testSeed = { salt, samplerSeed };
    expect(signature).toEqual(falcon512.sign(message, secretKey, { testSeed }));
  });
});

test('expandSecretKey, destroyed, leaves nothing', () => {
  const expanded = falcon512.expandSecretKey(secretKey);
  expect(left(pieces, [])).not.toEqual([]);
  expanded.destroy();
  expect(left(pieces, [])).toEqual([]);
});

describe('as noble', () => {
  test('sign leaves no copy of the key or of the caller’s random bytes', () => {
    const kept = samplerSeed.slice();
    const given = (length = 0) => (length === 48 ? kept : salt.slice());
    const signature = noble.sign(message, secretKey, { random: given });
    expect(left(pieces, [signature])).toEqual([]);
    // The caller's own array is the caller's.
    expect(kept).toEqual(samplerSeed);
    expect(noble.sign(message, secretKey, { random: given })).toEqual(signature);
  });

  test('a generator that returns one array again and again still gives salt and seed', () => {
    const pool = new Plain(48);
    const given = (length = 0) => {
      pool.set(length === 48 ? samplerSeed : salt);
      return pool.subarray(0, length);
    };
    const testSeed = { salt, samplerSeed };
    const expected = falcon512.sign(message, secretKey, { testSeed });
    expect(noble.sign(message, secretKey, { random: given })).toEqual(expected);
  });

  test('entropy counts with every byte of the message', () => {
    const extraEntropy = random.bytes(48);
    const salts = [0, 1, 150, 299].map((at) => {
      const other = message.slice();
      other[at]! ^= 1;
      return Buffer.from(noble.sign(other, secretKey, { extraEntropy }).subarray(1, 41));
    });
    salts.push(Buffer.from(noble.sign(message, secretKey, { extraEntropy }).subarray(1, 41)));
    expect(new Set(salts.map((each) => each.toString('hex'))).size).toBe(5);
    expect(left(pieces, [])).toEqual([]);
  });
});

test('the buffer of randomness is zeros after every call', () => {
  const drawn = bytesOf('a5'.repeat(48));
  const spy = vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    (array as Uint8Array).set(drawn.subarray(0, array!.byteLength));
    return array;
  });
  falcon512.sign(message, secretKey);
  const { secretKey: fresh } = falcon512.keygen();
  spy.mockRestore();
  const found: Piece[] = [['randomness', drawn.subarray(0, 16)]];
  expect(left(found, [fresh])).toEqual([]);
});
