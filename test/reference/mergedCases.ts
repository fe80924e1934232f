/** The cases of `vectors/merged.json`: a merged proof of two parts (docs/merged.md), and edits. */
import type { Reason } from './cases.ts';
import type { FrozenEdit, StoredCase } from './frozenCases.ts';

/** The items of the parts, numbers in `items.json`: derived salts, and one that is written out. */
export const MERGED_PARTS: readonly (readonly number[])[] = [[90, 91], [2]];
const ITEMS = MERGED_PARTS.flat();
const NAME = 'merged: two parts';
/** The length of a header without explicit salts: one run each of kinds and of salts. */
const HEADER = 32 + 2 + 4 + 2 + 1 + 2;
const FIRST = 40;
const SECOND = FIRST + HEADER;
const BODY = SECOND + HEADER + 40;

export function mergedCases(good: Uint8Array): (StoredCase & { readonly valid: boolean })[] {
  const flip = (at: number): Omit<FrozenEdit, 'of'> => ({
    at,
    remove: 1,
    put: Buffer.of(good[at]! ^ 1).toString('hex'),
  });
  const bad = (
    name: string,
    reason: Reason,
    edit: Omit<FrozenEdit, 'of'> | undefined,
    items: readonly number[] = ITEMS,
  ): StoredCase => ({
    name: `merged: ${name}`,
    items,
    edit: { of: NAME, ...(edit ?? { at: 0, remove: 0, put: '' }) },
    reason,
  });
  const cases = [
    bad('another magic', 'magic', flip(0)),
    bad('another format', 'format', { at: 4, remove: 1, put: '07' }),
    bad('another version', 'version', { at: 5, remove: 1, put: '02' }),
    bad('another part row', 'table', flip(6)),
    bad('no parts', 'header', { at: 38, remove: 1, put: '00' }),
    bad('more parts than any row has', 'header', { at: 38, remove: 1, put: '13' }),
    bad('another tag', 'table', flip(FIRST + 34)),
    bad('another kind', 'header', { at: SECOND + 38, remove: 1, put: '60' }),
    bad('an unknown profile', 'profile', { at: SECOND + 40, remove: 1, put: '09' }),
    bad('a list in another order', 'list', undefined, ITEMS.toReversed()),
    bad('a list without its last item', 'list', undefined, ITEMS.slice(0, -1)),
    bad('a list longer by one', 'list', undefined, [...ITEMS, 0]),
    bad('another statement in the second part', 'list', undefined, [90, 91, 90]),
    bad('retry 16 in a part', 'bytes', { at: BODY, remove: 1, put: '10' }),
    bad('a byte behind the end', 'bytes', { at: good.length, remove: 0, put: '00' }),
    bad('the last byte is missing', 'bytes', { at: good.length - 1, remove: 1, put: '' }),
    bad('a bit of the first commitment', 'proof', flip(BODY + 40)),
  ];
  const aggregate = Buffer.from(good).toString('base64');
  return [
    { name: NAME, valid: true, items: ITEMS, aggregate },
    ...cases.map((one) => ({ ...one, valid: false })),
  ];
}
