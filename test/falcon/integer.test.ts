/** The build without floating point: its instructions, its arithmetic, and the same bytes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesBelow, ROOT } from '../../scripts/generated.ts';
import { createFalcon, falcon512, falcon1024, useFalconModule } from '../../src/falcon/index.ts';
import * as integer from '../../src/falcon/integer.ts';
import { insideExpanded } from '../../src/falcon/keys.ts';
import { ethFalcon512 } from '../../src/falcon/profiles/ethFalcon.ts';
import { fnDsaDraft512, fnDsaDraft1024 } from '../../src/falcon/profiles/fnDsaDraft.ts';
import { machine } from '../../src/falcon/wasm.ts';
import { compile, compileEntry } from '../support/assembly.ts';
import { fact } from '../support/facts.ts';
import { testRandom } from '../support/random.ts';
import { NIGHTLY, SHORT_RUN } from '../support/run.ts';
import { signingModule } from '../support/signingModule.ts';
import { bodiesOf, instructionsOf, sectionsOf } from '../trace/wasmCode.ts';

const F32 = 0x7d;
const F64 = 0x7c;

/** Ranges of opcodes that take, make or move a float; of those after the prefix 0xfd. */
const rangesOf = (text: string) =>
  text.split(' ').map((range) => range.split('-').map((end) => Number.parseInt(end, 16)));
const PLAIN = rangesOf('2a-2b 38-39 43-44 5b-66 8b-a6 a8-ab ae-bf');
const VECTOR = rangesOf('13-14 1f-22 41-4c 5e-5f 67-6a 74-75 7a-7a 94-94 e0-ff 101-108 10d-110');

/** Whether an instruction is one of them; with a prefix it is prefix * 4096 + number. */
function isFloating(code: number): boolean {
  const [ranges, number] = code < 0x100 ? [PLAIN, code] : [VECTOR, code - 0xfd * 4096];
  if (number < 0) return code - 0xfc * 4096 < 8;
  return ranges.some(([from, to]) => number >= from! && number <= to!);
}

const builtModule = (name: string) =>
  new Uint8Array(readFileSync(join(ROOT, `build/${name}.wasm`)));

test('a module of the other arithmetic, or of neither, is refused, and so are bytes', () => {
  for (const [use, wrong] of [
    [useFalconModule, ['falcon.integer', 'labrador']],
    [integer.useFalconModule, ['falcon', 'falcon.relaxed', 'falcon.verify', 'labrador']],
  ] as const) {
    for (const name of wrong) {
      const bytes = builtModule(name);
      expect(() => use(new WebAssembly.Module(bytes)), name).toThrow(RangeError);
      expect(() => use(bytes as never), name).toThrow(TypeError);
    }
  }
  const own = new WebAssembly.Module(builtModule('falcon.integer'));
  integer.useFalconModule(own);
  const names = (module: WebAssembly.Module) =>
    WebAssembly.Module.exports(module).map(({ name }) => name);
  expect(
    names(own)
      .filter((name) => name !== 'ON_INTEGERS')
      .sort(),
  ).toEqual(names(new WebAssembly.Module(builtModule('falcon'))).sort());
  expect(integer.falcon512.getPublicKey(falcon512.keygen().secretKey)).toHaveLength(897);
});

