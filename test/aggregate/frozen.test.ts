import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  aggregateSync,
  extractSignatures,
  statementCommitment,
  verifyAggregate,
} from '../../src/aggregate/index.ts';

interface Vectors {
  readonly bundles: readonly {
    readonly name: string;
    readonly aggregate: string;
    readonly items: readonly Record<'digest' | 'public_key' | 'signature', string>[];
  }[];
}

const file = new URL('../vectors/bundle-v2.json', import.meta.url);
const { bundles } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));

describe('bundles of version 2, as they were written once', () => {
  it('are three', () => {
    expect(bundles.map((b) => b.items.length)).toEqual([1, 1, 7]);
  });

  it.each(bundles)('$name', ({ items: triples, aggregate }) => {
    const items = triples.map((t) => ({
      publicKey: bytes(t.public_key),
      message: bytes(t.digest),
      signature: bytes(t.signature),
    }));
    const frozen = bytes(aggregate);
    expect(aggregateSync(items)).toEqual(frozen);
    expect(verifyAggregate(frozen, items)).toBe(true);
    expect(extractSignatures(frozen, items)).toEqual(items.map((item) => item.signature));
    expect(frozen.subarray(6, 38)).toEqual(statementCommitment(items));
  });
});
