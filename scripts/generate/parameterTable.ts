/**
 * Writes `src/aggregate/parameters/table.gen.ts` from the table that `scripts/parameters.ts` found.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../generated.ts';

/** The committed table: rows [set, bucket, levels], see docs/protocol.md, section 3. */
export const PARAMETERS = 'vectors/table.json';

export function parameterTableSource(): string {
  const text = readFileSync(join(ROOT, PARAMETERS), 'utf8');
  return `/**
 * Rows [set, bucket, levels], by set and bucket; the numbers of a level are named in
 * docs/protocol.md, section 3, and read by rows.ts.
 */
import type { TableRow } from './rows.ts';

export const TABLE: readonly TableRow[] = ${text.trimEnd()};
`;
}
