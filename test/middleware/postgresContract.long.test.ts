/**
 * The contract of stores, and random histories, over real servers: the newest PostgreSQL, and the
 * oldest that is supported.
 */
import { describe, it } from 'vitest';
import { storeContract } from '../../src/middleware/testing/index.ts';
import { overPostgres } from '../support/postgres.ts';
import { openPostgres } from './openPostgres.ts';
import { expectAgreement } from './storeHistories.ts';

overPostgres('all', (server, major) => {
  storeContract({ describe, it }, `PostgreSQL ${major}`, (nowMs) =>
    openPostgres(server(), { nowMs }),
  );

  // Without `near`: a task that was lifted to the turn is no more ahead of it than others.
  it('agrees with the store in memory on every history', { timeout: 600_000 }, () =>
    expectAgreement((nowMs) => openPostgres(server(), { nowMs, near: false }), { oneClock: true }),
  );
});
