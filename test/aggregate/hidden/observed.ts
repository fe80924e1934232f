/** A proof over a toy row, and what the prover's levels show of themselves. */
import type { TableRow } from '../../../src/aggregate/parameters/rows.ts';
import { proveSection, type TraceEvent } from '../../../src/aggregate/proof/index.ts';
import { headerOf, type SignedItem } from '../../reference/items.ts';
import { hashOfRow } from '../../reference/table.ts';
import type { Poly } from '../labrador/plain.ts';

/** What a level has shown of itself. */
export interface Seen {
  readonly number: number;
  /** z_0, ..., z_(f-1), v of the level; empty at the tail */
  readonly out: Poly[];
  readonly phiZ: Poly[];
  readonly phiE: Poly[];
  readonly lifts: Poly[];
  /** h of all pairs, at the tail */
  readonly h: Poly[];
  readonly y: readonly number[];
  readonly yOfX: readonly number[] | undefined;
  readonly absorbed: Readonly<Record<string, Uint8Array>>;
}

export const polysOf = (values: ArrayLike<number | bigint>): Poly[] =>
  Array.from({ length: values.length / 64 }, (_, i) =>
    Array.from({ length: 64 }, (_, j) => BigInt(values[64 * i + j]!)),
  );

/** A proof, and what its levels have shown. */
export async function observed(
  row: TableRow,
  items: readonly SignedItem[],
): Promise<{ readonly bytes: Uint8Array; readonly levels: Seen[] }> {
  const header = headerOf(items, [hashOfRow(row)]);
  let events: TraceEvent[] = [];
  const levels: Seen[] = [];
  const shown: (Omit<Seen, 'absorbed'> & { from: number })[] = [];
  const starts: number[] = [];
  const bytes = await proveSection('falcon512', header, items, {
    other: { row, hash: hashOfRow(row) },
    trace: (event) => {
      if (event.kind === 'absorb' && event.label === 'retry') starts.push(events.length);
      events = [...events, event];
    },
    inspect: ({ lab, number, output, lifts, h, sent }) => {
      shown.push({
        from: starts.at(-1)!,
        number,
        out: output === undefined ? [] : polysOf(lab.i16(output.parts)),
        phiZ: polysOf(output?.phiZ ?? []),
        phiE: polysOf(output?.phiE ?? []),
        lifts: polysOf(lab.i64(lifts)),
        h: polysOf(h === undefined ? [] : lab.i64(h)),
        y: Array.from(sent.y),
        yOfX: sent.yOfX && Array.from(sent.yOfX),
      });
    },
  });
  if (bytes === undefined) throw new Error('no proof');
  for (const [i, { from, ...level }] of shown.entries()) {
    const absorbed: Record<string, Uint8Array> = {};
    for (const event of events.slice(from, shown[i + 1]?.from)) {
      if (event.kind === 'absorb') absorbed[event.label] = event.data;
    }
    levels.push({ ...level, absorbed });
  }
  return { bytes, levels };
}
