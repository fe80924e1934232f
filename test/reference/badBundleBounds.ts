/**
 * Wrong bundles that break one rule and keep all others: a verifier that leaves out this check
 * accepts them.
 */
import { createHash } from 'node:crypto';
import { FREQUENCIES_512 } from '../../src/aggregate/gaussianTables.gen.ts';
import { referenceBundle, referenceEncode, splitSignature } from '../aggregate/referenceBundle.ts';
import { boundOf, type Crafted, craft } from '../support/craft.ts';
import { decodePublicKey, encodePublicKey, type Form } from '../support/reference.ts';
import { type Case, list, type Reason } from './cases.ts';
import { bad } from './changes.ts';
import { type SetName, type SignedItem, signedItem } from './items.ts';
import { type Model, withSmallState } from './states.ts';

const P = 12289;
/** Every coefficient of a key has this many bits. */
const KEY_BITS = 14;
/** Of the coder, values of s2. */
const LEAST = -2047;
/** This item's bundle ends with a zero byte. */
const ENDS_WITH_ZERO = 402;

const itemOf = (set: SetName, form: Form, made: Crafted): SignedItem => {
  const { publicKey, message } = made;
  return { set, publicKey, message, signature: made.signature(form) };
};

function model(): Model {
  let c = 0n;
  return Array.from({ length: 1 - 2 * LEAST }, (_, i) => {
    const one = { f: BigInt(FREQUENCIES_512[Math.abs(i + LEAST)]!), c };
    c += one.f;
    return one;
  });
}

/** The header of a bundle of one set, and its body. */
function partsOf(items: readonly SignedItem[]) {
  let header = new Uint8Array(0);
  const whole = referenceBundle(items, {
    header: (honest) => {
      header = honest.slice();
      return honest;
    },
  });
  return { header, body: whole.slice(header.length) };
}

/** The same values in other bytes of the coder. */
function* wrongStates(items: readonly SignedItem[]): Generator<Case> {
  const { header, body } = partsOf(items);
  const small = withSmallState(body, model());
  const name = 'bundle: a state below 2^32, right otherwise';
  yield bad(name, items, Uint8Array.of(...header, ...small), 'bytes');
  const hash = createHash('shake256', { outputLength: 8 });
  const check = hash.update('falconry bundle v2').update(header).digest();
  const values = items.flatMap(({ signature }) => splitSignature(signature).s2);
  const ends = [check.readUInt32BE(0), check.readUInt32BE(4)] as const;
  for (const [i, which] of ['the first', 'the second'].entries()) {
    const other = ends.map((x, j) => (i === j ? x + 1 : x)) as [number, number];
    const bytes = Uint8Array.of(...header, ...referenceEncode(512, values, other));
    yield bad(`bundle: ${which} state ends one higher`, items, bytes, 'bytes');
  }
}

/** Keys in an encoding that is not theirs, over which everything else is made. */
function* wrongKeys({ ...item }: SignedItem): Generator<Case> {
  const under = (name: string, publicKey: Uint8Array): Case => {
    const items = [{ ...item, publicKey }];
    return bad(`bundle: ${name}`, items, referenceBundle(items), 'key');
  };
  const h = decodePublicKey(item.publicKey);
  const small = h.findIndex((x) => x + P < 2 ** KEY_BITS);
  yield under('a coefficient of a key and p', encodePublicKey(h.with(small, h[small]! + P)));
  yield under('a key with 0 as its first byte', item.publicKey.with(0, 0));
}

/** Signatures that no signer makes, of keys that are made for them. */
function* wrongSignatures(first: SignedItem): Generator<Case> {
  const make = (name: string, items: readonly SignedItem[], forms?: readonly number[]): Case => {
    const bytes = referenceBundle(items, forms && { forms });
    return bad(`bundle: ${name}`, items, bytes, 'signature');
  };
  const long = craft(512, 'a little too long', boundOf(512) + 1);
  const second = itemOf('falcon512', 'compressed', long);
  yield make('the second of two is too long by one', [first, second]);
  const ofOther = craft(1024, 'a little too long', boundOf(1024) + 1);
  const large = itemOf('falcon1024', 'compressed', ofOther);
  yield make('the one of falcon1024 is too long by one', [first, large]);
  yield make('the one of falcon512 is too long by one', [signedItem('falcon1024', 0), second]);
  // 392 coefficients with one bit in unary more: 666 bytes, and padded ones end with a zero byte
  const s2 = Object.fromEntries(Array.from({ length: 392 }, (_, i) => [i, i % 2 ? 130 : -130]));
  const wide = itemOf('falcon512', 'compressed', craft(512, 'wide', boundOf(512), { s2 }));
  yield make('a signature that fills the padded length, as padded', [wide], [1]);
}

export function* badBundleBounds(): Generator<Case> {
  const of = (name: string, items: readonly SignedItem[], bytes: Uint8Array, reason: Reason) =>
    bad(name, items, bytes, reason);
  const [a, b] = list('falcon512', 2) as [SignedItem, SignedItem];
  yield of('no items, bundle', [], referenceBundle([]), 'header');
  const ofFirst = referenceBundle([a], { statements: [a, b] });
  yield of('a bundle of the first of two items', [a, b], ofFirst, 'list');
  yield* wrongStates([a]);
  yield* wrongKeys(a);
  yield* wrongSignatures(a);
  const zero = signedItem('falcon512', ENDS_WITH_ZERO);
  const ending = referenceBundle([zero]);
  if (ending.at(-1) !== 0) throw new RangeError('the last byte is not zero');
  yield of('bundle: the last byte, a zero, missing', [zero], ending.slice(0, -1), 'bytes');
}
