/**
 * Writes `src/aggregate/parameters/table.gen.ts` from the table that `scripts/parameters.ts` found
 * and the rows of merged proofs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../generated.ts';

/** The committed table: rows [set, bucket, levels], see docs/protocol.md, section 3. */
export const PARAMETERS = 'vectors/table.json';
/** The rows of merged proofs: [part row, parts, levels], see docs/merged.md, section 1.1. */
export const MERGED_PARAMETERS = 'vectors/mergedTable.json';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8').trimEnd();

export function parameterTableSource(): string {
  return `/**
 * Rows [set, bucket, levels], by set and bucket; the numbers of a level are named in
 * docs/protocol.md, section 3, and read by rows.ts.
 */
import type { MergedRow, TableRow } from './rows.ts';

export const TABLE: readonly TableRow[] = ${read(PARAMETERS)};

/** Rows of merged proofs (docs/merged.md, 1.1); those of a part row by number of parts. */
export const MERGED_TABLE: readonly MergedRow[] = ${read(MERGED_PARAMETERS)};
`;
}
