/** Database addresses: parsed once, and shown without the password. */
import type { ClientConfig } from 'pg';

export interface Address {
  /** For the driver. */
  readonly config: ClientConfig;
  /**
   * True behind a pooler in transaction mode (`?pooled=1`): connections keep no state, so
   * statements have no names, and there are no session settings.
   */
  readonly pooled: boolean;
  /** Host, port and database, for messages. */
  readonly shown: string;
}

const PROTOCOL = /^postgres(ql)?:$/;
const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;

/**
 * Settings of every connection. Statements are short, so `jit` is off. An idle transaction would
 * keep dead rows in the queue's index.
 */
const SESSION = [
  'TimeZone=UTC',
  'DateStyle=ISO',
  'statement_timeout=10s',
  'idle_in_transaction_session_timeout=10s',
  'jit=off',
];

/** @throws TypeError without the address in it, which may hold a password */
export function readAddress(name: string, url: unknown): Address {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !PROTOCOL.test(parsed.protocol)) {
    throw new TypeError(`"${name}" must be an address such as postgres://user@host:5432/database`);
  }
  const { searchParams } = parsed;
  const pooled = searchParams.get('pooled') === '1';
  const options = searchParams.get('options') ?? '';
  searchParams.delete('pooled');
  searchParams.delete('options');
  const session = SESSION.map((setting) => `-c ${setting}`).join(' ');
  const host = searchParams.get('host') ?? parsed.hostname;
  const port = searchParams.get('port') ?? (parsed.port || '5432');
  return {
    config: {
      connectionString: parsed.href,
      ...(!pooled && { options: `${session} ${options}`.trim() }),
      connectionTimeoutMillis: 5000,
      query_timeout: 15_000,
      keepAlive: true,
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
