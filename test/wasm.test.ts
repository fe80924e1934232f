import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import * as relaxed from '../src/falcon/falcon.relaxed.wasm.gen.ts';
import * as plain from '../src/falcon/falcon.wasm.gen.ts';
import { createFalcon, type Falcon, falcon512, ready } from '../src/falcon/index.ts';
import { FALCON_512, FALCON_1024 } from '../src/falcon/params.ts';
import { bestModule, compileAsync, Machine, machine, run } from '../src/falcon/wasm.ts';
import { moduleBytes } from '../src/shared/moduleEdits.ts';
import { BOTH_MODULES } from './support/assembly.ts';
import { testRandom } from './support/random.ts';
import { foundSecrets, secretPieces } from './support/secretScan.ts';

const root = new URL('..', import.meta.url);
const lock = JSON.parse(readFileSync(new URL('wasm.lock.json', root), 'utf8'));
const LIMIT = 130_000;

const FUNCTIONS = [
  ...['absorbKey', 'finishCoins', 'signReproducibly', 'startCoins', 'updateCoins'],
  ...['decodePublicKey', 'decodeSignature', 'encodeSignature', 'expandKey', 'expandedLength'],
  ...['hashInit', 'hashSqueeze', 'hashToPoint', 'hashUpdate', 'keygen', 'keygenDraft'],
  ...['prepare', 'prepareBatchKey', 'repackSecretKey', 'signDraft'],
  ...['publicKey', 'recoverS1', 'signExpanded', 'verify', 'verifyBatch'],
  ...['signHedged', 'startHedged', 'verifyPrepared', 'wipe'],
];
const REGIONS = [
  ...['BATCH_DATA', 'BATCH_DATA_SIZE', 'BATCH_ITEMS', 'BATCH_KEYS', 'BATCH_PREPARED'],
  ...['BATCH_RECORDS', 'EXPANDED', 'IN', 'IN_SIZE', 'PK', 'POINT', 'PREPARED'],
  ...['PRODUCT', 'S2', 'SEED', 'SHAKE', 'SIG', 'SK'],
];

const bytesOf = (name: 'plain' | 'relaxed') =>
  Buffer.from(moduleBytes(plain.MODULE, name === 'relaxed' ? relaxed.EDITS : undefined));
const freshMachine = (name: 'plain' | 'relaxed') =>
  new Machine(new WebAssembly.Instance(new WebAssembly.Module(bytesOf(name))));

describe.each(BOTH_MODULES)('%s module', (name) => {
  const bytes = bytesOf(name);
  const generated = name === 'plain' ? plain : relaxed;
  const module = new WebAssembly.Module(bytes);

  test('is the one that wasm.lock.json names, and at most 130 kB', () => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = name === 'plain' ? 'falcon' : 'falcon.relaxed';
    expect(generated.SHA256).toBe(sha256);
    expect(generated.BYTES).toBe(bytes.length);
    expect(lock.modules[file]).toEqual({ sha256, bytes: bytes.length });
    expect(readFileSync(new URL(`build/${file}.wasm`, root)).equals(bytes)).toBe(true);
    expect(bytes.length).toBeLessThanOrEqual(LIMIT);
  });

  test('imports nothing, exports what is listed and nothing else', () => {
    expect(WebAssembly.Module.imports(module)).toEqual([]);
    const names = (kind: string) =>
      WebAssembly.Module.exports(module)
        .filter((entry) => entry.kind === kind)
        .map((entry) => entry.name)
        .sort();
    expect(names('function')).toEqual([...FUNCTIONS].sort());
    expect(names('global')).toEqual([...REGIONS].sort());
    expect(names('memory')).toEqual(['memory']);
    expect(WebAssembly.Module.exports(module)).toHaveLength(FUNCTIONS.length + REGIONS.length + 1);
  });

  test('memory is fixed, and all of the module fits into it', () => {
    const { exports, memory } = freshMachine(name);
    expect(() => (exports.memory as WebAssembly.Memory).grow(1)).toThrow(RangeError);
    const before = exports.memory.buffer;
    const falcon = createFalcon('falcon1024', { module: name });
    const { publicKey, secretKey } = falcon.keygen();
    const message = new Uint8Array(100_000);
    expect(falcon.verify(falcon.sign(message, secretKey), message, publicKey)).toBe(true);
    expect(exports.memory.buffer).toBe(before);
    expect(machine(name).memory.length).toBe(memory.length);
  });
});

