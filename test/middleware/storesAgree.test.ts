/** The stores in memory and in a file agree on random histories. */
import { it } from 'vitest';
import { openSqlite } from './openSqlite.ts';
import { expectAgreement } from './storeHistories.ts';

it('the stores in memory and on disk agree on every history', { timeout: 300_000 }, () =>
  expectAgreement(openSqlite),
);
