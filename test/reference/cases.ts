/** Whole aggregates of honest items with their lists, for any verifier. */
import { hex } from '../support/hex.ts';
import { headerOf, type SaltKind, type SetName, type SignedItem, signedItem } from './items.ts';
import { proveReference } from './prover/prove.ts';
import type { Faults } from './prover/trace.ts';
import { tableRow } from './table.ts';

/**
 * Which rule an aggregate breaks. The first seven can be told from its bytes alone, and are the
 * words of `inspectAggregate`; vectors/README.md has the meaning of all.
 */
export const HEADER_REASONS = [
  'magic',
  'format',
  'version',
  'table',
  'profile',
  'saltCoding',
  'header',
] as const;
export type Reason =
  | (typeof HEADER_REASONS)[number]
  | 'key'
  | 'list'
  | 'derivedSalt'
  | 'bytes'
  | 'proof'
  | 'signature';

export interface Case {
  readonly name: string;
  readonly task: readonly { digest: string; public_key: string; signature: string }[];
  readonly aggregate: string;
  readonly valid: boolean;
  /** Of a wrong one that breaks one rule alone. */
  readonly reason?: Reason;
}

export const caseOf = (
  name: string,
  items: readonly SignedItem[],
  aggregate: Uint8Array,
  valid = true,
  reason?: Reason,
): Case => ({
  name,
  task: items.map(({ message, publicKey, signature }) => ({
    digest: hex(message),
    public_key: hex(publicKey),
    signature: hex(signature),
  })),
  aggregate: hex(aggregate),
  valid,
  ...(reason && { reason }),
});

export interface Lies {
  /** what the aggregate begins with, and its body is bound to */
  readonly header?: Uint8Array;
  readonly rowHash?: Uint8Array;
  /** for this many items */
  readonly rowFor?: number;
  readonly faults?: Faults;
  /** the only set whose section has them */
  readonly faultsOf?: SetName;
}

/** The whole aggregate of items, honest but for these lies. */
export function aggregateOf(items: readonly SignedItem[], lies: Lies = {}): Uint8Array {
  const { header = headerOf(items), rowHash, rowFor, faultsOf } = lies;
  const sections = (['falcon512', 'falcon1024'] as const).flatMap((set) => {
    const own = items.filter((item) => item.set === set);
    if (own.length === 0) return [];
    const row = tableRow(set, rowFor ?? own.length);
    const faults = faultsOf === undefined || faultsOf === set ? (lies.faults ?? {}) : {};
    return [proveReference({ set, row, header, items: own, faults, ...(rowHash && { rowHash }) })];
  });
  return Uint8Array.from(Buffer.concat([header, ...sections]));
}

export const list = (set: SetName, count: number, kind?: SaltKind): SignedItem[] =>
  Array.from({ length: count }, (_, number) => signedItem(set, number, kind));

/** Proofs of honest items: both sets, mixed, and every coding of salts. */
export function* goodCases(): Generator<Case> {
  const make = (name: string, items: readonly SignedItem[]): Case =>
    caseOf(name, items, aggregateOf(items));
  for (const count of [1, 2, 3, 9]) {
    for (const set of ['falcon512', 'falcon1024'] as const) {
      yield make(`${set}, ${count} items`, list(set, count));
    }
  }
  // the only bucket with cut inner commitments and no hidden level
  yield make('falcon1024, 5 items', list('falcon1024', 5));
  yield make('2 + 1 items, mixed', [
    signedItem('falcon512', 0),
    signedItem('falcon1024', 0),
    signedItem('falcon512', 1),
  ]);
  yield make('3 items, constant salts', list('falcon512', 3, { version: 0 }));
  yield make('2 items, derived salts', list('falcon1024', 2, 'derived'));
  yield make('9 items, salts of all kinds in both sets', [
    signedItem('falcon512', 0, { version: 0 }),
    signedItem('falcon1024', 1, { version: 0 }),
    signedItem('falcon512', 2, { version: 255 }),
    signedItem('falcon512', 3),
    signedItem('falcon1024', 4),
    signedItem('falcon512', 5, 'derived'),
    signedItem('falcon512', 6, 'derived'),
    signedItem('falcon1024', 7, { version: 255 }),
    signedItem('falcon512', 8),
  ]);
}

/** More levels: the smallest buckets with three and four. */
export function* largeCases(): Generator<Case> {
  for (const [set, count] of [
    ['falcon512', 17],
    ['falcon512', 33],
    ['falcon1024', 17],
    ['falcon1024', 33],
  ] as const) {
    const items = list(set, count, { version: 0 });
    yield caseOf(`${set}, ${count} items, constant salts`, items, aggregateOf(items));
  }
}

/** Batches whose proofs are too long, or too slow to make, to be stored: hashes stand for them. */
export const LARGE_BATCHES = [
  { set: 'falcon512', count: 100 },
  { set: 'falcon1024', count: 100 },
  { set: 'falcon512', count: 1722 },
  { set: 'falcon1024', count: 1722 },
  { set: 'falcon512', count: 5632 },
  { set: 'falcon1024', count: 2944 },
] as const;

/** Salts of all codings in turn, in runs of seven. */
export function largeBatch(set: SetName, count: number): SignedItem[] {
  const kinds: readonly SaltKind[] = ['random', { version: 0 }, 'derived', { version: 1 }];
  return Array.from({ length: count }, (_, number) =>
    signedItem(set, number, kinds[Math.floor(number / 7) % kinds.length]!),
  );
}
