/**
 * Every setting that can come from an option, the environment or a file. One name, three spellings:
 *
 *   --public-url      FALCONRY_PUBLIC_URL      "publicUrl" in falconry.json
 *
 * The first that is given wins, in that order; then the default. A secret is never an option's
 * value, which every process of the machine could read: it has `--<name>-file`, `FALCONRY_<NAME>`,
 * `FALCONRY_<NAME>_FILE`, `"<name>File"`. An address may be an option if it holds no password.
 */
import { CLIENT_LIMITS, SERVICE_OPTIONS } from '../../middleware/options/optionTable.ts';
import {
  choice,
  duration,
  fallbackOf,
  inGroup,
  integer,
  type OptionRow,
  type OptionTable,
  type RowValue,
  type SettingNameOf,
  secret,
  text,
  url,
} from '../../shared/optionRows.ts';
import { flag, type Option, valued } from './command.ts';
import { showValue } from './settingText.ts';

const DAY_MS = 86_400_000;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const MAX_PORT = 65_535;

const SERVER_SETTINGS = inGroup('Server', {
  port: integer('port to listen on; 0: any free one', {
    max: MAX_PORT,
    fallback: 8787,
    alsoEnv: 'PORT',
  }),
  host: text('address to listen on; 0.0.0.0: all addresses', {
    placeholder: 'address',
    fallback: '127.0.0.1',
  }),
  maxConnections: integer('most open connections', { min: 1, max: 1e6, fallback: 4096 }),
  grace: duration('time for running work to finish at shutdown', { max: DAY_MS, fallback: 10_000 }),
  drainDelay: duration('at shutdown, time for load balancers to notice', {
    max: DAY_MS,
    fallback: 0,
  }),
  log: choice('format of the log', ['text', 'json'], {
    fallbackText: 'text on a terminal, else json',
  }),
  logLevel: choice('lowest level to log', LOG_LEVELS, { fallback: 'info' }),
  metricsPort: integer('port for metrics and health; 0: any free one', {
    max: MAX_PORT,
    fallbackText: 'none',
  }),
  metricsHost: text('address of that port', { placeholder: 'address', fallback: '127.0.0.1' }),
  firstKey: secret('API key to store at the first start, instead of a new one'),
});

/** Of commands that call a service, which also use `serviceName`. */
const CALLER_SETTINGS = {
  url: url('address of the service', { fallback: 'http://127.0.0.1:8787' }),
  apiKey: secret('API key'),
  retries: integer('retries of a failed request', { max: 100, fallback: 5 }),
} as const satisfies OptionTable;

/** Returns what is wrong with an address that holds a password, or null. */
function exposesPassword(address: string): string | null {
  const parsed = URL.canParse(address) ? new URL(address) : null;
  // Invalid addresses may hold one, too; they are refused later.
  const holds = parsed?.protocol.startsWith('postgres')
    ? parsed.password !== '' || parsed.searchParams.has('password')
    : address.includes('@');
  if (!holds) return null;
  return 'may hold no password, which others could read: use a file or the environment';
}

const SHARED_GROUP = 'Stores shared by several hosts';
const ADDRESS = { placeholder: 'url', inline: exposesPassword } as const;

const SHARED_SETTINGS = inGroup(SHARED_GROUP, {
  database: secret('PostgreSQL database: postgres://user@host/name', ADDRESS),
  databaseDirect: secret('address of the database behind a pooler', ADDRESS),
  blobs: text('bucket for files: s3://bucket/prefix', {
    placeholder: 'url',
    check: (address) =>
      /^s3:\/\/[^/]+(\/|$)/.test(address) ? null : 'must be s3://bucket or s3://bucket/prefix',
  }),
  s3Endpoint: url('address of the S3 server', { fallbackText: 'AWS' }),
  s3Region: text('region of the bucket', { placeholder: 'name', fallbackText: 'us-east-1' }),
});

/** The rows that are settings, under their names here. */
function renamed<Table extends OptionTable>(table: Table) {
  const rows = Object.entries(table)
    .filter(([, { setting }]) => setting !== null)
    .map(([name, row]) => [row.setting ?? name, row]);
  return Object.fromEntries(rows) as {
    [Name in keyof Table as SettingNameOf<Name, Table[Name]> & string]: Table[Name];
  };
}

const SERVE_TABLE = {
  ...SERVER_SETTINGS,
  ...renamed(SERVICE_OPTIONS),
  ...renamed(CLIENT_LIMITS),
  ...SHARED_SETTINGS,
  transfers: choice(
    'clients exchange files with the bucket, or through the service',
    ['direct', 'through'],
    { fallback: 'direct', group: SHARED_GROUP },
  ),
};

export const SETTINGS = { ...SERVE_TABLE, ...CALLER_SETTINGS };

export type SettingName = keyof typeof SETTINGS;
export type ServeSetting = keyof typeof SERVE_TABLE;
export type SettingValue<Name extends SettingName> = RowValue<(typeof SETTINGS)[Name]>;

export const ALL_SETTINGS: Readonly<Record<string, OptionRow>> = SETTINGS;

export const SHARED = Object.keys(SHARED_SETTINGS) as (keyof typeof SHARED_SETTINGS)[];

export const SERVE_SETTINGS = Object.keys(SERVE_TABLE) as readonly ServeSetting[];

/** `publicUrl` → `public-url`. */
export function optionOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `publicUrl` → `FALCONRY_PUBLIC_URL`. */
export function envOf(name: string): string {
  return `FALCONRY_${optionOf(name).toUpperCase().replaceAll('-', '_')}`;
}

/** The options of these settings, and `--config`. */
export function optionsOfSettings(names: readonly SettingName[]): Option[] {
  if (names.length === 0) return [];
  const config = valued('config', 'file', 'configuration file', {
    fallback: 'falconry.json, if there is one',
    group: 'Settings',
  });
  const settings = names.flatMap((name) => optionsOf(optionOf(name), ALL_SETTINGS[name]!));
  return [config, ...settings].map((option) => ({ ...option, isSetting: true }));
}

function optionsOf(name: string, row: OptionRow): Option[] {
  const { type, about, placeholder = 'text', choices, group = 'Settings', inline } = row;
  const fallback = defaultText(row);
  const parts = { group, ...(fallback !== '' && { fallback }) };
  if (type === 'flag' || type === 'proxies') {
    const held = type === 'proxies' ? { mayHold: placeholder } : {};
    return [flag(name, about, { ...parts, ...held, negatable: 'optional' })];
  }
  const plain = valued(name, choices ?? placeholder, about, parts);
  if (type !== 'secret') return [plain];
  const inFile = (words: string) => valued(`${name}-file`, 'file', words, parts);
  return inline ? [plain, inFile('the same, in a file')] : [inFile(about)];
}

/** The default of a setting as it would be written, or in words; empty if there is none. */
export const defaultText = (row: OptionRow): string =>
  row.fallbackText ?? showValue(row, fallbackOf(row));
