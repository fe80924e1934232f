/** Examines what a connection cannot set for itself, although the store relies on it. */
import { readAddress, readSchema } from './address.ts';
import { checkServer, DEFAULT_CONNECTIONS, withLine } from './database.ts';

/** Fatal: the store cannot work with it. */
type ServerFinding = { readonly message: string; readonly fatal: boolean };

/** Of a process: its pool, and one for hints. */
const CONNECTIONS = DEFAULT_CONNECTIONS + 1;

/** @throws CodedError `STORE_UNAVAILABLE` if the server does not answer, or can only be read */
export async function examine(url: string, schema = 'falconry'): Promise<ServerFinding[]> {
  const address = readAddress('url', url);
  const s = readSchema(schema);
  return withLine(address.config, undefined, async (client) => {
    await checkServer(client, address);
    return (await client.query(question(address.pooled), [s, Date.now()])).rows;
  });
}

const setting = (name: string) => `current_setting('${name}', true)`;
const off = (name: string) => `${setting(name)} = 'off'`;
/** The names of tables and sequences that are so, or null. */
const those = (are: string) =>
  `(SELECT string_agg(relname, ', ' ORDER BY relname) FROM own WHERE ${are})`;
const lacks = (privilege: string, tables: string) =>
  `relname ~ '^(${tables})$' AND NOT has_table_privilege(oid, '${privilege}')`;
const LACKS = `CASE relkind WHEN 'S' THEN NOT has_sequence_privilege(oid, 'UPDATE')
  ELSE ${lacks('SELECT', '.*')} OR ${lacks('DELETE', 'tasks|answers|api_keys|quotas')}
    OR ${lacks('INSERT', 'tasks|answers|api_keys|quotas|clients|secrets')}
    OR ${lacks('UPDATE', 'tasks|answers|api_keys|quotas|clients|client_numbers|clock')} END`;

/** Each row of the list: whether it is so, whether that is fatal, and the text, null if unknown. */
const question = (pooled: boolean) => `
  WITH own AS (SELECT * FROM pg_class
      WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'S')),
  most AS (SELECT least(
      ${setting('max_connections')}::int - ${setting('superuser_reserved_connections')}::int
        - coalesce(${setting('reserved_connections')}, '0')::int,
      CASE WHEN NOT rolsuper THEN nullif(rolconnlimit, -1) END,
      CASE WHEN NOT rolsuper THEN nullif(datconnlimit, -1) END) AS connections
    FROM pg_roles, pg_database WHERE rolname = session_user AND datname = current_database()),
  clock AS (SELECT round(extract(epoch FROM clock_timestamp()) - $2::bigint / 1000) AS ahead_s)
  SELECT message, fatal FROM most, clock, LATERAL (VALUES
    (${setting('server_version_num')}::int < 150000, false,
      'PostgreSQL ' || ${setting('server_version')} || ' is older than 15'),
    (${setting('server_encoding')} <> 'UTF8', false, 'the database is encoded in '
      || ${setting('server_encoding')} || ', which cannot hold every text: create it in UTF8'),
    (${off('fsync')}, false, 'fsync is off: a crash of the host may destroy the database'),
    (${off('full_page_writes')}, false, 'full_page_writes is off: a crash may damage tables'),
    (${off('autovacuum')} OR ${off('track_counts')}, false,
      'autovacuum or track_counts is off: the tables grow, and become slow'),
    (connections < ${CONNECTIONS} AND NOT ${pooled}, false, 'the server, the database or the role '
      || 'allows ' || connections || ' connections, but a process uses up to ${CONNECTIONS}'),
    (abs(ahead_s) > 60, false,
      'the clock of the server is ' || ahead_s || ' s ahead of this one: run NTP on both'),
    (true, false, 'unlogged, so a crash empties them: ' || ${those(`relpersistence = 'u'`)}),
    (true, true, 'row security applies to the role: ' || ${those('row_security_active(oid)')}),
    (true, true, 'the role has too few privileges: ' || ${those(LACKS)})
  ) AS found (holds, fatal, message) WHERE holds AND message IS NOT NULL`;
