/** The published proofs, which the slow prover made: the same bytes by this one, and accepted. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aggregate, verifyAggregate } from '../../../src/aggregate/index.ts';
import { hex } from '../../support/hex.ts';

interface Vectors {
  readonly items: Readonly<
    Record<string, readonly Record<'publicKey' | 'message' | 'signature', string>[]>
  >;
  readonly proofs: readonly {
    readonly items: readonly (readonly [set: string, number: number])[];
    readonly header: string;
    readonly length: number;
    readonly sha256: string;
  }[];
}

const file = new URL('../../vectors/proof.json', import.meta.url);
const { '11 proofs': vectors } = JSON.parse(readFileSync(file, 'utf8')) as { '11 proofs': Vectors };
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));

describe('published proofs', () => {
  test('are of both sets and of a mixed batch', () => {
    const batches = vectors.proofs.map(({ items }) => items.map(([set]) => set));
    expect(batches.map((sets) => sets.length)).toEqual([1, 2, 3, 9, 1, 2, 3, 9, 3]);
    expect(new Set(batches.at(-1)).size).toBe(2);
  });

  test.each(vectors.proofs.map((proof) => [`${proof.items.length} ${proof.items[0]![0]}`, proof]))(
    '%s',
    { timeout: 120_000 },
    async (_, proof) => {
      const { items, header, length, sha256 } = proof as Vectors['proofs'][number];
      const list = items.map(([set, number]) => {
        const { publicKey, message, signature } = vectors.items[set]![number]!;
        const [key, text] = [bytes(publicKey), bytes(message)];
        return { publicKey: key, message: text, signature: bytes(signature) };
      });
      const made = await aggregate(list, { format: 'proof' });
      expect(hex(made.subarray(0, header.length / 2))).toBe(header);
      expect(made.length).toBe(length);
      expect(createHash('sha256').update(made).digest('hex')).toBe(sha256);
      expect(verifyAggregate(made, list)).toBe(true);
    },
  );
});