/**
 * The strongest test of wiping there is: after a secret call, memory is what it was before the
 * first secret came, except in regions that hold public results. Whatever form a secret had inside,
 * it is not there.
 */
describe.each(BOTH_MODULES)('nothing secret stays in memory, %s module', (name) => {
  /**
   * Memory of an instance that has made a key from this seed (the first one fills the module's
   * tables of primes).
   */
  function memoryAfter(seed: Uint8Array): Uint8Array {
    const { exports, memory } = freshMachine(name);
    memory.set(seed, exports.SEED.value);
    expect(exports.keygen(9, 48)).toBe(0);
    exports.wipe();
    memory.fill(0, exports.PK.value, exports.PK.value + 1793);
    return memory;
  }
  const pristine = memoryAfter(testRandom('pristine').bytes(48));

  test('the tables made at the first call do not depend on the secret', () => {
    const other = memoryAfter(testRandom('another').bytes(48));
    expect(other.findIndex((byte, at) => byte !== pristine[at])).toBe(-1);
  });

  /** Public regions: results of the call. */
  function publicRegions({ exports }: Machine): [from: number, to: number][] {
    const region = (global: WebAssembly.Global, size: number): [number, number] => [
      global.value,
      global.value + size,
    ];
    return [region(exports.PK, 1793), region(exports.SIG, 1577)];
  }

  /** Addresses outside public regions where memory is not as at the beginning. */
  function differences(running: Machine): number[] {
    const regions = publicRegions(running);
    const found: number[] = [];
    for (let at = 0; at < pristine.length && found.length < 10; at++) {
      if (running.memory[at] === pristine[at]) continue;
      if (!regions.some(([from, to]) => at >= from && at < to)) found.push(at);
    }
    return found;
  }

  describe.each([FALCON_512, FALCON_1024])('$name', (params) => {
    const falcon = createFalcon(params.name, { module: name });
    const random = testRandom(`wipe ${params.name}`);
    const seed = random.bytes(48);
    const { secretKey } = falcon.keygen(seed);
    const expanded = falcon.expandSecretKey(secretKey);
    const samplerSeed = random.bytes(48);
    const salt = random.bytes(40);
    const testSeed = { salt, samplerSeed };
    const n = 1 << params.logn;
    const bits = params.logn === 9 ? 6 : 5;
    const bad = secretKey.slice();
    bad.fill(0, 1, 1 + (n * bits) / 8); // f = 0 is not invertible
    const secrets = secretPieces({ params, seed, secretKey, samplerSeed, expanded });

    test.each<[string, (falcon: Falcon) => unknown]>([
      ['keygen', () => falcon.keygen(seed)],
      ['getPublicKey', () => falcon.getPublicKey(secretKey)],
      ['expandSecretKey', () => falcon.expandSecretKey(secretKey)],
      ['sign, raw key', () => falcon.sign(salt, secretKey, { testSeed })],
      ['sign, expanded key', () => falcon.sign(salt, expanded, { testSeed })],
      ['sign, long message', () => falcon.sign(new Uint8Array(30_000), secretKey, { testSeed })],
      ['sign, padded', () => falcon.sign(salt, secretKey, { testSeed, format: 'padded' })],
      [
        'sign, constant time',
        () => falcon.sign(salt, secretKey, { testSeed, format: 'constantTime' }),
      ],
      ['det.sign, raw key', () => falcon.det.sign(salt, secretKey)],
      ['det.sign, expanded key', () => falcon.det.sign(salt, expanded)],
      ['det.sign, long message', () => falcon.det.sign(new Uint8Array(30_000), secretKey)],
      ['sign, derived, raw key', () => falcon.sign(salt, secretKey, { salt: 'derived' })],
      ['sign, derived, expanded', () => falcon.sign(salt, expanded, { salt: 'derived' })],
      ['det.sign, a bad key', () => expect(() => falcon.det.sign(salt, bad)).toThrow(RangeError)],
      ['refusal of a bad key', () => expect(() => falcon.sign(salt, bad)).toThrow(RangeError)],
      ['refusal, public key', () => expect(() => falcon.getPublicKey(bad)).toThrow(RangeError)],
    ])('after %s', (_, call) => {
      falcon.det.sign(salt, secretKey); // its known answers are given once
      const running = machine(name);
      running.memory.set(pristine);
      call(falcon);
      expect(machine(name)).toBe(running);
      expect(differences(running)).toEqual([]);
      expect(foundSecrets(running.memory, secrets)).toEqual([]);
    });

    test('the scan finds what is there: without a wipe, all of it', () => {
      const running = freshMachine(name);
      const { exports, memory } = running;
      memory.set(secretKey, exports.SK.value);
      memory.set(testSeed.salt, exports.SEED.value);
      memory.set(samplerSeed, exports.SEED.value + 40);
      expect(exports.expandKey(params.logn)).toBe(0);
      expect(exports.signExpanded(params.logn, 0, 32, 0)).toBeGreaterThan(0);
      expect(differences(running).length).toBeGreaterThan(0);
      const leaks = foundSecrets(memory, secrets);
      for (const what of ['secret key', 'sampler seed', 'expanded key', 'f as Int8Array']) {
        expect(leaks).toContain(what);
      }
      exports.wipe();
      expect(foundSecrets(memory, secrets)).toEqual([]);
    });
  });
});

