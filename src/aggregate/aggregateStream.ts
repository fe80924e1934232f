/** The writer of a series: aggregates items as they arrive, one element after the other. */
import type { ParameterSet } from '../falcon/index.ts';
import { CodedError, isCodedError } from '../shared/errors.ts';
import { copyItem, copyItems, readItems } from './arguments.ts';
import type { AggregateItem } from './batch.ts';
import type { AggregateFormatOption } from './chooseFormat.ts';
import { MAX_ITEMS } from './container.ts';
import type { PoolAggregateOptions, PoolStreamOptions } from './options.ts';
import { MAX_SECTION_ITEMS } from './proof/index.ts';
import { checkElements, framedElement, seriesEnd } from './series.ts';
import { type Arriving, checkArriving, Source } from './sources.ts';
import { type Statement, setOfPublicKey } from './statement.ts';

/** Items of one element, in private memory, one element after the other. */
type Groups = AsyncIterable<readonly AggregateItem[]> & { readonly total?: number };

/**
 * Divides a list into elements: of an array, as few and as even ones as possible; of any other
 * iterable, full ones and the rest. Types of an array are checked at once.
 *
 * @throws TypeError, RangeError for anything but an iterable, for an array with wrong elements, or
 *   one that is empty or too long
 */
export function groupsOf(items: unknown, { format = 'auto', signal }: PoolStreamOptions): Groups {
  if (!Array.isArray(items)) {
    checkArriving('items', items, false);
    return { [Symbol.asyncIterator]: () => arriving(new Source(items as object, signal), format) };
  }
  const read = readItems(items);
  const ends = divide(read, format);
  checkElements(ends.length);
  return {
    total: read.length,
    async *[Symbol.asyncIterator]() {
      for (const [i, end] of ends.entries()) yield copyItems(read.slice(ends[i - 1] ?? 0, end));
    },
  };
}

/** Reads the items of an element at a time, and one more only to see that it does not fit. */
async function* arriving(
  source: Source,
  format: AggregateFormatOption,
): AsyncGenerator<AggregateItem[], void> {
  try {
    let room = new Room(format);
    let items: AggregateItem[] = [];
    for (let index = 0; ; index++) {
      const next = await source.next();
      if (next === undefined) break;
      const item = copyItem(next.value, index);
      if (!room.take(item)) {
        yield items;
        items = [];
        room = new Room(format);
        room.take(item);
      }
      items.push(item);
    }
    if (items.length > 0) yield items;
  } catch (error) {
    await source.close().catch(() => undefined);
    throw error;
  } finally {
    await source.close();
  }
}

/** Aggregates the items of an element. */
type Make = (
  items: readonly AggregateItem[],
  options: PoolAggregateOptions,
) => Promise<Uint8Array<ArrayBuffer>>;

/** Implements `aggregateStream` of index.ts, for options that have been checked. */
export const seriesOf = (
  items: Arriving<AggregateItem>,
  options: PoolStreamOptions,
  make: Make,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> => series(groupsOf(items, options), options, make);

/** Yields a series, an element at a time. */
async function* series(
  groups: Groups,
  options: PoolStreamOptions,
  make: Make,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let count = 0;
  for await (const bytes of elementsOf(groups, options, make)) yield framedElement(bytes, count++);
  yield seriesEnd();
}

/** Makes the elements one after the other. Works only while somebody waits for one. */
export async function* elementsOf(
  groups: Groups,
  { onProgress, ...options }: PoolStreamOptions,
  make: Make,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const { total } = groups;
  let [before, count] = [0, 0];
  const show = (done: number): void => {
    onProgress?.({ done: before + done, ...(total !== undefined && { total }) });
  };
  for await (const items of groups) {
    checkElements(count + 1);
    const bytes = await make(items, {
      ...options,
      onProgress: ({ phase, done }) => phase === 'aggregating' && show(done),
    }).catch((error) => Promise.reject(shifted(error, before)));
    before += items.length;
    show(0);
    count++;
    yield bytes;
  }
  checkElements(count);
}

/** The room for further items in an element that is being filled. */
class Room {
  readonly #left: Record<ParameterSet, number>;
  #all = MAX_ITEMS;

  /** @param format that of the elements; unless only bundles are made, items have to fit a proof */
  constructor(format: AggregateFormatOption) {
    const isBundle = format === 'bundle';
    this.#left = isBundle
      ? { falcon512: MAX_ITEMS, falcon1024: MAX_ITEMS }
      : { ...MAX_SECTION_ITEMS };
  }

  /** Takes an item. @returns false if there is no room for it */
  take({ publicKey }: Pick<Statement, 'publicKey'>): boolean {
    // A wrong key is reported when the item is verified.
    const set = setOfPublicKey(publicKey) ?? 'falcon512';
    if (this.#all === 0 || this.#left[set] === 0) return false;
    this.#all--;
    this.#left[set]--;
    return true;
  }
}

/**
 * Divides a list among as few elements as possible, as evenly as their room permits.
 *
 * @returns the end of every element
 */
export function divide(
  items: readonly Pick<Statement, 'publicKey'>[],
  format: AggregateFormatOption,
): number[] {
  const { length } = items;
  const reach = (from: number, step: 1 | -1): number => {
    const room = new Room(format);
    let at = from;
    while (step > 0 ? at < length : at > 0) {
      if (!room.take(items[step > 0 ? at : at - 1]!)) break;
      at += step;
    }
    return at;
  };
  // The least ends of an element: what follows fits the elements that are left, 0, 1, 2, ...
  const least = [length];
  while (least.at(-1)! > 0) least.push(reach(least.at(-1)!, -1));
  const ends: number[] = [];
  for (let left = least.length - 1, from = 0; left > 0; left--) {
    const even = from + Math.ceil((length - from) / left);
    from = Math.min(reach(from, 1), Math.max(least[left - 1]!, even));
    ends.push(from);
  }
  return ends;
}

/** Numbers invalid items as in the whole list. */
function shifted(error: unknown, before: number): unknown {
  if (!isCodedError(error) || error.code !== 'INVALID_SIGNATURES' || !error.invalid) return error;
  const invalid = error.invalid.map((item) => ({ ...item, index: before + item.index }));
  return new CodedError('INVALID_SIGNATURES', { invalid });
}
