/**
 * Aggregates that every verifier refuses. Each is wrong in one respect: where that is a rule of the
 * header or of the codes, the body is proved over the wrong bytes, so that nothing else fails.
 */
import { aggregateOf, type Case, caseOf, type Lies, list } from './cases.ts';
import { constantSalt, headerOf, type SignedItem, saltOf, signedItem } from './items.ts';
import { readParameters } from './prover/parameters.ts';
import { proveReference } from './prover/prove.ts';
import { tableRow } from './prover/runs.ts';
import type { Faults, TraceEvent } from './prover/trace.ts';
import { TABLE_HASH } from './table.ts';

const VERSION_AT = 5;
const COUNT_AT = 38;
const TAG_AT = 40;
/** in the header of a batch of one set */
const KINDS_AT = 44;
const PROFILE_AT = 46;
const SALTS_AT = 47;

const bad = (name: string, items: readonly SignedItem[], bytes: Uint8Array): Case =>
  caseOf(name, items, bytes, false);

/** Bytes with others in place of some. */
const spliced = (
  bytes: Uint8Array,
  at: number,
  remove: number,
  ...put: readonly number[]
): Uint8Array => Uint8Array.from([...bytes.slice(0, at), ...put, ...bytes.slice(at + remove)]);

/** Wrong headers, each with a body that is bound to it. */
function* badHeaders(): Generator<Case> {
  const items = list('falcon512', 2);
  const honest = headerOf(items);
  const under = (name: string, at: number, remove: number, ...put: number[]): Case =>
    bad(name, items, aggregateOf(items, { header: spliced(honest, at, remove, ...put) }));
  yield under('version 1', VERSION_AT, 1, 1);
  yield under('version 3', VERSION_AT, 1, 3);
  yield under('format 3', VERSION_AT - 1, 1, 3);
  yield under('magic', 0, 1, 0x66);
  yield under('count one less', COUNT_AT, 2, 0, 1);
  yield under('count 0', COUNT_AT, 2, 0, 0);
  yield under('commitment', COUNT_AT - 1, 1, honest[COUNT_AT - 1]! ^ 1);
  yield under('tag of the table', TAG_AT, 1, honest[TAG_AT]! ^ 1);
  yield under('last byte of the tag', TAG_AT + 3, 1, honest[TAG_AT + 3]! ^ 128);
  yield under('padded kind', KINDS_AT, 2, 1 << 5, 1);
  yield under('kind of the other set', KINDS_AT, 2, 3 << 5, 1);
  yield under('kind 7', KINDS_AT, 2, 7 << 5, 1);
  yield under('two runs of one kind', KINDS_AT, 2, 0, 0, 0, 0);
  yield under('a run of kinds past the end', KINDS_AT, 2, 0, 2);
  yield under('profile 1', PROFILE_AT, 1, 1);
  yield under('two profiles', PROFILE_AT, 1, 0, 0);
  yield under('no profile', PROFILE_AT, 1);
  yield under('coding 3 of salts', SALTS_AT, 2, 3 << 5, 1);
  yield under('two runs of explicit salts', SALTS_AT, 2, 0, 0, 0, 0);
  yield under('a run of salts past the end', SALTS_AT, 2, 0, 2);
  yield under('a salt too many', SALTS_AT + 2, 0, ...new Array<number>(40).fill(7));
  yield under('another salt', SALTS_AT + 2, 1, honest[SALTS_AT + 2]! ^ 1);

  const other = Uint8Array.from(TABLE_HASH, (x) => x ^ 1);
  yield bad(
    'another table in tag and transcript',
    items,
    aggregateOf(items, withTable(items, other)),
  );
  yield bad(
    'another table in the transcript alone',
    items,
    aggregateOf(items, { tableHash: other }),
  );
}

const withTable = (items: readonly SignedItem[], tableHash: Uint8Array<ArrayBuffer>): Lies => ({
  header: headerOf(items, tableHash),
  tableHash,
});

/** Salts in another coding than their own. */
export function* badSalts(): Generator<Case> {
  const explicit = (items: readonly SignedItem[]): number[] => [
    ...[0, items.length - 1],
    ...items.flatMap((item) => [...saltOf(item)]),
  ];
  const under = (name: string, items: readonly SignedItem[], salts: readonly number[]): Case => {
    const header = Uint8Array.from([...headerOf(items).slice(0, SALTS_AT), ...salts]);
    return bad(name, items, aggregateOf(items, { header }));
  };
  const constant = list('falcon512', 2, { version: 0 });
  const derived = list('falcon512', 2, 'derived');
  const random = list('falcon512', 2);
  yield under('constant salts written out', constant, explicit(constant));
  yield under('constant salts of version 255 written out', ...writtenOut(explicit));
  yield under('derived salts written out', derived, explicit(derived));
  yield under('one derived salt of two written out', ...halfWrittenOut());
  yield under('two runs of constant salts of one version', constant, [32, 0, 0, 32, 0, 0]);
  yield under('constant salts of another version', constant, [32, 1, 1]);
  yield under('derived salts as constant', derived, [32, 1, 0]);
  yield under('constant salts as derived', constant, [64, 1]);
  yield under('explicit salts as derived', random, [64, 1]);
  yield under('two runs of derived salts', derived, [64, 0, 64, 0]);
  const larger = constantSalt('falcon1024', 0);
  yield under('the constant salt of the other set', constant, [0, 1, ...larger, ...larger]);
}

