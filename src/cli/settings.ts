/**
 * Every setting that can come from an option, the environment or a file. One name, three spellings:
 *
 *   --public-url      FALCONRY_PUBLIC_URL      "publicUrl" in falconry.json
 *
 * The first that is given wins, in that order; then the default. A secret is never given as an
 * option's value, which every process of the machine could read: it has `--<name>-file`,
 * `FALCONRY_<NAME>`, `FALCONRY_<NAME>_FILE`, `"<name>File"`. An address is an option as well, as
 * long as it holds no password.
 */
import {
  choice,
  duration,
  integer,
  type OptionRow,
  type OptionTable,
  type RowValue,
  type SettingNameOf,
  secret,
  text,
  url,
} from '../middleware/options/optionRows.ts';
import { CLIENT_LIMITS, SERVICE_OPTIONS } from '../middleware/options/optionTable.ts';
import { showValue } from './settingText.ts';

const DAY_MS = 86_400_000;
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Settings of `falconry serve` only. */
const SERVER_SETTINGS = {
  port: integer('port to listen on; 0 takes any free one', {
    max: 65_535,
    fallback: 8787,
    alsoEnv: 'PORT',
    group: 'Server',
  }),
  host: text('address to listen on; 0.0.0.0 is every one', {
    placeholder: 'address',
    fallback: '127.0.0.1',
    group: 'Server',
  }),
  maxConnections: integer('most connections at once', {
    min: 1,
    max: 1e6,
    fallback: 4096,
    group: 'Server',
  }),
  maxConnectionsPerAddress: integer('most of them from one address', {
    min: 1,
    max: 1e6,
    fallbackText: '256; none with --trust-proxy',
    group: 'Server',
  }),
  grace: duration('time that running work has to finish at shutdown', {
    max: DAY_MS,
    fallback: 10_000,
    group: 'Server',
  }),
  log: choice('format of the log', ['text', 'json'], {
    fallbackText: 'text on a terminal, else json',
    group: 'Server',
  }),
  logLevel: choice('lowest level logged', LOG_LEVELS, {
    fallback: 'info',
    group: 'Server',
  }),
  drainDelay: duration('time for load balancers to look elsewhere before it stops', {
    max: DAY_MS,
    fallback: 0,
    group: 'Server',
  }),
  accessLog: choice('a line in the log for every request', ['on', 'off'], {
    fallback: 'on',
    group: 'Server',
  }),
  metricsPort: integer('port of metrics and health; 0 takes any free one', {
    max: 65_535,
    fallbackText: 'none',
    group: 'Server',
  }),
  metricsHost: text('address to listen on for them', {
    placeholder: 'address',
    fallback: '127.0.0.1',
    group: 'Server',
  }),
  firstKey: secret('API key that the first start stores instead of making one', {
    group: 'Server',
  }),
} as const satisfies OptionTable;

/** Settings of commands that call a service, which also use `serviceName`. */
const CALLER_SETTINGS = {
  url: url('address of the service', { fallback: 'http://127.0.0.1:8787' }),
  apiKey: secret('the API key'),
  retries: integer('how often a request is tried again', { max: 100, fallback: 5 }),
} as const satisfies OptionTable;

/** The fault of an address on the command line. */
function exposesPassword(address: string): string | null {
  const parsed = URL.canParse(address) ? new URL(address) : null;
  // What is no address is refused later; an @ may come after a password all the same.
  const holds = parsed?.protocol.startsWith('postgres')
    ? parsed.password !== '' || parsed.searchParams.has('password')
    : address.includes('@');
  return holds
    ? 'may hold no password, which others could read: use a file or the environment'
    : null;
}

const ADDRESS = {
  placeholder: 'url',
  inline: exposesPassword,
  group: 'Stores that several hosts share',
} as const;

/** Settings of the stores that several hosts share. */
const SHARED_SETTINGS = {
  database: secret('address of the PostgreSQL database, postgres://user@host/name', ADDRESS),
  databaseDirect: secret('its address past a pooler', ADDRESS),
  blobs: text('bucket of the files: s3://bucket/prefix', {
    placeholder: 'url',
    check: (address) =>
      /^s3:\/\/[^/]+(\/|$)/.test(address) ? null : 'must be s3://bucket or s3://bucket/prefix',
    group: 'Stores that several hosts share',
  }),
  s3Endpoint: url('address of its server', {
    fallbackText: 'that of AWS',
    group: 'Stores that several hosts share',
  }),
  s3Region: text('its region', {
    placeholder: 'name',
    fallbackText: 'us-east-1',
    group: 'Stores that several hosts share',
  }),
} as const satisfies OptionTable;

