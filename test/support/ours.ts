/**
 * This project's library as the tests use it: both parameter sets, both builds of the module,
 * reproducible keys.
 */
import {
  createFalcon,
  type Falcon,
  falcon512,
  falcon1024,
  type ModuleName,
} from '../../src/falcon/index.ts';
import type { KatSigner } from './katFile.ts';
import type { Degree } from './peers.ts';
import { testRandom } from './random.ts';
import { reals } from './reals.ts';
import type { Form } from './reference.ts';
import { SHORT_RUN } from './run.ts';

const onIntegers = reals.module === 'integer' && (await import('../../src/falcon/integer.ts'));
const own = onIntegers || { falcon512, falcon1024 };

export const SETS: readonly { degree: Degree; falcon: Falcon }[] = [
  { degree: 512, falcon: own.falcon512 },
  { degree: 1024, falcon: own.falcon1024 },
];

/** The same parameter set from each of two builds of the module. */
export const BUILDS: readonly { module: ModuleName; sets: typeof SETS }[] = (
  onIntegers ? (['plain', 'integer'] as const) : (['plain', 'relaxed'] as const)
).map((module) => ({
  module,
  sets:
    module === 'integer'
      ? SETS
      : [
          { degree: 512, falcon: createFalcon('falcon512', { module }) },
          { degree: 1024, falcon: createFalcon('falcon1024', { module }) },
        ],
}));

/** Every set on every build; in the short run each set on one build, and each build once. */
export const BUILDS_OF_SETS = BUILDS.flatMap(({ module, sets }) =>
  sets.map((set) => ({ module, ...set })),
).filter(({ module, degree }) => !SHORT_RUN || (module === 'plain') === (degree === 512));

export const falconOf = (degree: Degree): Falcon =>
  degree === 512 ? own.falcon512 : own.falcon1024;

/** A parameter set as the writer of known-answer files wants it. */
export function katSigner(falcon: Falcon, format: Form): KatSigner {
  return {
    keygen: (seed) => falcon.keygen(seed),
    sign: (message, secretKey, salt, samplerSeed) =>
      falcon.sign(message, secretKey, { format, testSeed: { salt, samplerSeed } }),
  };
}

const keyPairs = new Map<string, { publicKey: Uint8Array; secretKey: Uint8Array }>();

/** Key pair number `index` of the test keys: the same in every run, made once per process. */
export function testKeys(
  degree: Degree,
  index = 0,
): { publicKey: Uint8Array; secretKey: Uint8Array } {
  const name = `${degree} ${index}`;
  let pair = keyPairs.get(name);
  if (pair === undefined) {
    pair = falconOf(degree).keygen(testRandom(`key ${name}`).bytes(48));
    keyPairs.set(name, pair);
  }
  return pair;
}

/** The prepared key of every item, by its raw key. */
export const preparedKeys = (falcon: Falcon, items: readonly TestItem[]) =>
  new Map(items.map(({ publicKey }) => [publicKey, falcon.preparePublicKey(publicKey)]));

export interface TestItem {
  signature: Uint8Array;
  message: Uint8Array;
  publicKey: Uint8Array;
}

/**
 * `count` valid items over `keys` keys, messages of `length` bytes (a number, or a range), forms in
 * turn.
 */
export function testItems(
  degree: Degree,
  count: number,
  options: {
    keys?: number;
    length?: number | [number, number];
    forms?: readonly Form[];
    label?: string;
  } = {},
): TestItem[] {
  const { keys = 4, length = 32, forms = ['compressed'], label = 'items' } = options;
  const random = testRandom(`${label} ${degree}`);
  const falcon = falconOf(degree);
  const pairs = Array.from({ length: keys }, (_, i) => {
    const { publicKey, secretKey } = testKeys(degree, i);
    return { publicKey, expanded: falcon.expandSecretKey(secretKey) };
  });
  const items = Array.from({ length: count }, (_, i) => {
    const { publicKey, expanded } = pairs[i % keys]!;
    const size = typeof length === 'number' ? length : random.between(length[0], length[1]);
    const message = random.bytes(size);
    const format = forms[i % forms.length]!;
    const testSeed = { salt: random.bytes(40), samplerSeed: random.bytes(48) };
    return { signature: falcon.sign(message, expanded, { format, testSeed }), message, publicKey };
  });
  for (const { expanded } of pairs) expanded.destroy();
  return items;
}
