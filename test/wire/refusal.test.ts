/** Aggregates that are not judged are told apart from those that are not valid. */
import { describe, expect, it } from 'vitest';
import { aggregateSync } from '../../src/aggregate/index.ts';
import { refusalOf } from '../../src/wire/resultFile.ts';
import { makeItem } from '../aggregate/batches.ts';
import { headerOf, signedItem } from '../reference/items.ts';

const bytes = aggregateSync([makeItem(512, 'compressed', 1)]);
const changed = (at: number, value: number) => bytes.with(at, value);
/** Says that it is a proof, with a version of that. */
const proof = (version: number) => changed(4, 2).with(5, version);
/** The header of a proof whose tag is that of no row. */
const otherRow = headerOf([signedItem('falcon512', 0)], [new Uint8Array(32)]);

describe('a refusal', () => {
  it.each([
    [
      'an older version',
      changed(5, 1),
      'another version of its format than 2 (bundles) or 3 (proofs)',
    ],
    ['another format', changed(4, 3), 'unknown format'],
    ['an older version of a proof', proof(2), 'another version of its format than'],
    ['another table', otherRow, 'another parameter table'],
    ['a profile', changed(42, 1), 'unknown profile'],
    ['the profile eth-falcon', changed(42, 2), 'of the profile eth-falcon, and only round3'],
    ['a coding of salts', changed(43, 0x60), 'not coded in the one known way'],
  ])('of %s is named', (_, aggregate, reason) => {
    expect(refusalOf(aggregate)).toContain(reason);
  });

  it.each([
    ['no bytes', new Uint8Array(0)],
    ['no aggregate', changed(0, 0)],
    ['a damaged header', changed(39, 2)],
    ['a header that ends early', bytes.subarray(0, 44)],
    ['a damaged body', changed(bytes.length - 1, bytes.at(-1)! ^ 1)],
    ['one that is valid', bytes],
  ])('of %s has no words: it was judged, or it is none', (_, aggregate) => {
    expect(refusalOf(aggregate)).toBeUndefined();
  });
});
