/**
 * PostgreSQL with a standby, behind one address: what a provider's fail-over looks like to the
 * service. Replication is synchronous (`synchronous_standby_names`), since otherwise a fail-over
 * loses the last commits, and with them accepted tasks. The store's `synchronous_commit=on` waits
 * for the standby then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Line, type PostgresServer } from '../../test/support/postgres.ts';

const LOOK_EVERY_MS = 50;
const LIMIT_MS = 30_000;
/** Between the loss of a server and the promotion of its standby. */
const NOTICE_MS = 1000;

/** A standby looks for its server as often as this, after a loss. */
export const SERVER_SETTINGS = { wal_retrieve_retry_interval: '200ms', max_connections: '400' };

export class Cluster {
  readonly line: Line;
  #primary: PostgresServer;
  #standby: PostgresServer | null = null;

  constructor(primary: PostgresServer) {
    this.#primary = primary;
    this.line = new Line(primary.folder);
  }

  /** @returns the address for the service */
  async start(): Promise<string> {
    await this.#follow();
    return this.line.start();
  }

  query<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
    return this.#primary.query<Row>(sql);
  }

  /** The primary crashes, and starts again. */
  crash(): Promise<void> {
    return this.#primary.crash();
  }

  /**
   * The primary dies, or is demoted and still found at the address. Then the standby takes over,
   * the address leads to it, and it gets a new standby, for which it restarts.
   */
  async failOver(way: 'death' | 'demotion'): Promise<void> {
    // Commits that a crash has confirmed need not have reached the standby yet.
    await this.#replicated();
    const [old, next] = [this.#primary, this.#standby!];
    if (way === 'death') await old.stop('SIGQUIT');
    else await old.demote();
    await sleep(NOTICE_MS);
    await next.query('SELECT pg_promote()');
    this.#primary = next;
    this.#standby = null;
    this.line.target = next.folder;
    if (way === 'demotion') {
      await sleep(NOTICE_MS);
      await old.stop();
    }
    await this.#follow();
  }

  async stop(): Promise<void> {
    await this.line.stop();
    await this.#standby?.stop();
    await this.#primary.stop();
  }

  /** Starts a standby, for which commits wait from now on. */
  async #follow(): Promise<void> {
    this.#standby = await this.#primary.copy();
    await this.#primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await this.#primary.query('SELECT pg_reload_conf()');
    await this.#replicated();
  }

  /** Resolves once the standby is synchronous and has what is committed now. */
  async #replicated(): Promise<void> {
    const [now] = await this.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn');
    const caughtUp = `SELECT FROM pg_stat_replication
      WHERE sync_state = 'sync' AND flush_lsn >= '${now!.lsn}'`;
    for (const endMs = performance.now() + LIMIT_MS; performance.now() < endMs; ) {
      if ((await this.query(caughtUp)).length > 0) return;
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error('the standby does not follow');
  }
}
