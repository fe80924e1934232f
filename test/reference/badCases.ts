/**
 * Aggregates that every verifier refuses. Each is wrong in one respect: where that is a rule of the
 * header or of the codes, the body is proved over the wrong bytes, so that nothing else fails.
 */
import { badBounds } from './badBounds.ts';
import { badHeaderBounds } from './badHeaderBounds.ts';
import { badHidden } from './badHidden.ts';
import { aggregateOf, type Case, list, type Reason } from './cases.ts';
import { bad, both, flippedBitsOf, proved, spliced } from './changes.ts';
import {
  constantSalt,
  headerOf,
  rowHashesOf,
  type SignedItem,
  saltOf,
  signedItem,
} from './items.ts';
import { readParameters } from './prover/parameters.ts';
import { proveReference } from './prover/prove.ts';
import type { Faults } from './prover/trace.ts';
import { hashOfRow, tableRow } from './table.ts';

const VERSION_AT = 5;
const COUNT_AT = 38;
const TAG_AT = 40;

/** Makes aggregates of a format with a changed header. */
export interface Maker {
  readonly format: string;
  /** some that are refused */
  readonly versions: readonly number[];
  /** where the kinds stand; in a batch of one set and kind, profile and salts are 2 and 3 behind */
  readonly kindsAt: number;
  /** what is wrong when a point is not that of the signature */
  readonly wrongPoint: Reason;
  headerOf(items: readonly SignedItem[]): Uint8Array;
  make(items: readonly SignedItem[], change: (header: Uint8Array) => Uint8Array): Uint8Array;
}

/** Proofs whose body is bound to the changed header. */
const PROOFS: Maker = {
  format: 'proof',
  versions: [1, 2, 4],
  kindsAt: 44,
  wrongPoint: 'proof',
  headerOf,
  make: (items, change) => aggregateOf(items, { header: change(headerOf(items)) }),
};

/** Honest proofs of one list whose header is changed afterwards. */
export function changedProofs(): Maker {
  let honest: Uint8Array | undefined;
  return {
    ...PROOFS,
    make: (items, change) => {
      honest ??= aggregateOf(items);
      const header = headerOf(items);
      return Uint8Array.from([...change(header), ...honest.slice(header.length)]);
    },
  };
}

type Edit = readonly [
  name: string,
  reason: Reason | undefined,
  at: number,
  remove: number,
  ...put: number[],
];

function headerEdits({ versions, kindsAt, wrongPoint }: Maker, honest: Uint8Array): Edit[] {
  const [profileAt, saltsAt] = [kindsAt + 2, kindsAt + 3];
  return [
    ...versions.map((version): Edit => [`version ${version}`, 'version', VERSION_AT, 1, version]),
    ['format 3', 'format', VERSION_AT - 1, 1, 3],
    ['magic', 'magic', 0, 1, 0x66],
    ['count one less', 'header', COUNT_AT, 2, 0, 1],
    ['count 0', 'header', COUNT_AT, 2, 0, 0],
    ['commitment', 'list', COUNT_AT - 1, 1, honest[COUNT_AT - 1]! ^ 1],
    // the tag of a proof is another, too
    ['kind of the other set', wrongPoint === 'proof' ? undefined : 'list', kindsAt, 2, 3 << 5, 1],
    ['kind 7', 'header', kindsAt, 2, 7 << 5, 1],
    ['two runs of one kind', 'header', kindsAt, 2, 0, 0, 0, 0],
    ['a run of kinds past the end', 'header', kindsAt, 2, 0, 2],
    ['profile 1', 'profile', profileAt, 1, 1],
    ['two profiles', undefined, profileAt, 1, 0, 0],
    ['no profile', undefined, profileAt, 1],
    ['coding 3 of salts', 'saltCoding', saltsAt, 2, 3 << 5, 1],
    ['two runs of explicit salts', 'saltCoding', saltsAt, 2, 0, 0, 0, 0],
    ['a run of salts past the end', 'header', saltsAt, 2, 0, 2],
    ['a salt too many', 'bytes', saltsAt + 2, 0, ...new Array<number>(40).fill(7)],
    ['another salt', wrongPoint, saltsAt + 2, 1, honest[saltsAt + 2]! ^ 1],
  ];
}

/** Wrong headers of either format. */
export function* badHeaders(maker: Maker = PROOFS): Generator<Case> {
  const items = list('falcon512', 2);
  const edits = headerEdits(maker, maker.headerOf(items));
  for (const [name, reason, at, remove, ...put] of edits) {
    const bytes = maker.make(items, (header) => spliced(header, at, remove, ...put));
    yield bad(`${maker.format}: ${name}`, items, bytes, reason);
  }
}

