/**
 * The published parameter table, `vectors/table.json`, and the hash of a row: docs/protocol.md,
 * section 3.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { MergedRow, PartRow, TableRow } from './tableRow.ts';

const file = new URL('../../vectors/table.json', import.meta.url);

export const TABLE: readonly TableRow[] = JSON.parse(readFileSync(file, 'utf8'));

/** The row of the smallest bucket that holds `count` items. */
export function tableRow(set: 'falcon512' | 'falcon1024', count: number): TableRow {
  const row = TABLE.find(([degree, bucket]) => set === `falcon${degree}` && bucket >= count);
  if (row === undefined) throw new RangeError(`no bucket for ${count} items`);
  return row;
}

/** SHAKE256 of a row as JSON without white space, 32 bytes. */
export const hashOfRow = (row: TableRow | PartRow | MergedRow): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('shake256', { outputLength: 32 }).update(JSON.stringify(row)).digest());
