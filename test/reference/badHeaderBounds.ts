/**
 * Wrong proofs whose header or list breaks one rule, everything behind it made for it: a verifier
 * of proofs alone that leaves out this check accepts them.
 */
import { decodePublicKey, encodePublicKey } from '../support/reference.ts';
import { aggregateOf, type Case, list, type Reason } from './cases.ts';
import { bad, spliced } from './changes.ts';
import { headerOf, type SignedItem, saltOf, tagOf } from './items.ts';
import { hashOfRow, tableRow } from './table.ts';

const [COMMITMENT_AT, TAG_AT, KINDS_AT, SALTS_AT] = [6, 40, 44, 47];
const OTHER_SET = 3 << 5;
const DERIVED = 2 << 5;
const P = 12289;
/** Every coefficient of a key has this many bits. */
const KEY_BITS = 14;

/** The header is changed, and the proof is made for it. */
function under(
  name: string,
  reason: Reason,
  items: readonly SignedItem[],
  ...edit: readonly [at: number, remove: number, ...put: number[]]
): Case {
  const header = spliced(headerOf(items), ...edit);
  return bad(`proof for its header: ${name}`, items, aggregateOf(items, { header }), reason);
}

/** The key has another encoding in the list, and the proof is made for that list. */
function withKey(name: string, item: SignedItem, publicKey: Uint8Array): Case {
  const items = [{ ...item, publicKey }];
  const bytes = aggregateOf([item], { header: headerOf(items) });
  return bad(`proof for its list: ${name}`, items, bytes, 'key');
}

export function* badHeaderBounds(): Generator<Case> {
  const items = list('falcon512', 1);
  const commitment = headerOf(items)[COMMITMENT_AT]! ^ 1;
  yield under('magic', 'magic', items, 0, 1, 0x66);
  yield under('commitment', 'list', items, COMMITMENT_AT, 1, commitment);
  const tag = tagOf([hashOfRow(tableRow('falcon1024', 1))]);
  yield under('kind of the other set', 'list', items, TAG_AT, 5, ...tag, OTHER_SET);
  yield under('a run of kinds past the end', 'header', items, KINDS_AT + 1, 1, 1);
  const twoRuns = [DERIVED, 0, DERIVED, 0] as const;
  const derived = list('falcon512', 2, 'derived');
  yield under('two runs of derived salts', 'saltCoding', derived, SALTS_AT, 2, ...twoRuns);
  const one = derived.slice(0, 1);
  const salt = saltOf(one[0]!);
  yield under('a derived salt written out', 'derivedSalt', one, SALTS_AT, 2, 0, 0, ...salt);
  const constant = list('falcon512', 1, { version: 0 });
  const out = [0, 0, ...saltOf(constant[0]!)] as const;
  yield under('a constant salt written out', 'saltCoding', constant, SALTS_AT, 3, ...out);

  const [item] = items as [SignedItem];
  const h = decodePublicKey(item.publicKey);
  const small = h.findIndex((x) => x + P < 2 ** KEY_BITS);
  yield withKey('a coefficient and p', item, encodePublicKey(h.with(small, h[small]! + P)));
  yield withKey('0 as the first byte', item, item.publicKey.with(0, 0));
}