describe('start', () => {
  const seed = testRandom('start').bytes(48);

  test('the probe accepts relaxed SIMD here; unknown names and options are refused', () => {
    expect(bestModule()).toBe('relaxed');
    expect(falcon512.module).toBe('relaxed');
    expect(() => createFalcon('falcon512', { module: 'fast' as never })).toThrow(RangeError);
    expect(() => createFalcon('falcon256' as never)).toThrow(RangeError);
    expect(() => createFalcon('toString' as never)).toThrow(RangeError);
    expect(() => createFalcon('falcon512', { modul: 'plain' } as never)).toThrow(TypeError);
    expect(() => createFalcon('falcon512', null as never)).toThrow(TypeError);
  });

  test('an engine without relaxed SIMD gets the plain module', async () => {
    vi.resetModules();
    const validate = vi.spyOn(WebAssembly, 'validate').mockReturnValue(false);
    try {
      const fresh = await import('../src/falcon/index.ts');
      expect(fresh.falcon1024.module).toBe('plain');
      expect(() => fresh.createFalcon('falcon512', { module: 'relaxed' })).toThrow(RangeError);
      const { publicKey, secretKey } = fresh.falcon512.keygen();
      expect(fresh.falcon512.verify(fresh.falcon512.sign(seed, secretKey), seed, publicKey)).toBe(
        true,
      );
      expect(validate).toHaveBeenCalled();
    } finally {
      validate.mockRestore();
    }
  });

  test('asynchronous compilation may be asked for, before or after the first use', async () => {
    await ready();
    await Promise.all([compileAsync('plain'), compileAsync('plain'), ready()]);
    expect(falcon512.keygen().publicKey).toHaveLength(897);
  });

  test('a trap is an INTERNAL error, and the next call has a fresh, working instance', () => {
    const first = machine('plain');
    const trap = () =>
      run('plain', true, ({ exports }) => {
        exports.hashUpdate(0x7fff_0000, 100);
      });
    expect(trap).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
    expect(first.memory.every((byte) => byte === 0)).toBe(true);
    expect(machine('plain')).not.toBe(first);
    const falcon = createFalcon('falcon512', { module: 'plain' });
    const { publicKey, secretKey } = falcon.keygen();
    expect(falcon.verify(falcon.sign(publicKey, secretKey), publicKey, publicKey)).toBe(true);
  });
});
