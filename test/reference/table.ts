/** The published parameter table, `vectors/table.json`, and its hash: docs/protocol.md, section 3. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TableRow } from './tableRow.ts';

const file = new URL('../../vectors/table.json', import.meta.url);

export const TABLE: readonly TableRow[] = JSON.parse(readFileSync(file, 'utf8'));

/** SHA-256 of the table as JSON without white space. */
export const TABLE_HASH = new Uint8Array(
  createHash('sha256').update(JSON.stringify(TABLE)).digest(),
);