describe('no floating point', () => {
  const floatingCode = (module: Uint8Array, functions?: number) => {
    const bodies = bodiesOf(module).slice(0, functions);
    const isFloat = ([, type]: readonly [number, number]) => type === F32 || type === F64;
    return {
      locals: bodies.flatMap(({ locals }) => locals.filter(isFloat)).length,
      instructions: bodies
        .flatMap((body) => [...instructionsOf(module, body)])
        .filter(({ code }) => isFloating(code)).length,
    };
  };
  /** In types of functions (their other bytes are counts) and of globals. */
  const floatingTypes = (module: Uint8Array) =>
    sectionsOf(module)
      .flatMap(({ id, bytes }) => (id === 1 ? [...bytes] : id === 6 ? globalTypes(bytes) : []))
      .filter((byte) => byte === F32 || byte === F64).length;
  /** Types of the globals: the byte before their mutability, then `i32.const n end`, or the like. */
  function globalTypes(bytes: Uint8Array): number[] {
    const types: number[] = [];
    let at = 1;
    while (bytes[at - 1]! >= 128) at++;
    for (; at < bytes.length; at++) {
      types.push(bytes[at]!);
      at = bytes.indexOf(0x0b, at + 3);
    }
    return types;
  }

  test('in the instructions, constants, locals and types of the module', () => {
    const module = builtModule('falcon.integer');
    expect(floatingCode(module)).toEqual({ instructions: 0, locals: 0 });
    expect(floatingTypes(module)).toBe(0);
    // the counters count
    expect(floatingCode(builtModule('falcon'), 40).instructions).toBeGreaterThan(50);
    module[module.indexOf(0x7e, 10)] = F64; // instead of the first i64
    expect(floatingTypes(module)).toBe(1);
  });

  test('no file but real.ts, and constants, names an operation on reals', () => {
    const files = filesBelow('assembly/falcon').filter(
      (path) => path.endsWith('.ts') && !/\.gen\.ts$|\/real\.ts$/.test(path),
    );
    expect(files.length).toBeGreaterThan(30);
    for (const path of files) {
      const code = readFileSync(join(ROOT, path), 'utf8').replaceAll(
        /\/\*[\s\S]*?\*\/|\/\/.*/g,
        '',
      );
      expect(code.match(/\bf(32|64)x\d\.\w+|\bload<f64>|: f64\):|\): f64\b/g) ?? [], path).toEqual(
        [],
      );
    }
  });
});

/** x rounded to an integer, ties to even, with its sign. */
function nearest(x: number): number {
  if (Math.abs(x) >= 2 ** 52) return x;
  const shifted = Math.abs(x) + 2 ** 52 - 2 ** 52;
  return x < 0 || Object.is(x, -0) ? -shifted : shifted;
}
const clampI32 = (x: number) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, x));

