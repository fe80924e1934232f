import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inflate } from '../../src/shared/inflate.ts';
import { testRandom } from '../support/random.ts';

const random = testRandom('inflate');
/** Bytes that repeat now and then, as modules do. */
function mixed(length: number): Uint8Array {
  const bytes = random.bytes(length);
  for (let at = 300; at < length; at += random.between(20, 600)) {
    const run = Math.min(random.between(3, 400), length - at);
    bytes.copyWithin(at, random.below(at), at);
    bytes.fill(bytes[at - 1]!, at, at + (run >> 3));
  }
  return bytes;
}

const strategies = { default: 0, filtered: 1, huffmanOnly: 2, runs: 3, fixedCodes: 4 } as const;
const inputs: readonly [string, Uint8Array][] = [
  ['nothing', new Uint8Array(0)],
  ['one byte', Uint8Array.of(7)],
  ['zeros', new Uint8Array(100_000)],
  ['random bytes, stored', random.bytes(70_000)],
  ['text', new TextEncoder().encode('a plain text, again and again. '.repeat(300))],
  ['a mixture', mixed(120_000)],
];

describe.each(inputs)('%s', (_, input) => {
  test.each(Object.entries(strategies))('inflates, strategy %s', (_name, strategy) => {
    for (const level of [0, 1, 6, 9]) {
      const text = deflateRawSync(input, { level, strategy }).toString('base64');
      expect(Buffer.compare(inflate(text, input.length), input)).toBe(0);
    }
  });

  test('inflates after a dictionary', () => {
    for (const dictionary of [random.bytes(100), input.slice(-20_000), mixed(40_000)]) {
      if (dictionary.length === 0) continue;
      const text = deflateRawSync(input, { dictionary, level: 9 }).toString('base64');
      expect(Buffer.compare(inflate(text, input.length, dictionary), input)).toBe(0);
    }
  });
});
