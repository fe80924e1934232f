/** The verifier on proofs over rows of version 3. */
import { expect, test } from 'vitest';
import { verifySection } from '../../../src/aggregate/proof/index.ts';
import { headerOf, signedItems } from '../../reference/items.ts';
import { saltsOf } from '../proof/sections.ts';
import { observed, TABLE_HASH } from './observed.ts';
import * as ROWS from './rows.ts';

test.each(Object.entries(ROWS))('%s: accepted', async (_, row) => {
  for (let count = 1; count <= row[1]; count++) {
    const items = signedItems('falcon512', count);
    const { bytes } = await observed(row, items);
    const end = verifySection({
      set: 'falcon512',
      header: headerOf(items, TABLE_HASH),
      statements: items,
      salts: saltsOf(items),
      bytes,
      at: 0,
      table: { row, hash: TABLE_HASH },
    });
    expect(end).toBe(bytes.length);
  }
});