describe('operations on pairs of reals', async () => {
  const { exports, at } = await compileEntry('real', 'integer');
  const PAIRS = 4096;
  const view = (region: string) => new Float64Array(exports.memory.buffer, at(region), 2 * PAIRS);
  const [a, b, out] = [view('A'), view('B'), view('OUT')];
  const words = (x: Float64Array) => new Int32Array(x.buffer, x.byteOffset, 2 * x.length);
  const patterns = (x: Float64Array) => new BigUint64Array(x.buffer, x.byteOffset, x.length);
  const random = testRandom('reals');
  let pool = new Int32Array(0);
  let used = 0;
  /** 32 random bits. */
  const word = (): number => {
    if (used === pool.length) {
      pool = new Int32Array(random.bytes(1 << 16).buffer);
      used = 0;
    }
    return pool[used++]!;
  };
  const below = (n: number) => (word() >>> 0) % n;

  /** Mantissas of several kinds, exponents in [low, high], signs and zeros. */
  function fill(x: Float64Array, low: number, high: number): void {
    const w = words(x);
    for (let i = 0; i < x.length; i++) {
      const kind = below(8);
      const [few, many] = [1 << below(32), -1 << below(32)];
      const [l, h] = (
        [
          [0, 0],
          [-1, -1],
          [many, -1],
          [0, word()],
          [few, 0],
          [0, few],
          [word(), word()],
        ] as const
      )[Math.min(kind, 6)]!;
      const exponent = 1023 + low + below(high - low + 1);
      const isZero = below(32) === 0;
      w[2 * i] = isZero ? 0 : l;
      w[2 * i + 1] = (isZero ? 0 : (h & 0xfffff) | (exponent << 20)) | (word() << 31);
    }
  }
  /** Operands of sums that nearly or fully cancel, or lie far apart. */
  function fillSums(low: number, high: number): void {
    fill(a, low, high);
    fill(b, low, high);
    for (let i = 0; i < a.length; i++) {
      const kind = below(4);
      if (kind === 0) b[i] = -a[i]!;
      else if (kind === 1) b[i] = -a[i]! * (1 + (below(16) - 8) * 2 ** -52);
      else if (kind === 2 && b[i] !== 0) b[i] = b[i]! * (Math.abs(a[i]!) || 1) * 2 ** -below(120);
    }
  }
  function fillIntegers(x: Float64Array): void {
    const w = words(x);
    for (let i = 0; i < w.length; i++) {
      w[i] = [0, -1, 1 << below(32), word(), word() >> below(32)][below(5)]!;
    }
  }

  type Class = readonly [name: string, fill: () => void];
  const unary = (...ranges: readonly (readonly [number, number])[]): Class[] =>
    ranges.map(([low, high]) => [`2^${low} to 2^${high}`, () => fill(a, low, high)]);
  const both = (...ranges: readonly (readonly [number, number])[]): Class[] =>
    ranges.map(([low, high]) => [
      `2^${low} to 2^${high}`,
      () => {
        fill(a, low, high);
        fill(b, low, high);
      },
    ]);
  const then = (classes: Class[], change: () => void): Class[] =>
    classes.map(([name, make]) => {
      const both = () => {
        make();
        change();
      };
      return [name, both];
    });
  const positive = (classes: Class[]): Class[] =>
    then(classes, () => a.set(a.map((x) => Math.abs(x) || 1)));
  const nonzero = (classes: Class[]): Class[] => then(classes, () => a.set(a.map((x) => x || 1)));
  const sums: Class[] = [
    [-2, 2],
    [-60, 60],
    [-450, 450],
  ].map(([low, high]) => [`2^${low} to 2^${high}, with cancellation`, () => fillSums(low!, high!)]);
  const integers: Class[] = [['integers', () => fillIntegers(a)]];
  const z = words(b);
  const i32 = words(a);

  /** What each operation is to give for pair element i; `ints`: results are 32-bit integers. */
  const OPERATIONS: readonly {
    readonly name: string;
    readonly op: number;
    readonly classes: readonly Class[];
    readonly want: (i: number) => number;
    readonly kind?: 'ints' | 'bits';
  }[] = [
    {
      name: 'inverse',
      op: 0,
      classes: nonzero(unary([-1, 1], [-600, 600])),
      want: (i) => 1 / a[i]!,
    },
    {
      name: 'root',
      op: 1,
      classes: positive(unary([0, 3], [-500, 500])),
      want: (i) => Math.sqrt(a[i]!),
    },
    { name: 'trunc', op: 2, classes: unary([-4, 52], [-70, 52]), want: (i) => Math.trunc(a[i]!) },
    { name: 'nearest', op: 3, classes: unary([-4, 55], [-70, 80]), want: (i) => nearest(a[i]!) },
    { name: 'neg', op: 4, classes: unary([-500, 500]), want: (i) => -a[i]! },
    { name: 'abs', op: 5, classes: unary([-500, 500]), want: (i) => Math.abs(a[i]!) },
    { name: 'fromI32', op: 6, classes: integers, want: (i) => i32[2 * (i & ~1) + (i & 1)]! },
    {
      name: 'toI32',
      op: 7,
      classes: unary([-4, 34], [-70, 80]),
      want: (i) => clampI32(nearest(a[i]!)),
      kind: 'ints',
    },
    {
      name: 'floor',
      op: 8,
      classes: unary([-4, 30], [-70, 30]),
      want: (i) => Math.floor(a[i]!) + 0,
    },
    {
      name: 'times55',
      op: 9,
      classes: positive(unary([6, 7])),
      want: (i) => a[i]! * 2 ** 55,
      kind: 'bits',
    },
    { name: 'add', op: 10, classes: sums, want: (i) => a[i]! + b[i]! },
    { name: 'sub', op: 11, classes: sums, want: (i) => a[i]! - b[i]! },
    { name: 'mul', op: 12, classes: both([-2, 2], [-400, 400]), want: (i) => a[i]! * b[i]! },
    {
      name: 'scale',
      op: 13,
      classes: then(both([-100, 100]), () => b.set(b.map(() => 2 ** (below(200) - 100)))),
      want: (i) => a[i]! * b[i]!,
    },
    { name: 'min', op: 14, classes: positive(both([-2, 2])), want: (i) => Math.min(a[i]!, b[i]!) },
    { name: 'max', op: 15, classes: positive(both([-2, 2])), want: (i) => Math.max(a[i]!, b[i]!) },
    {
      name: 'floorPlus',
      op: 17,
      classes: then(unary([-4, 30], [-70, 30]), () => fillIntegers(b)),
      want: (i) => Math.floor(a[i]!) + z[2 * (i & ~1) + (i & 1)]!,
    },
  ];
  const ROUNDS = Math.ceil((NIGHTLY ? 1e7 : SHORT_RUN ? 16_000 : 200_000) / (2 * PAIRS));

  test.each(OPERATIONS)('$name: the bits of JavaScript’s doubles', (operation) => {
    const { op, classes, want, kind } = operation;
    const wanted = new Float64Array(1);
    const wantedBits = patterns(wanted);
    const outBits = patterns(out);
    const outWords = words(out);
    for (const [name, make] of classes) {
      for (let round = 0; round < ROUNDS; round++) {
        make();
        exports.apply!(op, PAIRS);
        for (let i = 0; i < out.length; i++) {
          wanted[0] = want(i);
          const isEqual =
            kind === 'ints'
              ? outWords[2 * (i & ~1) + (i & 1)] === wanted[0]
              : kind === 'bits'
                ? outBits[i] === BigInt(wanted[0])
                : outBits[i] === wantedBits[0];
          if (isEqual) continue;
          expect.fail(`${name}: ${a[i]}, ${b[i]} gives ${out[i]}, not ${wanted[0]}`);
        }
      }
    }
  });

  test('single numbers, and comparisons, as JavaScript has them', () => {
    for (const [op, want] of [
      [0, (x: number, _: number) => 1 / x],
      [10, (x: number, y: number) => x + y],
      [11, (x: number, y: number) => x - y],
      [12, (x: number, y: number) => x * y],
    ] as const) {
      fill(a, -10, 10);
      fill(b, -10, 10);
      for (let i = 0; i < 200; i++) {
        const [x, y] = [a[i]! || 1, b[i]!];
        [a[0], b[0]] = [x, y];
        exports.applySingle!(op);
        expect(Object.is(out[0], want(x, y))).toBe(true);
      }
    }
    for (const [x, y] of [
      [1, 2],
      [2, 1],
      [1, 1],
      [-1, 1],
      [1, -1],
      [0, 1e-300],
    ] as const) {
      [a[0], b[0]] = [x, y];
      exports.applySingle!(16);
      expect(patterns(out)[0]).toBe(BigInt(x < y));
      exports.applySingle!(17);
      expect(patterns(out)[0]).toBe(BigInt(x <= y));
      exports.apply!(16, 1);
      expect(patterns(out)[0] !== 0n).toBe(x < y);
    }
  });
});

