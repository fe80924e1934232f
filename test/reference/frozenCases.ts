/** Reader of `vectors/`: whole aggregates with their lists and verdicts. */
import { readFileSync } from 'node:fs';
import type { Reason } from './cases.ts';
import type { SetName } from './items.ts';
import type { StoredSeries } from './seriesCases.ts';

/** Bytes of a file: those of a good aggregate, `remove` bytes at `at` replaced by `put` (hex). */
export interface FrozenEdit {
  readonly of: string;
  readonly at: number;
  readonly remove: number;
  readonly put: string;
}

/** A case as it is stored: the items are numbers in `items.json`. */
export interface StoredCase {
  readonly name: string;
  readonly items: readonly number[];
  /** base64 */
  readonly aggregate?: string;
  readonly edit?: FrozenEdit;
  readonly reason?: Reason;
}

export type StoredItem = Readonly<Record<'digest' | 'public_key' | 'signature', string>>;

/** A large proof: its list is `largeBatch` of cases.ts. */
export interface LargeCase {
  readonly name: string;
  readonly parameter_set: SetName;
  readonly count: number;
  /** of the task file, as src/wire writes it */
  readonly task_sha256: string;
  readonly aggregate_bytes: number;
  readonly aggregate_sha256: string;
}

export interface FrozenCase {
  readonly name: string;
  readonly items: readonly {
    readonly publicKey: Uint8Array;
    readonly message: Uint8Array;
    readonly signature: Uint8Array;
  }[];
  readonly aggregate: Uint8Array;
  readonly reason?: Reason;
}

export const VECTORS = new URL('../../vectors/', import.meta.url);

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, VECTORS), 'utf8')) as T;
}

const fromHex = (text: string): Uint8Array =>
  new Uint8Array(Buffer.from(text.replace(/^0x/, ''), 'hex'));

function frozen(cases: readonly StoredCase[], good: readonly StoredCase[]): FrozenCase[] {
  const items = read<readonly StoredItem[]>('items.json').map((item) => ({
    publicKey: fromHex(item.public_key),
    message: fromHex(item.digest),
    signature: fromHex(item.signature),
  }));
  const bytesOf = ({ aggregate, edit }: StoredCase): Uint8Array => {
    if (edit === undefined) return new Uint8Array(Buffer.from(aggregate!, 'base64'));
    const { of, at, remove, put } = edit;
    const base = bytesOf(good.find(({ name }) => name === of)!);
    return Uint8Array.of(...base.slice(0, at), ...fromHex(put), ...base.slice(at + remove));
  };
  return cases.map((one) => ({
    name: one.name,
    items: one.items.map((number) => items[number]!),
    aggregate: bytesOf(one),
    ...(one.reason && { reason: one.reason }),
  }));
}

export function frozenCases(): { good: FrozenCase[]; bad: FrozenCase[] } {
  const [good, bad] = [read<StoredCase[]>('good.json'), read<StoredCase[]>('bad.json')];
  return { good: frozen(good, good), bad: frozen(bad, good) };
}

/** The cases of series, each with its verdict. */
export function frozenSeries(): (FrozenCase & { readonly valid: boolean })[] {
  const stored = read<StoredSeries[]>('series.json');
  return frozen(stored, []).map((one, i) => ({ ...one, valid: stored[i]!.valid }));
}

/** The cases of merged proofs, each with its verdict. */
export function frozenMerged(): (FrozenCase & { readonly valid: boolean })[] {
  const stored = read<(StoredCase & { readonly valid: boolean })[]>('merged.json');
  return frozen(stored, stored).map((one, i) => ({ ...one, valid: stored[i]!.valid }));
}

export const largeCases = (): readonly LargeCase[] => read('large.json');
