/** What wrong aggregates are made of: other bytes in place of some, and provers that cheat. */
import { type Case, caseOf, type Reason } from './cases.ts';
import { headerOf, type SignedItem } from './items.ts';
import { proveReference } from './prover/prove.ts';
import { type Projecting, sentOf } from './prover/steps.ts';
import type { Faults, TraceEvent } from './prover/trace.ts';
import { tableRow } from './table.ts';

export const bad = (
  name: string,
  items: readonly SignedItem[],
  bytes: Uint8Array,
  reason?: Reason,
): Case => caseOf(name, items, bytes, false, reason);

/** Bytes with others in place of some. */
export const spliced = (
  bytes: Uint8Array,
  at: number,
  remove: number,
  ...put: readonly number[]
): Uint8Array => Uint8Array.from([...bytes.slice(0, at), ...put, ...bytes.slice(at + remove)]);

/** Bytes whose number `index` of 44 bits, from `at` on, is this one. */
export function withNumber(
  bytes: Uint8Array,
  at: number,
  index: number,
  value: bigint,
): Uint8Array {
  const out = bytes.slice();
  for (let i = 0; i < 44; i++) {
    const bit = 44 * index + i;
    const place = at + (bit >> 3);
    const isSet = (value >> BigInt(i)) & 1n;
    out[place] = (out[place]! & ~(1 << (bit & 7))) | (Number(isSet) << (bit & 7));
  }
  return out;
}

/** The same other bytes sent and absorbed. */
export const both = (
  label: string,
  change: (bytes: Uint8Array) => Uint8Array,
  level: number,
): Faults => ({
  field: (value, place) =>
    value.name === label && place.level === level
      ? { ...value, bytes: change(value.bytes) }
      : value,
  absorb: (value, place) =>
    value.label === label && place.level === level ? { ...value, data: change(value.data) } : value,
});

/** Where a field of a proof stands. */
export interface Field {
  readonly level: number;
  readonly name: string;
  /** from the first byte of the aggregate on */
  readonly at: number;
  readonly length: number;
}

/** The honest proof of a list of one set, and its fields in their order. */
export interface Proved {
  readonly items: readonly SignedItem[];
  readonly bytes: Uint8Array;
  readonly fields: readonly Field[];
}

/** @param showY is given y' of level 0 */
export function proved(
  items: readonly SignedItem[],
  showY?: (sent: readonly bigint[]) => void,
): Proved {
  const header = headerOf(items);
  const { set } = items[0]!;
  const events: TraceEvent[] = [];
  const body = proveReference({
    set,
    row: tableRow(set, items.length),
    header,
    items,
    trace: (event) => events.push(event),
  });
  const zero = events.findLast((event) => event.kind === 'level' && event.level === 0);
  if (zero?.kind === 'level') {
    const { projecting } = zero.values as { projecting: Projecting };
    showY?.(sentOf(projecting.projection));
  }
  let at = header.length;
  const fields: Field[] = [];
  for (const event of events) {
    if (event.kind !== 'field') continue;
    const { level, name, bytes } = event;
    fields.push({ level, name, at, length: bytes.length });
    at += bytes.length;
  }
  return { items, bytes: Uint8Array.of(...header, ...body), fields };
}

/** A bit of the first, of a middle and of the last byte of a field. */
export function* flippedBitsOf(
  { items, bytes }: Proved,
  { level, name, at, length }: Field,
  batch = '',
): Generator<Case> {
  for (const place of new Set([0, length >> 1, length - 1])) {
    const flipped = bytes.slice();
    flipped[at + place]! ^= 1 << (place % 8);
    yield bad(`${batch}level ${level} ${name}: a bit of byte ${place}`, items, flipped);
  }
}
