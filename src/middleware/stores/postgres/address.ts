/** Database addresses: parsed once, and shown without the password. */
import type { ClientConfig } from 'pg';

export interface Address {
  /** For the driver. */
  readonly config: ClientConfig;
  /**
   * True behind a pooler in transaction mode (`?pooled=1`): connections keep no state, so
   * statements have no names, and every transaction begins with the settings.
   */
  readonly pooled: boolean;
  /** Host, port and database, for messages. */
  readonly shown: string;
}

const PROTOCOL = /^postgres(ql)?:$/;
const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;

/**
 * Settings of role or database that would break or slow the store. The address may override these.
 * Statements are short, so `jit` is off. An idle transaction would keep dead rows in the queue's
 * index. Without `synchronous_commit`, a crash of the server would lose accepted tasks.
 */
const PREFERRED = {
  statement_timeout: '10s',
  idle_in_transaction_session_timeout: '10s',
  idle_session_timeout: '0',
  lock_timeout: '0',
  synchronous_commit: 'on',
  jit: 'off',
  plan_cache_mode: 'auto',
};

/**
 * Settings that statements and their results rely on. Statements qualify every table, so the path
 * is that of operators and functions. Policies that would hide rows make statements fail instead.
 */
const NEEDED = {
  search_path: 'pg_catalog',
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  row_security: 'off',
};

const ISOLATION = 'read committed';

/** A setting that reaches the server only with the others: poolers drop them all. */
export const MARK = 'falconry.session';

const flags = (settings: Readonly<Record<string, string>>) =>
  Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replace(' ', '\\ ')}`);

/** The settings in the first message of a connection: they override those of role and database. */
const session = (options: string) =>
  [
    ...flags(PREFERRED),
    ...(options === '' ? [] : [options]),
    ...flags({ ...NEEDED, default_transaction_isolation: ISOLATION, [MARK]: 'on' }),
  ].join(' ');

/** The same at the start of a transaction, for poolers, whose connections keep no settings. */
export const BEGIN = [
  `BEGIN ISOLATION LEVEL ${ISOLATION}`,
  ...Object.entries({ ...PREFERRED, ...NEEDED }).map(
    ([name, value]) => `SET LOCAL ${name} = '${value}'`,
  ),
].join('; ');

/** @throws TypeError without the address in it, which may hold a password */
export function readAddress(name: string, url: unknown): Address {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !PROTOCOL.test(parsed.protocol)) {
    throw new TypeError(`"${name}" must be an address such as postgres://user@host:5432/database`);
  }
  const { searchParams } = parsed;
  const take = (key: string) => {
    const value = searchParams.get(key);
    searchParams.delete(key);
    return value ?? '';
  };
  const asked = [take('pooled'), take('pgbouncer')];
  if (asked.some((value) => !/^(|0|1|true|false)$/.test(value))) {
    throw new TypeError(`"pooled" in "${name}" must be 1 or 0`);
  }
  const pooled = asked.some((value) => /^(1|true)$/.test(value));
  const options = take('options');
  const host = searchParams.get('host') ?? parsed.hostname;
  const port = searchParams.get('port') ?? (parsed.port || '5432');
  return {
    config: {
      connectionString: parsed.href,
      ...(pooled ? options !== '' && { options } : { options: session(options) }),
      connectionTimeoutMillis: 5000,
      query_timeout: 15_000,
      // Notices within minutes that a host has vanished, also during a long migration.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    },
    pooled,
    shown: `${host}:${port}${parsed.pathname}`,
  };
}

/** Returns the quoted schema. @throws TypeError for a name with other characters */
export function readSchema(schema: unknown): string {
  if (typeof schema !== 'string' || !SCHEMA.test(schema)) {
    throw new TypeError('"schema" must be a name of lower-case letters, digits and underscores');
  }
  return `"${schema}"`;
}