const KINDS = [
  { degree: 512, plain: falcon512, own: integer.falcon512 },
  { degree: 1024, plain: falcon1024, own: integer.falcon1024 },
] as const;
const FORMATS = ['compressed', 'padded', 'constantTime'] as const;

describe.each(KINDS)('Falcon-$degree: the bytes of the f64 build', ({ degree, plain, own }) => {
  const [keys, perKey] = NIGHTLY ? [500, 200] : SHORT_RUN ? [degree === 512 ? 8 : 3, 30] : [50, 40];

  test('keys, expanded keys, signatures in all forms', { timeout: 1_800_000 }, (context) => {
    expect(own.module).toBe('integer');
    const random = testRandom(`integer ${degree}`);
    for (let k = 0; k < keys; k++) {
      const seed = random.bytes(48);
      const pair = plain.keygen(seed);
      expect(own.keygen(seed)).toEqual(pair);
      const { secretKey, publicKey } = pair;
      expect(own.getPublicKey(secretKey)).toEqual(publicKey);
      using expanded = plain.expandSecretKey(secretKey);
      using ownExpanded = own.expandSecretKey(secretKey);
      const inside = insideExpanded(expanded)!.expanded;
      expect(Buffer.compare(insideExpanded(ownExpanded)!.expanded, inside)).toBe(0);
      for (let i = 0; i < perKey; i++) {
        const message = random.bytes(40);
        const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
        const format = FORMATS[i % 3]!;
        const signature = plain.sign(message, expanded, { testSeed, format });
        // expanded keys serve both builds
        const key = i === 0 ? secretKey : i % 2 === 0 ? expanded : ownExpanded;
        const other = own.sign(message, key, { testSeed, format });
        if (Buffer.compare(signature, other) !== 0) expect.fail(`key ${k}, signature ${i}`);
        if (i === 0) expect(own.verify(signature, message, publicKey)).toBe(true);
      }
    }
    fact(context, 'no floating point', `Falcon-${degree}: ${keys * perKey} signatures equal`);
  });

  test('reproducible and attached signatures, streams, prepared keys', async () => {
    const random = testRandom(`integer kinds ${degree}`);
    const { publicKey, secretKey } = plain.keygen(random.bytes(48));
    const message = random.bytes(100);
    const stream = () => new Blob([message]).stream();
    using expanded = own.expandSecretKey(secretKey);
    expect(own.det.sign(message, expanded)).toEqual(plain.det.sign(message, secretKey));
    const derived = plain.sign(message, secretKey, { salt: 'derived' });
    expect(own.sign(message, expanded, { salt: 'derived' })).toEqual(derived);
    const sealed = own.attached.seal(message, secretKey);
    expect(plain.attached.open(sealed, publicKey)).toEqual(message);
    const prepared = plain.preparePublicKey(publicKey);
    const signature = await own.signStream(stream(), secretKey);
    expect(await own.verifyStream(signature, stream(), prepared)).toBe(true);
    expect(own.verifyBatch([{ signature, message, publicKey }])).toEqual([]);
    expect(own.verify(signature, message.subarray(1), publicKey)).toBe(false);
  });
});

