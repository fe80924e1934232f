/** Rows with hidden messages that the search found, at their full size: proved and accepted. */
import { expect, test } from 'vitest';
import { proveSection, verifySection } from '../../../src/aggregate/proof/index.ts';
import { headerOf, signedItems } from '../../reference/items.ts';
import { hashOfRow } from '../../reference/table.ts';
import { fact } from '../../support/facts.ts';
import { FOUND } from '../parameterRows.ts';
import { saltsOf } from '../proof/sections.ts';
import { flipped } from './judged.ts';

for (const row of FOUND) {
  const [degree, count] = row;
  test(`falcon${degree}, ${count} items`, { timeout: 600_000 }, async (context) => {
    const set = `falcon${degree}` as const;
    const items = signedItems(set, count);
    const header = headerOf(items, [hashOfRow(row)]);
    const other = { row, hash: hashOfRow(row) };
    const bytes = (await proveSection(set, header, items, { other }))!;
    const section = { set, header, statements: items, salts: saltsOf(items), bytes, at: 0, other };
    const start = performance.now();
    expect(verifySection(section)).toBe(bytes.length);
    const seconds = (performance.now() - start) / 1000;
    fact(
      context,
      'proofs with hidden messages',
      `${count} ${set}: ${bytes.length} bytes, verified in ${seconds.toFixed(2)} s`,
    );
    const changed = { ...section, bytes: flipped(bytes, 4 * bytes.length) };
    expect(verifySection(changed)).toBeUndefined();
  });
}
