/** Proofs over toy rows by the slow prover, and what the slow verifier needs to judge them. */
import { expect } from 'vitest';
import { headerOf, type SignedItem, signedItem } from '../../reference/items.ts';
import { proveReference } from '../../reference/prover/prove.ts';
import { stepsOf } from '../../reference/prover/runs.ts';
import type { Faults, Trace, TraceEvent } from '../../reference/prover/trace.ts';
import { hashOfRow } from '../../reference/table.ts';
import type { TableRow } from '../../reference/tableRow.ts';
import { type SectionInput, verifyReferenceSection } from '../../reference/verifier/verify.ts';
import { hex } from '../../support/hex.ts';

export interface Options {
  readonly items?: readonly SignedItem[];
  /** of the whole list, if that is longer than the section */
  readonly header?: Uint8Array;
  readonly trace?: Trace;
  readonly faults?: Faults;
}

/** A section over a row, by default of as many items as its bucket holds. */
export function toyProof(row: TableRow, options: Options = {}): SectionInput & { set: 512 | 1024 } {
  const set = row[0] as 512 | 1024;
  const name = `falcon${set}` as const;
  const items =
    options.items ?? Array.from({ length: row[1] }, (_, number) => signedItem(name, number));
  const rowHash = hashOfRow(row);
  const header = options.header ?? headerOf(items, [rowHash]);
  const bytes = proveReference({
    set: name,
    row: row as Parameters<typeof proveReference>[0]['row'],
    header,
    items,
    ...(options.trace && { trace: options.trace }),
    ...(options.faults && { faults: options.faults }),
  });
  return {
    set,
    row,
    rowHash,
    header,
    statements: items,
    salts: items.map(({ signature }) => signature.slice(1, 41)),
    bytes,
  };
}

/** The slow verifier accepts it, and its transcript is that of the prover. */
export function expectSameTranscript(input: SectionInput, events: readonly TraceEvent[]): void {
  const seen: string[] = [];
  const trace: SectionInput['trace'] = (kind, label, bytes) => {
    if (kind !== 'seal') seen.push(`${kind} ${label} ${hex(bytes)}`);
  };
  const verdict = verifyReferenceSection({ ...input, trace });
  expect(verdict).toEqual({ ok: true, length: input.bytes.length });
  const expected = stepsOf(events).flatMap((step) => {
    if (step.kind === 'absorb') return [`absorb ${step.label} ${hex(step.st)}`];
    return step.kind === 'seed' ? [`seed ${step.label} ${hex(step.seed)}`] : [];
  });
  expect(expected.length).toBeGreaterThan(20);
  expect(seen).toEqual(expected);
}