/** Wrong headers that only a proof can have. */
export function* badProofHeaders(): Generator<Case> {
  const items = list('falcon512', 2);
  const honest = headerOf(items);
  const { kindsAt, make } = PROOFS;
  const under = (name: string, reason: Reason, at: number, remove: number, ...put: number[]) =>
    bad(
      name,
      items,
      make(items, (header) => spliced(header, at, remove, ...put)),
      reason,
    );
  yield under('tag of the row', 'table', TAG_AT, 1, honest[TAG_AT]! ^ 1);
  yield under('last byte of the tag', 'table', TAG_AT + 3, 1, honest[TAG_AT + 3]! ^ 128);
  yield under('padded kind', 'header', kindsAt, 2, 1 << 5, 1);
  const rowHash = hashOfRow(tableRow('falcon512', 2)).map((x) => x ^ 1);
  const header = headerOf(items, [rowHash]);
  const name = 'another row in';
  yield bad(`${name} tag and transcript`, items, aggregateOf(items, { header, rowHash }), 'table');
  yield bad(`${name} the tag alone`, items, aggregateOf(items, { header }), 'table');
  yield bad(`${name} the transcript alone`, items, aggregateOf(items, { rowHash }), 'proof');
  const mixed = [signedItem('falcon512', 0), signedItem('falcon1024', 0)];
  const turned = aggregateOf(mixed, { header: headerOf(mixed, rowHashesOf(mixed).toReversed()) });
  yield bad('tag of the rows of two sections, turned', mixed, turned, 'table');
}

/** Salts in another coding than their own. */
export function* badSalts(maker: Maker = PROOFS): Generator<Case> {
  const { format, kindsAt, wrongPoint } = maker;
  const explicit = (items: readonly SignedItem[]): number[] => [
    ...[0, items.length - 1],
    ...items.flatMap((item) => [...saltOf(item)]),
  ];
  const under = (
    name: string,
    reason: Reason,
    items: readonly SignedItem[],
    salts: readonly number[] = explicit(items),
  ): Case => {
    const change = (header: Uint8Array) =>
      Uint8Array.from([...header.slice(0, kindsAt + 3), ...salts]);
    return bad(`${format}: ${name}`, items, maker.make(items, change), reason);
  };
  const constant = list('falcon512', 2, { version: 0 });
  const constant255 = list('falcon512', 2, { version: 255 });
  const derived = list('falcon512', 2, 'derived');
  const random = list('falcon512', 2);
  const half = [signedItem('falcon512', 0), signedItem('falcon512', 1, 'derived')];
  yield under('constant salts written out', 'saltCoding', constant);
  yield under('constant salts of version 255 written out', 'saltCoding', constant255);
  yield under('derived salts written out', 'derivedSalt', derived);
  yield under('one derived salt of two written out', 'derivedSalt', half);
  const twice = [32, 0, 0, 32, 0, 0];
  yield under('two runs of constant salts of one version', 'saltCoding', constant, twice);
  yield under('constant salts of another version', wrongPoint, constant, [32, 1, 1]);
  yield under('derived salts as constant', wrongPoint, derived, [32, 1, 0]);
  yield under('constant salts as derived', wrongPoint, constant, [64, 1]);
  yield under('explicit salts as derived', wrongPoint, random, [64, 1]);
  yield under('two runs of derived salts', 'saltCoding', derived, [64, 0, 64, 0]);
  const other = constantSalt('falcon1024', 0);
  const ofOther = [0, 1, ...other, ...other];
  yield under('the constant salt of the other set', wrongPoint, constant, ofOther);
}

