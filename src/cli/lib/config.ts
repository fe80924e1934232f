/**
 * Reads settings: option, then environment, then configuration file, then default.
 *
 * The file is `falconry.json` in the working directory, if there is one, or what `--config` or
 * `FALCONRY_CONFIG` names. It may hold settings of every command; each command reads its own. All
 * faults are reported, not only the first.
 */
import { readFile, stat } from 'node:fs/promises';
import { fallbackOf, type OptionRow } from '../../shared/optionRows.ts';
import { decodeUtf8 } from '../../shared/utf8.ts';
import { UsageError } from './command.ts';
import { ALL_SETTINGS, envOf, optionOf, type SettingName, type SettingValue } from './settings.ts';
import { readSetting } from './settingText.ts';
import { hint } from './text.ts';

interface Origin {
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
  /** Problems that do not prevent a start: misspelt names in the environment. */
  readonly warnings: readonly string[];
}

/** The name is that of the setting, or the unknown one. */
type Fault = Readonly<Record<'name' | 'message', string>>;

/** A faulty value is replaced by the default. */
export interface ConfigReading<N extends SettingName> extends Config<N> {
  readonly faults: readonly Fault[];
}

interface ConfigSource {
  /** Values by name on the command line (`public-url`), as parseArgs returns them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Variables of the environment that are not settings. */
const OTHER_ENV = ['config', 'debug', 'passphrase', 'newPassphrase'];
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

/** Returns the faults instead of throwing. */
export async function examineConfig<const N extends SettingName>(
  names: readonly N[],
  { options, env: all }: ConfigSource,
): Promise<ConfigReading<N>> {
  const env = Object.fromEntries(Object.entries(all).filter((entry) => !isInjected(entry)));
  const faults: Fault[] = [];
  const file = await readConfigFile(options.config as string | undefined, env, faults);
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const name of names) {
    const row = ALL_SETTINGS[name]!;
    const given = find(name, row, { options, env }, file);
    const read = given && (await accept(name, row, given, faults));
    values[name] = read ? read.value : fallbackOf(row);
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

type ConfigFile = { readonly path: string; readonly values: ConfigSource['options'] };

/**
 * Returns the first value in the order of precedence: options, environment, configuration file. An
 * empty environment variable counts as absent.
 */
function find(
  name: string,
  { type, inline, alsoEnv }: OptionRow,
  { options, env }: ConfigSource,
  file: ConfigFile | null,
): Given | undefined {
  const given = (source: Origin['source'], at: string, value: unknown, inFile = false) =>
    value !== undefined && { value, origin: { source, at }, inFile };
  const option = (key: string, inFile?: true) => given('option', `--${key}`, options[key], inFile);
  const variable = (key: string, inFile?: true) =>
    given('environment', key, env[key] || undefined, inFile);
  const entry = (key: string, inFile?: true) =>
    given('file', file?.path ?? '', file?.values[key], inFile);
  const isSecret = type === 'secret';
  const [own, ownEnv] = [optionOf(name), envOf(name)];
  return (
    (isSecret && option(`${own}-file`, true)) ||
    ((!isSecret || inline) && option(own)) ||
    variable(ownEnv) ||
    (isSecret && variable(`${ownEnv}_FILE`, true)) ||
    (alsoEnv && variable(alsoEnv)) ||
    entry(name) ||
    (isSecret && entry(`${name}File`, true)) ||
    undefined
  );
}

/** The checked value; for an invalid one, adds a fault. */
async function accept(
  name: string,
  row: OptionRow,
  given: Given,
  faults: Fault[],
): Promise<Given | undefined> {
  const { value, origin } = given;
  const fault = (message: string) => {
    const where = origin.source === 'file' ? `${origin.at}: "${name}"` : origin.at;
    faults.push({ name, message: `${where} ${message}` });
    return undefined;
  };
  if (given.inFile) {
    if (typeof value !== 'string') return fault('must be the path of a file');
    const content = await readFile(value, 'utf8').catch(() => null);
    if (content === null) return fault(`names a file that cannot be read: ${value}`);
    const judged = readSetting(row, content.trim());
    if (judged.wrong) return fault(`names a file that holds no secret: ${value}`);
    return { value: judged.value, origin: { ...origin, secretFile: value } };
  }
  const exposed = origin.source === 'option' ? row.inline?.(String(value)) : null;
  if (typeof exposed === 'string') return fault(exposed);
  const judged = readSetting(row, value);
  if (judged.wrong === undefined) return { value: judged.value, origin };
  const hidden = row.type === 'secret' || (row.type === 'url' && /@/.test(String(value)));
  return fault(hidden ? judged.message : `${judged.message}, not ${JSON.stringify(value)}`);
}

export function fileNames(): string[] {
  return Object.entries(ALL_SETTINGS).flatMap(([name, { type }]) =>
    type === 'secret' ? [name, `${name}File`] : [name],
  );
}

async function readConfigFile(
  option: string | undefined,
  env: ConfigSource['env'],
  faults: Fault[],
): Promise<ConfigFile | null> {
  const asked = option ?? (env.FALCONRY_CONFIG || undefined);
  const path = asked ?? 'falconry.json';
  const fault = (message: string) => {
    faults.push({ name: 'config', message: `${path} ${message}` });
    return null;
  };
  let bytes: Uint8Array;
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) return fault('is too large for a configuration file');
    bytes = await readFile(path);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    // A folder that may not be entered, as after sudo, counts as one without the file.
    const isAbsent = code === 'ENOENT' || (code === 'EACCES' && syscall === 'stat');
    if (asked === undefined && isAbsent) return null;
    return fault(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
  try {
    return { path, values: checkNames(path, JSON.parse(decodeUtf8(bytes)), faults) };
  } catch (error) {
    return fault(`is not valid JSON: ${(error as Error).message}`);
  }
}

/** The entries with known names; adds a fault for each other name. */
function checkNames(path: string, json: unknown, faults: Fault[]): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    faults.push({ name: 'config', message: `${path} must hold one JSON object` });
    return {};
  }
  const known = fileNames();
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(json)) {
    if (known.includes(name)) values[name] = value;
    else if (name !== '$schema') {
      const message = `${path}: "${name}" is not a setting${hint(name, known, (n) => `"${n}"`)}`;
      faults.push({ name, message });
    }
  }
  return values;
}

/**
 * Returns whether Kubernetes has put a variable into the environment of a pod, for a Service called
 * `falconry` or `falconry-…`: `FALCONRY_PORT=tcp://10.0.0.1:80`, `FALCONRY_METRICS_SERVICE_HOST`.
 */
function isInjected([name, value = '']: readonly [string, string | undefined]): boolean {
  if (!name.startsWith('FALCONRY_')) return false;
  if (/_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name)) return true;
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value);
}

function misspeltEnv(env: ConfigSource['env']): string[] {
  const known = new Set([...OTHER_ENV, ...fileNames()].map(envOf));
  return Object.keys(env)
    .filter((name) => name.startsWith('FALCONRY_') && !known.has(name))
    .map((name) => `${name} is not a setting${hint(name, known)}`);
}
