/** Bundles, good and bad, with their lists: docs/bundle-format.md. */
import { joinSignature, referenceBundle, splitSignature } from '../aggregate/referenceBundle.ts';
import { badHeaders, badSalts, type Maker } from './badCases.ts';
import { type Case, caseOf, list, type Reason } from './cases.ts';
import { spliced } from './changes.ts';
import { type SaltKind, type SetName, type SignedItem, signedItem } from './items.ts';

type Form = 0 | 1 | 2;

/** A signed item whose signature has this form: 0 compressed, 1 padded, 2 constant-time. */
function formed(set: SetName, number: number, form: Form, kind?: SaltKind): SignedItem {
  const item = signedItem(set, number, kind);
  return { ...item, signature: joinSignature({ ...splitSignature(item.signature), form }) };
}

export function* goodBundles(): Generator<Case> {
  const make = (name: string, items: readonly SignedItem[]): Case =>
    caseOf(`bundle: ${name}`, items, referenceBundle(items));
  for (const set of ['falcon512', 'falcon1024'] as const) {
    for (const count of [1, 9]) yield make(`${set}, ${count} items`, list(set, count));
    yield make(`${set}, 3 items, constant salts`, list(set, 3, { version: 0 }));
    yield make(`${set}, 2 items, derived salts`, list(set, 2, 'derived'));
    const forms = ([0, 1, 2] as const).map((form) => formed(set, form, form));
    yield make(`${set}, one of each form`, forms);
  }
  yield make('9 items, salts and forms of all kinds in both sets', [
    formed('falcon512', 0, 2, { version: 0 }),
    formed('falcon1024', 1, 1, { version: 0 }),
    formed('falcon512', 2, 1, { version: 255 }),
    formed('falcon512', 3, 1),
    formed('falcon1024', 4, 0),
    formed('falcon512', 5, 0, 'derived'),
    formed('falcon512', 6, 2, 'derived'),
    formed('falcon1024', 7, 0, { version: 255 }),
    formed('falcon512', 8, 0),
  ]);
}

/** Bundles whose body is bound to the changed header. */
const BUNDLES: Maker = {
  format: 'bundle',
  versions: [1, 3, 4],
  kindsAt: 40,
  wrongPoint: 'signature',
  headerOf: (items) => {
    let honest = new Uint8Array(0);
    referenceBundle(items, {
      header: (header) => {
        honest = header.slice();
        return header;
      },
    });
    return honest;
  },
  make: (items, header) => referenceBundle(items, { header }),
};

export function* badBundles(): Generator<Case> {
  yield* badHeaders(BUNDLES);
  yield* badSalts(BUNDLES);

  const bad = (name: string, items: readonly SignedItem[], bytes: Uint8Array, reason?: Reason) =>
    caseOf(`bundle: ${name}`, items, bytes, false, reason);
  const items = list('falcon512', 2);
  const [a, b] = items as [SignedItem, SignedItem];
  const honest = referenceBundle(items);
  const bodyAt = BUNDLES.headerOf(items).length;
  yield bad('another order', [b, a], honest, 'list');
  yield bad('a byte after the end', items, Uint8Array.of(...honest, 0), 'bytes');
  yield bad('the last byte missing', items, honest.slice(0, -1), 'bytes');
  yield bad('the header alone', items, honest.slice(0, bodyAt), 'bytes');
  for (const at of [bodyAt, bodyAt + 11, (bodyAt + honest.length) >> 1, honest.length - 1]) {
    const flipped = spliced(honest, at, 1, honest[at]! ^ 1);
    yield bad(`a bit of byte ${at - bodyAt} of the body`, items, flipped, 'bytes');
  }
  const low = spliced(honest, bodyAt, 6, 0, 0, 255, 255, 255, 255);
  yield bad('a state below 2^32', items, low, 'bytes');
  const kind = BUNDLES.kindsAt;
  yield bad('another form, in a changed header', items, spliced(honest, kind, 1, 1 << 6), 'bytes');

  const forged = { ...a, signature: b.signature };
  yield bad('the signature of another item', [forged], referenceBundle([forged]), 'signature');
  const parts = splitSignature(a.signature);
  const s2 = parts.s2.with(7, parts.s2[7]! + 1);
  const other = { ...a, signature: joinSignature({ ...parts, s2 }) };
  yield bad('another coefficient', [other], referenceBundle([other]), 'signature');
}
