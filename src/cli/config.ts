/**
 * Reads settings: option, then environment, then configuration file, then default.
 *
 * The file is `falconry.json` in the working directory, if there is one, or what `--config` or `FALCONRY_CONFIG` names.
 * It may hold settings of every command; each command takes its own. Every fault of it is told, not only the first.
 */
import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { UsageError } from './command.ts';
import {
  ALL_SETTINGS,
  envOf,
  optionOf,
  type Setting,
  type SettingName,
  type SettingValue,
} from './settings.ts';
import { hint } from './suggest.ts';

/** Where a value comes from. */
export interface Origin {
  readonly source: 'option' | 'environment' | 'file' | 'default';
  /** `--port`, `FALCONRY_PORT`, `falconry.json`; empty for a default. */
  readonly at: string;
  /** The file that a secret was read from. */
  readonly secretFile?: string;
}

/** The settings of a command, read and checked. */
export interface Config<N extends SettingName = SettingName> {
  readonly values: { readonly [Name in N]: SettingValue<Name> };
  readonly origins: { readonly [Name in N]: Origin };
  /** The configuration file that was read, or null. */
  readonly file: string | null;
  /** What is odd, but stops nothing: misspelt names in the environment. */
  readonly warnings: readonly string[];
}

/** A config, and what is wrong with it: a value at fault is left at its default. */
export interface ConfigReading<N extends SettingName> extends Config<N> {
  readonly faults: readonly ConfigFault[];
}

export interface ConfigFault {
  /** The setting, or the name that is none. */
  readonly name: string;
  readonly message: string;
}

export interface ConfigSource {
  /** Values of options by their name on the command line (`public-url`), as parseArgs gives them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const CONFIG_FILE = 'falconry.json';
/** Of the environment, but no settings. */
const OTHER_ENV: readonly string[] = ['FALCONRY_CONFIG', 'FALCONRY_DEBUG'];
const MAX_FILE_BYTES = 1024 * 1024;

/** @throws UsageError that names every fault */
export async function readConfig<const N extends SettingName>(
  names: readonly N[],
  source: ConfigSource,
): Promise<Config<N>> {
  const { faults, ...config } = await examineConfig(names, source);
  if (faults.length > 0) throw new UsageError(faults.map(({ message }) => message).join('\n'));
  return config;
}

/** Like {@link readConfig}, with the faults as data. */
export async function examineConfig<const N extends SettingName>(
  names: readonly N[],
  { options, env }: ConfigSource,
): Promise<ConfigReading<N>> {
  const faults: ConfigFault[] = [];
  const file = await readConfigFile(options.config as string | undefined, env, faults);
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const name of names) {
    const setting = ALL_SETTINGS[name]!;
    const given =
      fromOption(name, setting, options) ?? fromEnv(name, setting, env) ?? fromFile(name, file);
    const read = given && (await judge(name, setting, given, faults));
    values[name] = read ? read.value : setting.fallback;
    origins[name] = read?.origin ?? { source: 'default', at: '' };
  }
  return {
    values: values as Config<N>['values'],
    origins: origins as Config<N>['origins'],
    file: file?.path ?? null,
    warnings: misspeltEnv(env),
    faults,
  };
}

interface Given {
  readonly value: unknown;
  readonly origin: Origin;
  /** The value is the path of a file that holds the secret. */
  readonly inFile?: boolean;
}

function fromOption(
  name: string,
  { kind }: Setting,
  options: ConfigSource['options'],
): Given | undefined {
  const inFile = kind === 'secret';
  const option = inFile ? `${optionOf(name)}-file` : optionOf(name);
  const value = options[option];
  if (value === undefined) return undefined;
  return { value, origin: { source: 'option', at: `--${option}` }, inFile };
}

function fromEnv(
  name: string,
  { kind, alsoEnv }: Setting,
  env: ConfigSource['env'],
): Given | undefined {
  const own = envOf(name);
  const found = (at: string, inFile = false): Given | undefined => {
    const value = env[at];
    // Empty is as good as absent: `FALCONRY_PORT= falconry serve`.
    if (value === undefined || value === '') return undefined;
    return { value, origin: { source: 'environment', at }, inFile };
  };
  return (
    found(own) ??
    (kind === 'secret' ? found(`${own}_FILE`, true) : undefined) ??
    (alsoEnv === undefined ? undefined : found(alsoEnv))
  );
}

