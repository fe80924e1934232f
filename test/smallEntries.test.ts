/** The entries that have modules of their own, as the package builds them. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../scripts/generated.ts';
import * as relaxed from '../src/aggregate/labrador.verify.relaxed.wasm.gen.ts';
import * as labrador from '../src/aggregate/labrador.verify.wasm.gen.ts';
import * as integerModule from '../src/falcon/falcon.integer.wasm.gen.ts';
import * as falcon from '../src/falcon/falcon.verify.wasm.gen.ts';
import { decodeSignature, encodeSignature } from '../src/falcon/points.ts';
import { CodedError } from '../src/shared/errors.ts';
import { moduleBytes } from '../src/shared/moduleEdits.ts';
import { frozenCases, frozenSeries } from './reference/frozenCases.ts';
import { fact } from './support/facts.ts';
import { SETS, testItems } from './support/ours.ts';
import { testRandom } from './support/random.ts';
import { buildSmallEntries, type SmallEntries } from './support/smallEntries.ts';

/** Bytes, minified and compressed: kept by scripts/entrySizes.ts, too. */
const LIMITS = { 'falcon/verifyOnly': 45_700, 'aggregate/verifyOnly': 101_500 } as const;

let entries: SmallEntries;
let small: SmallEntries['signatures'];
let smallAggregate: SmallEntries['aggregate'];

beforeAll(async () => {
  entries = await buildSmallEntries();
  small = entries.signatures;
  smallAggregate = entries.aggregate;
});
afterAll(() => entries.remove());

/** What a user's bundler makes of a program. */
async function bundled(program: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: entries.folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
  });
  return outputFiles[0]!.contents;
}

describe('their modules', () => {
  const lockOf = async (name: string) =>
    JSON.parse(await readFile(join(ROOT, 'wasm.lock.json'), 'utf8')).modules[name];

  test.each([
    ['falcon.integer', integerModule],
    ['falcon.verify', falcon],
    ['labrador.verify', labrador],
  ])('%s unpacks to what wasm.lock.json names, imports nothing', async (name, generated) => {
    const bytes = moduleBytes(generated.MODULE);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await lockOf(name)).toEqual({ sha256, bytes: bytes.length });
    expect(generated).toMatchObject({ SHA256: sha256, BYTES: bytes.length });
    expect((await readFile(join(ROOT, `build/${name}.wasm`))).equals(bytes)).toBe(true);
    expect(WebAssembly.Module.imports(new WebAssembly.Module(bytes))).toEqual([]);
  });

  test('the relaxed build of labrador.verify is what wasm.lock.json names', async () => {
    const bytes = moduleBytes(labrador.MODULE, relaxed.EDITS);
    expect(await lockOf('labrador.verify.relaxed')).toEqual({
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes: bytes.length,
    });
    const names = (module: Uint8Array<ArrayBuffer>) =>
      WebAssembly.Module.exports(new WebAssembly.Module(module)).map(({ name }) => name);
    expect(names(bytes)).toEqual(names(labrador.MODULE()));
    expect(WebAssembly.Module.imports(new WebAssembly.Module(bytes))).toEqual([]);
  });

  test('have no function that makes keys, signatures or proofs', () => {
    const names = [falcon, labrador].flatMap(({ MODULE }) =>
      WebAssembly.Module.exports(new WebAssembly.Module(MODULE())).map(({ name }) => name),
    );
    for (const name of ['verify', 'verifyBatch', 'hashToPoint', 'restoreCut', 'xofStart']) {
      expect(names).toContain(name);
    }
    for (const name of ['sign', 'keygen', 'expandKey512', 'SK', 'SEED', 'decompose', 'packBits']) {
      expect(names).not.toContain(name);
    }
  });
});

test('no entry accepts the module of another arithmetic', async () => {
  const compiled = async (name: string) =>
    new WebAssembly.Module(await readFile(join(ROOT, `build/${name}.wasm`)));
  const onIntegers = await compiled('falcon.integer');
  for (const entry of [small, smallAggregate]) {
    expect(() => entry.useFalconModule(onIntegers)).toThrow(RangeError);
  }
  for (const name of ['falcon', 'falcon.relaxed', 'falcon.verify']) {
    const other = await compiled(name);
    expect(() => entries.integer.useFalconModule(other), name).toThrow(RangeError);
  }
});

describe.each(SETS)('falconry/verify, $falcon.name', ({ degree, falcon: whole }) => {
  const forms = ['compressed', 'padded', 'constantTime'] as const;
  const items = testItems(degree, 12, { forms, length: [0, 9000] });

  test('gives the verdicts of the whole library, valid and changed', () => {
    const random = testRandom(`small ${degree}`);
    const own = small[whole.name];
    const prepared = own.preparePublicKey(items[0]!.publicKey);
    const changed = items.flatMap((item) =>
      (['signature', 'message', 'publicKey'] as const).map((field) => {
        const bytes = item[field].slice();
        if (bytes.length > 0) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
        return { ...item, [field]: bytes };
      }),
    );
    const all = [...items, ...changed];
    let valid = 0;
    for (const { signature, message, publicKey } of all) {
      const verdict = own.verify(signature, message, publicKey);
      expect(verdict).toBe(whole.verify(signature, message, publicKey));
      valid += Number(verdict);
    }
    expect(valid).toBeGreaterThanOrEqual(items.length);
    expect(valid).toBeLessThan(all.length / 2);
    expect(own.verifyBatch(all)).toEqual(whole.verifyBatch(all));
    const { signature, message } = items[0]!;
    expect(own.verify(signature, message, prepared)).toBe(true);
  });

  test('pins encodings as the whole library does', () => {
    const own = small[whole.name];
    const { signature, message, publicKey } = items[1]!;
    const decoded = decodeSignature(signature);
    if (typeof decoded === 'string') throw new Error(decoded);
    const short = encodeSignature({ ...decoded, form: 'compressed' })!;
    expect(own.verify(short, message, publicKey)).toBe(true);
    expect(own.verify(short, message, publicKey, { format: 'compressed' })).toBe(true);
    expect(own.verify(short, message, publicKey, { format: 'constantTime' })).toBe(false);
  });
});