function writtenOut(
  explicit: (items: readonly SignedItem[]) => number[],
): [readonly SignedItem[], number[]] {
  const items = list('falcon512', 2, { version: 255 });
  return [items, explicit(items)];
}

function halfWrittenOut(): [readonly SignedItem[], number[]] {
  const items = [signedItem('falcon512', 0), signedItem('falcon512', 1, 'derived')];
  return [items, [0, 1, ...items.flatMap((item) => [...saltOf(item)])]];
}

/** An honest aggregate for another list. */
function* badLists(): Generator<Case> {
  const items = list('falcon512', 3);
  const honest = aggregateOf(items);
  const [a, b, c] = items as [SignedItem, SignedItem, SignedItem];
  yield bad('one item less', [a, b], honest);
  yield bad('one item more', [a, b, c, c], honest);
  yield bad('another order', [b, a, c], honest);
  yield bad('another message', [a, { ...b, message: Uint8Array.of(...b.message, 0) }, c], honest);
  yield bad('another key', [a, { ...b, publicKey: c.publicKey }, c], honest);
  const changed = b.publicKey.slice();
  changed[5]! ^= 1;
  yield bad('a key with one bit changed', [a, { ...b, publicKey: changed }, c], honest);
  yield bad('a byte after the end', items, Uint8Array.of(...honest, 0));
  yield bad('the last byte missing', items, honest.slice(0, -1));
  yield bad('the header alone', items, headerOf(items));
  yield bad('no bytes', items, new Uint8Array(0));
  yield bad(
    'the section twice',
    items,
    Uint8Array.of(...honest, ...honest.slice(headerOf(items).length)),
  );
  yield bad('the row of a larger bucket', items, aggregateOf(items, { rowFor: 5 }));

  const mixed = [signedItem('falcon512', 0), signedItem('falcon1024', 0)];
  const both = aggregateOf(mixed);
  const at = headerOf(mixed).length;
  const first = proveReference({
    set: 'falcon512',
    row: tableRow('falcon512', 1),
    tableHash: TABLE_HASH,
    header: headerOf(mixed),
    items: mixed.slice(0, 1),
  });
  const swapped = [...both.slice(at + first.length), ...first];
  yield bad('sections in the other order', mixed, Uint8Array.of(...both.slice(0, at), ...swapped));
  yield bad('a key that is not canonical', ...withKey(a, [12289 >> 6, (12289 & 63) << 2]));
}

/** An aggregate whose list, commitment and transcript hold a key of a coefficient p. */
function withKey(item: SignedItem, bytes: readonly number[]): [readonly SignedItem[], Uint8Array] {
  const publicKey = item.publicKey.slice();
  publicKey.set(bytes, 1);
  const items = [{ ...item, publicKey }];
  return [items, aggregateOf([item], { header: headerOf(items) })];
}

/** One bit of every field of an honest proof of one item. */
function* flippedBits(): Generator<Case> {
  const items = list('falcon512', 1);
  const header = headerOf(items);
  const events: TraceEvent[] = [];
  const body = proveReference({
    set: 'falcon512',
    row: tableRow('falcon512', 1),
    tableHash: TABLE_HASH,
    header,
    items,
    trace: (event) => events.push(event),
  });
  let at = header.length;
  for (const event of events) {
    if (event.kind !== 'field') continue;
    const { level, name, bytes } = event;
    for (const place of new Set([0, bytes.length >> 1, bytes.length - 1])) {
      const flipped = Uint8Array.of(...header, ...body);
      flipped[at + place]! ^= 1 << (place % 8);
      yield bad(`level ${level} ${name}: a bit of byte ${place}`, items, flipped);
    }
    at += bytes.length;
  }
}

/** The same other bytes sent and absorbed. */
const both = (label: string, change: (bytes: Uint8Array) => Uint8Array, level: number): Faults => ({
  field: (value, place) =>
    value.name === label && place.level === level
      ? { ...value, bytes: change(value.bytes) }
      : value,
  absorb: (value, place) =>
    value.label === label && place.level === level ? { ...value, data: change(value.data) } : value,
});

/** Provers that cheat and go on as an honest one would. */
function* cheatingProvers(): Generator<Case> {
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
  yield by(
    "u'_A above its range",
    both('uA', (x) => x.map((byte, i) => (i < 5 ? 255 : byte)), 0),
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
  yield* badSalts();
  yield* badLists();
  yield* flippedBits();
  yield* cheatingProvers();
}