interface ConfigFile {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

function fromFile(name: string, file: ConfigFile | null): Given | undefined {
  if (file === null) return undefined;
  const origin: Origin = { source: 'file', at: file.path };
  if (file.values[name] !== undefined) return { value: file.values[name], origin };
  const secretFile = file.values[`${name}File`];
  return secretFile === undefined ? undefined : { value: secretFile, origin, inFile: true };
}

/** The value as its setting wants it; a fault is noted, and the value is as if it had not been given. */
async function judge(
  name: string,
  setting: Setting,
  given: Given,
  faults: ConfigFault[],
): Promise<{ value: unknown; origin: Origin } | undefined> {
  const { inFile = false, origin } = given;
  let { value } = given;
  const fault = (message: string) => {
    const where = origin.source === 'file' ? `${origin.at}: "${name}"` : origin.at;
    faults.push({ name, message: `${where} ${message}` });
    return undefined;
  };
  if (inFile) {
    if (typeof value !== 'string') return fault('must be the path of a file');
    try {
      const text = (await readFile(value, 'utf8')).trim();
      const secretFile = value;
      value = text;
      const result = schemaOf(setting).safeParse(value);
      if (!result.success) return fault(`names a file that holds no secret: ${secretFile}`);
      return { value: result.data, origin: { ...origin, secretFile } };
    } catch {
      return fault(`names a file that cannot be read: ${value}`);
    }
  }
  const result = schemaOf(setting).safeParse(value);
  if (result.success) return { value: result.data, origin };
  const hidden = setting.kind === 'secret' || (setting.kind === 'url' && /@/.test(String(value)));
  const shown = hidden ? '' : `, not ${JSON.stringify(value)}`;
  return fault(`${result.error.issues[0]!.message}${shown}`);
}

/** What a setting accepts: text as options and environment give it, and also what JSON can say. */
function schemaOf(setting: Setting): z.ZodType {
  const { kind, min = 0, max = Number.MAX_SAFE_INTEGER, choices = [] } = setting;
  switch (kind) {
    case 'flag':
      return z.union(
        [
          z.boolean(),
          z.stringbool({ truthy: ['1', 'true', 'yes', 'on'], falsy: ['0', 'false', 'no', 'off'] }),
        ],
        'must be 1 or 0 (true or false, yes or no)',
      );
    case 'choice':
      return z.enum(choices as [string], `must be one of ${choices.join(', ')}`);
    case 'integer':
      return wholeNumber(min, max);
    case 'duration':
      return measured(UNITS_OF_TIME, 's', min, max, 'a time such as 90s, 15m, 1h or 30d', showMs);
    case 'bytes':
      return measured(UNITS_OF_SIZE, 'B', min, max, 'a size such as 500kB or 32MiB', showBytes);
    case 'url':
      return z
        .string('must be a url')
        .refine(isHttpUrl, 'must be an absolute http or https url without query or password')
        .transform((text) => text.replace(/\/+$/, ''));
    case 'list':
      return z
        .union([z.string(), z.array(z.string())], 'must be a list of texts')
        .transform((given) => (given === '*' ? given : split(given)));
    case 'path':
      return z.string('must be a path').min(1, 'must not be empty');
    case 'secret':
      return z.string('must be text').min(1, 'must not be empty');
    case 'text':
      return z.string('must be text').min(1, 'must not be empty');
  }
}

/** `a, b` as an array; one that is an array already stays as it is. */
function split(given: string | readonly string[]): readonly string[] {
  if (typeof given !== 'string') return given;
  return given.split(',').flatMap((part) => part.trim() || []);
}

function wholeNumber(min: number, max: number): z.ZodType {
  const message = `must be a number from ${min} to ${max}`;
  return z.union([z.string(), z.number()], message).transform((given, context) => {
    const value = /^\d+$/.test(String(given).trim()) ? Number(given) : Number.NaN;
    if (value >= min && value <= max) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

const UNITS_OF_TIME: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const UNITS_OF_SIZE: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

/** A number with a unit; a bare number has the usual one. */
function measured(
  units: Readonly<Record<string, number>>,
  usual: string,
  min: number,
  max: number,
  expected: string,
  show: (value: number) => string,
): z.ZodType {
  return z.union([z.string(), z.number()], `must be ${expected}`).transform((given, context) => {
    const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(String(given).trim());
    const unit = units[(match?.[2] || usual).toLowerCase()];
    const value = match && unit !== undefined ? Math.round(Number(match[1]) * unit) : Number.NaN;
    if (value >= min && value <= max) return value;
    const message = Number.isNaN(value)
      ? `must be ${expected}`
      : `must be from ${show(min)} to ${show(max)}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** `90 s` → the shortest exact writing that the configuration reads back. */
export function showMs(ms: number): string {
  if (ms === 0) return '0s';
  const unit = (['d', 'h', 'm', 's'] as const).find((name) => ms % UNITS_OF_TIME[name]! === 0);
  return unit === undefined ? `${ms}ms` : `${ms / UNITS_OF_TIME[unit]!}${unit}`;
}

/** `33554432` → `32MiB`. */
export function showBytes(bytes: number): string {
  const unit = (['GiB', 'MiB', 'KiB'] as const).find(
    (name) => bytes > 0 && bytes % UNITS_OF_SIZE[name.toLowerCase()]! === 0,
  );
  return unit === undefined ? `${bytes}B` : `${bytes / UNITS_OF_SIZE[unit.toLowerCase()]!}${unit}`;
}

function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  // A password in an address ends up in logs and histories; `fetch` refuses it too.
  return [url.search, url.hash, url.username, url.password].every((part) => part === '');
}

/** Every name that a configuration file may have. */
export function fileNames(): string[] {
  return Object.entries(ALL_SETTINGS).flatMap(([name, { kind }]) =>
    kind === 'secret' ? [name, `${name}File`] : [name],
  );
}

async function readConfigFile(
  option: string | undefined,
  env: ConfigSource['env'],
  faults: ConfigFault[],
): Promise<ConfigFile | null> {
  const asked = option ?? (env.FALCONRY_CONFIG || undefined);
  const path = asked ?? CONFIG_FILE;
  const fault = (message: string) => {
    faults.push({ name: 'config', message: `${path} ${message}` });
    return null;
  };
  let text: string;
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) return fault('is too long for a configuration file');
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (asked === undefined && code === 'ENOENT') return null;
    return fault(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return fault(`is not valid JSON: ${(error as Error).message}`);
  }
  return { path, values: checkNames(path, json, faults) };
}

/** Unknown names are told with the nearest known one; what is known goes on to be judged. */
function checkNames(path: string, json: unknown, faults: ConfigFault[]): Record<string, unknown> {
  const known = fileNames();
  const shape = Object.fromEntries([...known, '$schema'].map((name) => [name, z.unknown()]));
  const result = z.strictObject(shape).partial().safeParse(json);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    if (issue.code !== 'unrecognized_keys') {
      faults.push({ name: 'config', message: `${path} must hold one JSON object` });
      return {};
    }
    for (const name of issue.keys) {
      const message = `${path}: "${name}" is no setting${hint(name, known, (n) => `"${n}"`)}`;
      faults.push({ name, message });
    }
  }
  const entries = Object.entries(json as object).filter(([name]) => known.includes(name));
  return Object.fromEntries(entries);
}

/** `FALCONRY_THRAEDS is no setting; did you mean FALCONRY_THREADS?` */
function misspeltEnv(env: ConfigSource['env']): string[] {
  const known = new Set(OTHER_ENV);
  for (const [name, { kind }] of Object.entries(ALL_SETTINGS)) {
    known.add(envOf(name));
    if (kind === 'secret') known.add(`${envOf(name)}_FILE`);
  }
  return Object.keys(env)
    .filter((name) => name.startsWith('FALCONRY_') && !known.has(name))
    .map((name) => `${name} is no setting${hint(name, known)}`);
}
