/** Database addresses: parsed once, and shown without the password. */
import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';

export interface LineConfig extends ClientConfig {
  /** True if the login must be bound to the server's certificate. */
  readonly bound?: boolean;
}

export interface Address {
  /** For the driver. */
  readonly config: LineConfig;
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

/** An expression that turns off a time limit that servers before 17 do not know. */
export const noTimeout = (local: boolean) => `CASE WHEN
  current_setting('transaction_timeout', true) <> '0'
  THEN set_config('transaction_timeout', '0', ${local}) END`;

/** The same at the start of a transaction, for poolers, whose connections keep no settings. */
export const BEGIN = [
  `BEGIN ISOLATION LEVEL ${ISOLATION}`,
  ...Object.entries({ ...PREFERRED, ...NEEDED }).map(
    ([name, value]) => `SET LOCAL ${name} = '${value}'`,
  ),
  `SELECT ${noTimeout(true)}`,
].join('; ');

const SWITCH = ['1', '0', 'true', 'false'];

/** Values of parameters that work here. The driver ignores those of libpq that have none. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  pooled: SWITCH,
  pgbouncer: SWITCH,
  ssl: [...SWITCH, 'no-verify'],
  sslmode: ['disable', 'no-verify', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
  channel_binding: ['disable', 'prefer', 'require'],
  // The store needs a server that can write, in any case.
  target_session_attrs: ['any', 'read-write', 'primary'],
  gssencmode: ['disable', 'prefer'],
  ...Object.fromEntries(
    ['sslcrl', 'sslcrldir', 'sslpassword', 'sslcertmode', 'ssl_min_protocol_version']
      .concat('ssl_max_protocol_version', 'require_auth', 'requirepeer', 'hostaddr', 'service')
      .map((key) => [key, []]),
  ),
};

/** Files in PEM that the driver reads for every connection, so that they may be renewed. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** Two hosts before the path; a user or password may hold commas, too. */
const HOSTS = /^[^/]*\/\/(?:[^/?#]*@)?[^/?#@]*,[^/?#@]*(?:[/?#]|$)/;

/** @throws TypeError for a parameter that cannot be followed */
function checkParameters(name: string, parameters: URLSearchParams): void {
  for (const [key, value] of parameters) {
    const values = Object.hasOwn(VALUES, key) ? VALUES[key]! : [value];
    if (value === '' || values.includes(value)) continue;
    const words = values.length > 0 ? `must be one of ${values.join(', ')}` : 'is not supported';
    throw new TypeError(`"${key}" in "${name}" ${words}`);
  }
}

function isPem(path: string): boolean {
  try {
    return readFileSync(path).includes('-----BEGIN ');
  } catch {
    return false;
  }
}

/**
 * Has the driver verify the server's certificate and name in every mode with TLS, as it does by
 * itself, but with a warning; with `uselibpqcompat=true` the modes are those of libpq.
 *
 * @throws TypeError for a file that cannot be used
 */
function verifyServer(name: string, parameters: URLSearchParams): void {
  // Of several, the last, as in the driver.
  const mode = parameters.getAll('sslmode').at(-1);
  const asked = mode || parameters.getAll('ssl').at(-1);
  const usesFiles = FILES.some((key) => parameters.get(key));
  const usesSystem = parameters.get('sslrootcert') === 'system';
  parameters.delete('ssl');
  if (usesSystem) parameters.delete('sslrootcert');
  for (const key of FILES) {
    const file = parameters.get(key);
    if (file && !isPem(file)) {
      throw new TypeError(`the file of "${key}" in "${name}" cannot be read, or is not in PEM`);
    }
  }
  if (mode && !usesSystem && parameters.get('uselibpqcompat') === 'true') return;
  if (!asked && !usesFiles) return;
  const isPlain = /^(disable|0|false)$/.test(asked ?? '');
  const plainOrNot = isPlain ? 'disable' : 'verify-full';
  parameters.set('sslmode', asked === 'no-verify' ? asked : plainOrNot);
}

/** @throws TypeError without the address in it, which may hold a password */
export function readAddress(name: string, url: unknown): Address {
  const text = typeof url === 'string' ? url : '';
  const parsed = URL.canParse(text) ? new URL(text) : null;
  const { searchParams = new URLSearchParams() } = parsed ?? {};
  if (HOSTS.test(text) || /,/.test(`${searchParams.getAll('host')}`)) {
    throw new TypeError(`"${name}" names several hosts: give one that leads to the primary`);
  }
  if (parsed === null || !PROTOCOL.test(parsed.protocol)) {
    throw new TypeError(`"${name}" must be an address such as postgres://user@host:5432/database`);
  }
  const take = (key: string) => {
    const value = searchParams.get(key);
    searchParams.delete(key);
    return value ?? '';
  };
  checkParameters(name, searchParams);
  verifyServer(name, searchParams);
  const pooled = [take('pooled'), take('pgbouncer')].some((value) => /^(1|true)$/.test(value));
  const binding = take('channel_binding');
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
      enableChannelBinding: /^(prefer|require)$/.test(binding),
      bound: binding === 'require',
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