/** An honest aggregate for another list. */
export function* badLists(): Generator<Case> {
  const items = list('falcon512', 3);
  const honest = aggregateOf(items);
  const [a, b, c] = items as [SignedItem, SignedItem, SignedItem];
  yield bad('one item less', [a, b], honest, 'list');
  yield bad('one item more', [a, b, c, c], honest, 'list');
  yield bad('another order', [b, a, c], honest, 'list');
  const longer = { ...b, message: Uint8Array.of(...b.message, 0) };
  yield bad('another message', [a, longer, c], honest, 'list');
  yield bad('another key', [a, { ...b, publicKey: c.publicKey }, c], honest, 'list');
  const changed = b.publicKey.slice();
  changed[5]! ^= 1;
  yield bad('a key with one bit changed', [a, { ...b, publicKey: changed }, c], honest, 'list');
  yield bad('a byte after the end', items, Uint8Array.of(...honest, 0), 'bytes');
  yield bad('the last byte missing', items, honest.slice(0, -1), 'bytes');
  for (const length of [0, 3, 4, 5, 37, 39, 43, 45, 46, 48, 88, 168, 169]) {
    const reason = length < 4 ? 'magic' : length < headerOf(items).length ? 'header' : 'bytes';
    yield bad(`the first ${length} bytes`, items, honest.slice(0, length), reason);
  }
  yield bad(
    'the section twice',
    items,
    Uint8Array.of(...honest, ...honest.slice(headerOf(items).length)),
    'bytes',
  );
  yield bad('the row of a larger bucket', items, aggregateOf(items, { rowFor: 5 }));

  const mixed = [signedItem('falcon512', 0), signedItem('falcon1024', 0)];
  const both = aggregateOf(mixed);
  const at = headerOf(mixed).length;
  const first = proveReference({
    set: 'falcon512',
    row: tableRow('falcon512', 1),
    header: headerOf(mixed),
    items: mixed.slice(0, 1),
  });
  const swapped = [...both.slice(at + first.length), ...first];
  yield bad('sections in the other order', mixed, Uint8Array.of(...both.slice(0, at), ...swapped));
  yield bad('a key that is not canonical', ...withKey(a, [12289 >> 6, (12289 & 63) << 2]), 'key');
}

/** An aggregate whose list, commitment and transcript hold a key of a coefficient p. */
function withKey(item: SignedItem, bytes: readonly number[]): [readonly SignedItem[], Uint8Array] {
  const publicKey = item.publicKey.slice();
  publicKey.set(bytes, 1);
  const items = [{ ...item, publicKey }];
  return [items, aggregateOf([item], { header: headerOf(items) })];
}

/** Bits of every field of an honest proof of one item. */
export function* flippedBits(): Generator<Case> {
  const one = proved(list('falcon512', 1));
  for (const field of one.fields) yield* flippedBitsOf(one, field);
}

/** Provers that cheat and go on as an honest one would. */
export function* cheatingProvers(): Generator<Case> {
  const items = list('falcon512', 1);
  const by = (name: string, faults: Faults, own: readonly SignedItem[] = items): Case =>
    bad(name, own, aggregateOf(own, { faults }));
  const set = (x: number) => (): Uint8Array => Uint8Array.of(x);
  const [a, b] = [signedItem('falcon512', 0), signedItem('falcon512', 1)];
  const { levels } = readParameters(tableRow('falcon512', 1));
  const tail = levels.length;
  yield by('retry 16', both('retry', set(16), 0));
  yield by('retry 16 in the tail', both('retry', set(16), tail));
  yield by('counter 16', both('counter', set(16), 0));
  yield by(
    'filling of b is not zero',
    both('b', (x) => x.with(-1, x.at(-1)! | 128), 0),
  );
  // a cut of 7 or more leaves no value above the range; that of two items is 6
  yield by(
    "u'_A above its range",
    both('uA', (x) => x.map((byte, i) => (i < 5 ? 255 : byte)), 0),
    list('falcon512', 2),
  );
  yield by(
    'b above q',
    both('b', (x) => x.map((byte, i) => (i < 6 ? 255 : byte)), tail),
  );

  const unchecked: Faults = { unchecked: true, ignore: () => true };
  const forged = { ...a, signature: b.signature };
  yield by('the signature of another item', unchecked, [forged]);
  yield by('no signature', unchecked, [{ ...a, signature: a.signature.slice(0, 41) }]);
  yield by('w_0 + 1', { w: (w) => w.map((x, j) => (j === 0 ? x + 1n : x)) });
  yield by('another y', {
    y: ({ y, star }) => ({ y: y.map((x, j) => (j === 7 ? x + 1n : x)), star }),
  });
  yield by('another y*', {
    y: ({ y, star }) => ({ y, star: star.map((x, j) => (j === 100 ? x - 1n : x)) }),
  });
  yield by('another sum of the lower halves', {
    y: ({ y, star }) => ({ y: y.map((x, j) => (j === 136 ? x + 2n : x)), star }),
  });
  yield by('another lift', {
    lifts: (lifts) => lifts.map((f, k) => (k === 1 ? f.map((x, i) => (i === 5 ? x + 1n : x)) : f)),
  });
  yield by('epsilon is zero', {
    witness: ({ S, W }) => ({
      S: S.map((s) =>
        s.with(
          -1,
          s[0]!.map(() => 0n),
        ),
      ),
      W,
    }),
    ignore: () => true,
  });
}

export function* badCases(): Generator<Case> {
  yield* badHeaders();
  yield* badProofHeaders();
  yield* badSalts();
  yield* badLists();
  yield* flippedBits();
  yield* cheatingProvers();
  yield* badHidden();
  yield* badBounds();
  yield* badHeaderBounds();
}
