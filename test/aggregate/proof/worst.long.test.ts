/**
 * The worst signatures that are still valid: squared norms of exactly β², so that nothing is left
 * for the norm-filling polynomial, with the energy spread evenly, in a few coefficients, or in a
 * single one. They go through the whole prover and verifier.
 */
import { describe, expect, test } from 'vitest';
import { parseHeader } from '../../../src/aggregate/container.ts';
import { aggregate, type FormatChoice, verifyAggregate } from '../../../src/aggregate/index.ts';
import { readRow } from '../../../src/aggregate/parameters/rows.ts';
import { parseSection } from '../../../src/aggregate/proof/verifier/parse.ts';
import { falcon512, falcon1024 } from '../../../src/falcon/index.ts';
import { boundOf, type Chosen, craft } from '../../support/craft.ts';
import { fact } from '../../support/facts.ts';
import { testRandom } from '../../support/random.ts';
import { NIGHTLY } from '../../support/run.ts';
import { rowOf } from './sections.ts';

const LONG = { timeout: 1_800_000 };
type Degree = 512 | 1024;

interface Item {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** The last eight coefficients of s1 are left to `craft`, which takes them to the norm. */
const ALL_BUT = 8;
const filled = (count: number, value: (k: number) => number): Record<number, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, k) => [k, value(k)]));

/** Coefficients of about the size at which 2n of them have the norm β. */
const SIZE = { 512: 180, 1024: 183 } as const;
/** Coefficients of s2 that its encoding takes at the most, and how many of them the norm takes. */
const LARGEST = { value: 2047, 512: 8, 1024: 16 } as const;

const SHAPES: Readonly<Record<string, (degree: Degree, label: string) => Chosen>> = {
  'spread evenly': (degree, label) => {
    const random = testRandom(`worst ${label}`);
    const draw = () => random.pick([-1, 1]) * random.between(SIZE[degree] - 3, SIZE[degree] + 1);
    return { s1: filled(degree - ALL_BUT, draw), s2: filled(degree, draw) };
  },
  'in a few coefficients of s1': () => ({}),
  'in one coefficient of s1': (degree) => ({
    s1: filled(degree - ALL_BUT, () => 0),
    s2: filled(degree, (k) => (k === 0 ? 1 : 0)),
  }),
  'in the largest coefficients of s2': (degree) => ({
    s1: filled(degree - ALL_BUT, () => 0),
    s2: filled(degree, (k) => (k < LARGEST[degree] ? LARGEST.value : 0)),
  }),
};

/**
 * Every coefficient equal: the polynomial of the norms is as large as it can be, beyond what the
 * table makes room for.
 */
const flat = (degree: Degree): Chosen => ({
  s1: filled(degree - ALL_BUT, () => SIZE[degree]),
  s2: filled(degree, (k) => SIZE[degree] + (k === 0 ? 1 : 0)),
});

/** A signature of squared norm β², and a key under which it is valid. */
function worstItem(degree: Degree, name: string, number: number): Item {
  const choose = SHAPES[name] ?? flat;
  for (let attempt = 0; ; attempt++) {
    const label = `${name} ${number} ${attempt}`;
    try {
      const crafted = craft(degree, label, boundOf(degree), choose(degree, label));
      expect(crafted.normSquared).toBe(boundOf(degree));
      const { publicKey, message } = crafted;
      return { publicKey, message, signature: crafted.signature('compressed') };
    } catch (error) {
      // this s2 has no inverse, or the squares do not come out: the next one
      if (attempt === 20) throw error;
    }
  }
}

const worstItems = (degree: Degree, name: string, count: number): Item[] =>
  Array.from({ length: count }, (_, number) => worstItem(degree, name, number));

/** The retry bytes of a proof of one section: 0 where the first attempt was good. */
function retriesOf(degree: Degree, count: number, proof: Uint8Array): number[] {
  const header = parseHeader(proof);
  if (typeof header === 'string' || header === undefined) throw new Error('no header');
  const parameters = readRow(rowOf(`falcon${degree}`, count));
  const { levels, tail } = parseSection(parameters, proof, header.bodyAt)!;
  return [...levels, tail].map(({ retry }) => retry);
}

const COUNTS: readonly (readonly [Degree, readonly number[]])[] = NIGHTLY
  ? [
      [512, [1, 2, 3, 4, 8, 16, 33, 64, 110, 256, 500, 1000, 1722, 5632]],
      [1024, [1, 2, 3, 4, 8, 16, 33, 64, 110, 256, 500, 1000, 1722, 2944]],
    ]
  : [
      [512, [1, 2, 4, 16]],
      [1024, [1, 2, 4, 16]],
    ];

describe.each(COUNTS)('falcon%i, squared norm exactly β²', (degree, counts) => {
  test.for(Object.keys(SHAPES))('%s', LONG, async (name, context) => {
    const items = worstItems(degree, name, counts.at(-1)!);
    const { verify } = degree === 512 ? falcon512 : falcon1024;
    for (const { signature, message, publicKey } of items) {
      expect(verify(signature, message, publicKey)).toBe(true);
    }
    const shown: string[] = [];
    for (const count of counts) {
      const batch = items.slice(0, count);
      const proof = await aggregate(batch, { format: 'proof' });
      expect(verifyAggregate(proof, batch), `${count} items`).toBe(true);
      shown.push(`${count}: ${retriesOf(degree, count, proof).join('.')}`);
    }
    fact(context, 'norm β²', `falcon${degree} ${name}, retry bytes ${shown.join(', ')}`);
  });

  test('every coefficient equal: a proof, or the bundle', LONG, async (context) => {
    for (const count of NIGHTLY ? [1, 16, 110, 500] : [1, 110]) {
      const items = worstItems(degree, 'flat', count);
      const choices: FormatChoice[] = [];
      const bytes = await aggregate(items, { onFormat: (choice) => choices.push(choice) });
      expect(verifyAggregate(bytes, items)).toBe(true);
      const { format, reason } = choices[0]!;
      expect(['smaller', 'noProof']).toContain(reason);
      fact(context, 'norm β²', `falcon${degree} ${count} flat: ${format}, ${reason}`);
    }
  });
});
