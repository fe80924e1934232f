/**
 * Whole aggregates with their lists and verdicts, for any verifier:
 *
 *   node test/reference/cases.ts DIRECTORY
 *
 * writes table.json and cases.json, an array of {name, task, aggregate, valid}. A task is the array
 * of a task file; all bytes are hexadecimal.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hex } from '../support/hex.ts';
import { headerOf, type SaltKind, type SetName, type SignedItem, signedItem } from './items.ts';
import { proveReference } from './prover/prove.ts';
import { tableRow } from './prover/runs.ts';
import { TABLE, TABLE_HASH } from './table.ts';

export interface Case {
  readonly name: string;
  readonly task: readonly { digest: string; public_key: string; signature: string }[];
  readonly aggregate: string;
  readonly valid: boolean;
}

export const caseOf = (
  name: string,
  items: readonly SignedItem[],
  aggregate: Uint8Array,
  valid = true,
): Case => ({
  name,
  task: items.map(({ message, publicKey, signature }) => ({
    digest: hex(message),
    public_key: hex(publicKey),
    signature: hex(signature),
  })),
  aggregate: hex(aggregate),
  valid,
});

/** The whole aggregate of items; its body is bound to the header that is given. */
export function aggregateOf(
  items: readonly SignedItem[],
  header: Uint8Array = headerOf(items),
  tableHash: Uint8Array = TABLE_HASH,
): Uint8Array {
  const sections = (['falcon512', 'falcon1024'] as const).flatMap((set) => {
    const own = items.filter((item) => item.set === set);
    if (own.length === 0) return [];
    const row = tableRow(set, own.length);
    return [proveReference({ set, row, tableHash, header, items: own })];
  });
  return Uint8Array.from(Buffer.concat([header, ...sections]));
}

const list = (set: SetName, count: number, kind?: SaltKind): SignedItem[] =>
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = process.argv[2];
  if (directory === undefined) throw new RangeError('which directory?');
  const cases: Case[] = [];
  writeFileSync(join(directory, 'table.json'), JSON.stringify(TABLE));
  for (const made of goodCases()) {
    cases.push(made);
    writeFileSync(join(directory, 'cases.json'), JSON.stringify(cases, null, 1));
    console.log(`${made.name}: ${made.aggregate.length / 2} bytes`);
  }
}
