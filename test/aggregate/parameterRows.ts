/**
 * Rows that the search found at some time, and that stay as they are: for tests of the check and of
 * the other tools, whatever stands in the table.
 */
import { readFileSync } from 'node:fs';
import type { TableRow } from '../../src/aggregate/parameters/rows.ts';

const file = new URL('../vectors/parameterRows.json', import.meta.url);
/**
 * The FOUND ones have hidden messages at levels 0 and 1, 0 to 2 and 0 to 3, and cut inner
 * commitments at levels 1 to 3, 1 to 4 and 1 to 4. In OPEN_512_128 nothing is hidden, and no inner
 * commitment of an ordinary level is cut.
 */
export const { FOUND_512_128, FOUND_512_1722, FOUND_1024_1722, OPEN_512_128 } = JSON.parse(
  readFileSync(file, 'utf8'),
) as Record<`FOUND_${'512_128' | '512_1722' | '1024_1722'}` | 'OPEN_512_128', TableRow>;

export const FOUND = [FOUND_512_128, FOUND_512_1722, FOUND_1024_1722] as const;