const WAYS = ['direct', 'through'] as const;

/** Settings of `falconry serve` with such stores. */
const SHARING_SETTINGS = {
  uploads: choice('way of task files to the bucket', WAYS, {
    fallback: 'direct',
    group: 'Stores that several hosts share',
  }),
  results: choice('way of results to clients', WAYS, {
    fallback: 'direct',
    group: 'Stores that several hosts share',
  }),
} as const satisfies OptionTable;

/** A table of options under their names here. */
type Renamed<Table> = {
  [Name in keyof Table as SettingNameOf<Name, Table[Name]> & string]: Table[Name];
};

function renamed<Table extends OptionTable>(table: Table): Renamed<Table> {
  const rows = Object.entries(table).map(([name, row]) => [row.setting ?? name, row]);
  return Object.fromEntries(rows) as Renamed<Table>;
}

const SERVE_TABLE = {
  ...SERVER_SETTINGS,
  ...SHARED_SETTINGS,
  ...SHARING_SETTINGS,
  ...renamed(SERVICE_OPTIONS),
  ...renamed(CLIENT_LIMITS),
};

/** All settings. */
export const SETTINGS = {
  ...SERVE_TABLE,
  ...CALLER_SETTINGS,
};

export type SettingName = keyof typeof SETTINGS;
export type ServeSetting = keyof typeof SERVE_TABLE;
export type SettingValue<Name extends SettingName> = RowValue<(typeof SETTINGS)[Name]>;

/** The table without the types of its values. */
export const ALL_SETTINGS: Readonly<Record<string, OptionRow>> = SETTINGS;

/** The settings that say where the shared stores are. */
export const SHARED = Object.keys(SHARED_SETTINGS) as (keyof typeof SHARED_SETTINGS)[];

/** The settings of `falconry serve` by the headings of its help text. */
export const SERVE_GROUPS = groupsOf(SERVE_TABLE);
export const SERVE_SETTINGS: readonly ServeSetting[] = Object.values(SERVE_GROUPS).flat();

function groupsOf(table: typeof SERVE_TABLE): Readonly<Record<string, readonly ServeSetting[]>> {
  const groups: Record<string, ServeSetting[]> = {};
  for (const [name, row] of Object.entries<OptionRow>(table)) {
    (groups[row.group!] ??= []).push(name as ServeSetting);
  }
  return groups;
}

/** `publicUrl` → `public-url`. */
export function optionOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `publicUrl` → `FALCONRY_PUBLIC_URL`. */
export function envOf(name: string): string {
  return `FALCONRY_${optionOf(name).toUpperCase().replaceAll('-', '_')}`;
}

/** Settings in the help text of a command, with all their names. */
export function settingLines(names: readonly SettingName[]): string {
  const lines = names.map((name) => {
    const row = ALL_SETTINGS[name]!;
    const variables = row.type === 'secret' ? `${envOf(name)}, ${envOf(name)}_FILE` : envOf(name);
    const file = row.type === 'secret' ? `${name}File` : name;
    const known = row.fallback === undefined ? '' : `; ${showValue(row, row.fallback)}`;
    const spellings = `(${variables}, "${file}"${known})`;
    const fits = spellings.length + row.about.length < 78;
    if (!row.inline && fits) return line(usageOf(name, row), `${spellings} ${row.about}`);
    return [`      ${usageOf(name, row)}`, spellings, row.about].join(`\n${' '.repeat(16)}`);
  });
  const config = '(FALCONRY_CONFIG; falconry.json, if there is one) configuration file';
  return [...lines, line('--config <file>', config)].join('\n');
}

/** An option and its text, on one line if they fit. */
function line(usage: string, about: string): string {
  const below = `\n${' '.repeat(22)}`;
  const fits = usage.length < 16 && about.length <= 78;
  // A long text goes below its spellings.
  const whole = about.length <= 78 ? about : about.replace(') ', `)${below}`);
  return `      ${usage.padEnd(16)}${fits ? '' : below}${whole}`.replace(/ +\n/, '\n');
}

/** The usage of an option in help texts: `--port <n>`, `--[no-]ui`, `--first-key-file <file>`. */
export function usageOf(name: string, { type, placeholder, inline }: OptionRow): string {
  const option = optionOf(name);
  if (type === 'flag') return `--[no-]${option}`;
  const plain = `--${option} <${placeholder}>`;
  if (type !== 'secret') return plain;
  return `${inline ? `${plain}, ` : ''}--${option}-file <file>`;
}
