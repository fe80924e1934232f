/** Runs of the prover for tests: items of a set, a row, and everything that the run shows. */
import { headerOf, type SetName, signedItems } from '../items.ts';
import { hashOfRow, tableRow } from '../table.ts';
import type { TableRow } from '../tableRow.ts';
import { proveReference } from './prove.ts';
import type { Faults, LevelView, TraceEvent } from './trace.ts';

export interface Run {
  readonly set: SetName;
  readonly row: TableRow;
  readonly header: Uint8Array;
  readonly items: ReturnType<typeof signedItems>;
  readonly bytes: Uint8Array;
  readonly events: readonly TraceEvent[];
}

/** Whatever row is given, that of the table is in header and transcript. */
export function runOf(
  set: SetName,
  count: number,
  row: TableRow = tableRow(set, count),
  faults: Faults = {},
): Run {
  const items = signedItems(set, count);
  const header = headerOf(items);
  const events: TraceEvent[] = [];
  const trace = (event: TraceEvent): void => {
    events.push(event);
  };
  const rowHash = hashOfRow(tableRow(set, count));
  const bytes = proveReference({ set, row, rowHash, header, items, trace, faults });
  return { set, row, header, items, bytes, events };
}

/** The values of the last, successful attempt at every level. */
export function levelsOf({ events }: Run): LevelView[] {
  const views: LevelView[] = [];
  for (const event of events) if (event.kind === 'level') views[event.level] = event;
  return views;
}

/** Bytes of every field, by level. */
export const fieldsOf = ({ events }: Run): Extract<TraceEvent, { kind: 'field' }>[] =>
  events.filter((event) => event.kind === 'field');

type Step = Extract<TraceEvent, { kind: 'absorb' | 'seed' | 'seal' }>;

/** The transcript that the bytes stand for: without failed attempts and counters. */
export function stepsOf(events: readonly TraceEvent[]): Step[] {
  const steps: Step[] = [];
  const absorbs = (label: string) => (step: Step) => step.kind === 'absorb' && step.label === label;
  const last = (label: string): number => steps.findLastIndex(absorbs(label));
  for (const event of events) {
    if (event.kind === 'failure') {
      // after the last retry byte of a level, level 0 begins again
      steps.length = event.retry < 15 ? last('retry') : steps.findIndex(absorbs('retry'));
    }
    if (event.kind !== 'absorb' && event.kind !== 'seed' && event.kind !== 'seal') continue;
    // A counter that does not pass leaves its absorb and its seed behind.
    const isNext = event.kind === 'absorb' && event.label === 'counter';
    if (isNext && last('counter') === steps.length - 2) steps.length -= 2;
    steps.push(event);
  }
  return steps;
}