test('the other profiles', () => {
  const random = testRandom('integer profiles');
  const message = random.bytes(50);
  const seed = random.bytes(48);
  const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
  const { publicKey, secretKey } = integer.ethFalcon512.keygen(seed);
  expect(publicKey).toEqual(ethFalcon512.keygen(seed).publicKey);
  const signature = integer.ethFalcon512.sign(message, secretKey, { testSeed });
  expect(signature).toEqual(ethFalcon512.sign(message, secretKey, { testSeed }));
  expect(integer.ethFalcon512.verify(signature, message, publicKey)).toBe(true);
  for (const [own, plain] of [
    [integer.fnDsaDraft512, fnDsaDraft512],
    [integer.fnDsaDraft1024, fnDsaDraft1024],
  ] as const) {
    const pair = plain.keygen(seed.subarray(0, 32));
    expect(own.keygen(seed.subarray(0, 32))).toEqual(pair);
    for (let i = 0; i < (SHORT_RUN ? 4 : 200); i++) {
      const options = { testSeed: random.bytes(40) };
      const made = plain.sign(message, pair.secretKey, options);
      expect(own.sign(message, pair.secretKey, options)).toEqual(made);
    }
  }
});

describe('a tampered tree', () => {
  /** What signing with a changed expanded key gives: the signature, or the code of the refusal. */
  const outcome = (sign: () => Uint8Array): string => {
    try {
      return Buffer.from(sign()).toString('hex');
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const WRONG = [
    ...[Number.NaN, -Number.NaN, Infinity, -Infinity, 1e300, -1e300, 1e19, -1e19],
    ...[0, -0, -0.6, 0.54, 0.79, 1.2, 1e-300, 5e-324],
  ];

  test.each(SHORT_RUN ? KINDS.slice(0, 1) : KINDS)(
    'Falcon-$degree: refused by both builds, or by none',
    ({ degree, plain, own }) => {
      const random = testRandom(`tampered ${degree}`);
      const { secretKey } = plain.keygen(random.bytes(48));
      const message = random.bytes(20);
      const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
      const logn = Math.log2(degree);
      const count = degree * (logn + 3);
      using expanded = plain.expandSecretKey(secretKey);
      const { buffer, byteOffset } = insideExpanded(expanded)!.expanded;
      const doubles = new Float64Array(buffer, byteOffset, count);
      const values = SHORT_RUN ? WRONG.filter((_, i) => i % 2 === 0) : WRONG;
      const seen = { refused: 0, signed: 0 };
      // of the basis, of the tree's root, and leaves
      const places = [0, 2 * degree - 1, 2 * degree, count - 1, count - 2];
      while (places.length < (NIGHTLY ? 200 : SHORT_RUN ? 6 : 20)) places.push(random.below(count));
      for (const place of places) {
        const before = doubles[place]!;
        for (const value of values) {
          doubles[place] = value;
          const ours = outcome(() => own.sign(message, expanded, { testSeed }));
          const theirs = outcome(() => plain.sign(message, expanded, { testSeed }));
          expect(ours, `${value} at ${place}, ${before}`).toBe(theirs);
          if (theirs === 'INTERNAL') seen.refused++;
          else seen.signed++;
        }
        doubles[place] = before;
      }
      expect(seen.refused).toBeGreaterThan((values.length / 2) * places.length);
      expect(outcome(() => own.sign(message, expanded, { testSeed })).length).toBeGreaterThan(1000);
    },
  );

  test('a leaf outside the sampler’s range: the next number is refused, the last one taken', () => {
    const { secretKey } = falcon512.keygen(new Uint8Array(48));
    using expanded = falcon512.expandSecretKey(secretKey);
    const { buffer, byteOffset } = insideExpanded(expanded)!.expanded;
    const doubles = new Float64Array(buffer, byteOffset, 512 * 12);
    const patterns = new BigUint64Array(buffer, byteOffset, 512 * 12);
    const at = doubles.length - 1;
    for (const falcon of [createFalcon('falcon512', { module: 'plain' }), integer.falcon512]) {
      for (const [limit, outwards] of [
        [0.5492996429552321, -1n],
        [0.782574448002066, 1n],
      ] as const) {
        doubles[at] = limit;
        expect(outcome(() => falcon.sign(new Uint8Array(1), expanded))).not.toBe('INTERNAL');
        patterns[at]! += outwards;
        expect(outcome(() => falcon.sign(new Uint8Array(1), expanded))).toBe('INTERNAL');
      }
    }
  });
});

/** A build whose every judgement is a tie, so that reals alone decide: the margin hides nothing. */
test.skipIf(SHORT_RUN)('the sampler with and without its approximation', async (context) => {
  const SAMPLER = 'assembly/falcon/judgeInteger.ts';
  const margin = 'const MARGIN: i64 = 4096;';
  const patched = (path: string, source: string) => {
    if (path !== SAMPLER) return source;
    expect(source).toContain(margin);
    return source.replace(margin, 'const MARGIN: i64 = 1 << 40;');
  };
  const modules = [
    await signingModule('plain'),
    await signingModule('integer'),
    await signingModule('integer', patched),
  ];
  const random = testRandom('margin');
  const rounds = NIGHTLY ? 2000 : 40;
  const [least, most] = [0.5492996429552321, 0.782574448002066];
  for (let round = 0; round < rounds; round++) {
    const seed = random.bytes(56);
    const records = Array.from({ length: 512 }, () => {
      const centre = () =>
        (random.below(2 ** 32) - 2 ** 31) / 2 ** random.pick([0, 20, 31]) +
        random.pick([0, 0.5, 2 ** -33, 1 - 2 ** -33]);
      const inverse = random.pick([least, most, least + random.below(2 ** 32) / 2 ** 34.1]);
      return [centre(), centre(), Math.min(inverse, most), 256 * 1.2778336969128337];
    }).flat();
    const results = modules.map(({ exports, at, bytes, doubles }) => {
      bytes('A', 56).set(seed);
      exports.streamInit!(at('A'));
      doubles('A', 2048).set(records);
      const failed = exports.samplePairs!(512);
      return { failed, position: exports.streamPosition!(), out: doubles('A', 2048).slice() };
    });
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  }
  fact(context, 'sampler without floating point', `${1024 * rounds} samples, three ways`);
});

/** Notes the exponents of all results of the arithmetic, in a build of its own. */
const NOTES = `
let least: i32 = 2047;
let most: i32 = 0;
export function extreme(isMost: bool): i32 { return (isMost ? most : least) - 1023; }
export function forget(): void { least = 2047; most = 0; }
function note(a: u64): u64 {
  const e = <i32>field(a);
  if (e > 0) { least = min(least, e); most = max(most, e); }
  return a;
}
function notes(a: v128): v128 { return pair(note(low(a)), note(high(a))); }
export function add(x: v128, y: v128): v128 { return notes(addPair(x, y)); }
export function mul(x: v128, y: v128): v128 { return notes(mulPair(x, y)); }
export function sqrt(x: v128): v128 { return notes(sqrtPair(x)); }
export function scale(x: v128, y: v128): v128 { return notes(scalePair(x, y)); }
export function inverse1(x: u64): u64 { return note(inverseOne(x)); }
`;

test.skipIf(SHORT_RUN)('results lie in the range that realInteger.ts states', async (context) => {
  const files = await compile(
    ['assembly/falcon/integerIndex.ts', '--target', 'falcon.integer', '--outFile', 'out.wasm'],
    (path, source) => {
      if (path === 'assembly/falcon/integerIndex.ts') {
        return `${source}export { extreme, forget } from './realInteger';\n`;
      }
      if (path !== 'assembly/falcon/realInteger.ts') return source;
      return (
        source
          .replaceAll(/export function (add|mul|sqrt|scale)\(/g, 'function $1Pair(')
          .replace('export function inverse1(', 'function inverseOne(') + NOTES
      );
    },
  );
  const shipped = new WebAssembly.Module(builtModule('falcon.integer'));
  integer.useFalconModule(new WebAssembly.Module(files.get('out.wasm') as Uint8Array<ArrayBuffer>));
  const random = testRandom('extremes');
  const exports = () =>
    machine('integer').exports as unknown as Record<string, (x: number) => number>;
  const within = (low: number, high: number, what: string) => {
    const found = [exports().extreme!(0), exports().extreme!(1)] as const;
    exports().forget!(0);
    expect(found[0], what).toBeGreaterThanOrEqual(low);
    expect(found[1], what).toBeLessThan(high);
    fact(context, 'range of reals', `${what}: 2^${found[0]} to 2^${found[1] + 1}`);
  };
  const made = KINDS.map(({ own }) =>
    Array.from({ length: NIGHTLY ? 1000 : 50 }, () => own.keygen(random.bytes(48)).secretKey),
  );
  within(-600, 600, 'key generation');
  for (const [i, keys] of made.entries()) for (const key of keys) KINDS[i]!.own.sign(key, key);
  within(-540, 40, 'signing');
  integer.useFalconModule(shipped);
});