test('falconry/integer: the keys and signatures of the whole library, from one module', async () => {
  for (const { falcon: whole } of SETS) {
    const own = entries.integer[whole.name];
    const seed = testRandom('small integer').bytes(48);
    const { publicKey, secretKey } = own.keygen(seed);
    expect(whole.keygen(seed)).toEqual({ publicKey, secretKey });
    // expanded and prepared keys of one serve the other
    using expanded = whole.expandSecretKey(secretKey);
    const signature = own.sign(seed, expanded, { salt: 'derived' });
    expect(signature).toEqual(whole.sign(seed, secretKey, { salt: 'derived' }));
    expect(own.verify(signature, seed, whole.preparePublicKey(publicKey))).toBe(true);
    using ownExpanded = own.expandSecretKey(secretKey);
    expect(whole.det.sign(seed, ownExpanded)).toEqual(own.det.sign(seed, secretKey));
    expect(() => own.keygen(new Uint8Array(3))).toThrow(RangeError);
  }
  const { fnDsaDraft512 } = entries.integer;
  expect(fnDsaDraft512.keygen(new Uint8Array(32)).publicKey).toHaveLength(897);
  const text = await readFile(join(entries.folder, 'falcon/integer.js'), 'utf8');
  expect(text.match(/var CODE\d* = /g)).toHaveLength(1);
  expect(text.length).toBeLessThan(200_000);
  const one = await bundled("export { falcon512 } from './falcon/integer.js';");
  expect(gzipSync(one).length).toBeLessThan(80_000);
});

describe('falconry/verify-aggregate', () => {
  const { good, bad } = frozenCases();

  test('accepts the good vectors, of both formats', () => {
    expect(good.length).toBeGreaterThan(8);
    for (const { name, aggregate, items } of good) {
      expect(smallAggregate.verifyAggregate(aggregate, items), name).toBe(true);
    }
  }, 60_000);

  test('refuses the bad ones', () => {
    expect(bad.length).toBeGreaterThan(20);
    // One in three: each costs as much as a good one.
    for (const { name, aggregate, items } of bad.filter((_, i) => i % 3 === 0)) {
      expect(smallAggregate.verifyAggregate(aggregate, items), name).toBe(false);
    }
  }, 60_000);

  test('verifies series as they arrive', async () => {
    for (const { name, aggregate, items, valid } of frozenSeries()) {
      const pieces = [aggregate.subarray(0, 900), aggregate.subarray(900)];
      const verdict = await smallAggregate.verifyAggregateStream(pieces, items);
      expect(verdict, name).toBe(valid);
    }
  }, 60_000);

  test('gives the same verdicts on the plain build, handed over compiled', async () => {
    const plain = await buildSmallEntries();
    const bytes = await readFile(join(ROOT, 'build/labrador.verify.wasm'));
    plain.aggregate.useLabradorModule(new WebAssembly.Module(Uint8Array.from(bytes)));
    for (const { name, aggregate, items } of good.slice(0, 4)) {
      expect(plain.aggregate.verifyAggregate(aggregate, items), name).toBe(true);
    }
    for (const { name, aggregate, items } of bad.filter((_, i) => i % 9 === 0)) {
      expect(plain.aggregate.verifyAggregate(aggregate, items), name).toBe(false);
    }
    await plain.remove();
  }, 60_000);

  test('throws the errors of the package', () => {
    expect(() => smallAggregate.inspectAggregate(new Uint8Array(5))).toThrow(CodedError);
    expect(() => smallAggregate.verifyAggregate('' as never, [])).toThrow(TypeError);
  });
});

describe('in a bundle', () => {
  const USE = "import { falcon512 } from './falcon/verifyOnly.js';\n";
  const USE_AGGREGATE = "import { verifyAggregate } from './aggregate/verifyOnly.js';\n";
  const RUN = 'globalThis.used = [falcon512, verifyAggregate];\n';

  test.for(Object.entries(LIMITS))('%s is small', async ([entry, limit], context) => {
    const bundle = await bundled(`export * from './${entry}.js';`);
    const { length } = gzipSync(bundle, { level: 9 });
    fact(
      context,
      'small entries',
      `${entry}: ${length} bytes compressed, ${bundle.length} minified`,
    );
    expect(length).toBeLessThan(limit);
  });

  test('a page with one profile holds none of the others', async () => {
    const bytesOf = async (names: string) =>
      gzipSync(await bundled(`export { ${names} } from './falcon/verifyOnly.js';`)).length;
    const [one, all] = [await bytesOf('falcon512'), await bytesOf('falcon512, fnDsaDraft512')];
    expect(one).toBeLessThan(38_000);
    expect(all - one).toBeGreaterThan(5000);
    expect(await bytesOf('ethFalcon512')).toBeLessThan(one);
  });

  test('both entries together hold each module once', async () => {
    const one = new TextDecoder().decode(await bundled(`export * from './falcon/verifyOnly.js';`));
    const both = new TextDecoder().decode(await bundled(USE + USE_AGGREGATE + RUN));
    // Modules, of two parts each, and edits are the only long words of base64.
    const words = (text: string) => text.match(/[\w+/]{1000,}/g) ?? [];
    expect(words(one)).toHaveLength(2);
    expect(words(both)).toHaveLength(5);
    expect(new Set(words(both)).size).toBe(5);
  });
});
