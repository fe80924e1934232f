/** The settings of the server, and what they mean to the service. */
import { resolveOptions, type ServiceOptions, type Settings } from '../middleware/options.ts';
import { UsageError } from './command.ts';
import { type Config, showBytes, showMs } from './config.ts';
import { ALL_SETTINGS, optionOf, type Setting, type SettingName } from './settings.ts';

/** As the help text groups them. */
export const SERVE_GROUPS = {
  Server: [
    'port',
    'host',
    'data',
    'publicUrl',
    'trustProxy',
    'cors',
    'ui',
    'grace',
    'log',
    'logLevel',
    'firstKey',
  ],
  Service: [
    'serviceName',
    'signing',
    'signingKeyPerClient',
    'workers',
    'threads',
    'aggregateFormat',
    'lease',
  ],
  Limits: [
    'maxSignatures',
    'maxDigest',
    'maxBody',
    'maxBuffered',
    'bodyIdleTimeout',
    'uploadUrlTtl',
    'resultUrlTtl',
    'retention',
    'requestsPerSecond',
    'burst',
    'openTasks',
    'storedBytes',
    'eventStreams',
    'refusedPerSecond',
    'refusedBurst',
  ],
} as const satisfies Readonly<Record<string, readonly SettingName[]>>;

export type ServeSetting = (typeof SERVE_GROUPS)[keyof typeof SERVE_GROUPS][number];

export const SERVE_SETTINGS: readonly ServeSetting[] = Object.values(SERVE_GROUPS).flat();

/** What `falconService` is given: only what was set, since its defaults are its own. */
export function serviceOptions(config: Config<ServeSetting>): ServiceOptions {
  const options: Record<string, unknown> = {};
  const limits: Record<string, unknown> = {};
  for (const name of SERVE_SETTINGS) {
    const { service } = ALL_SETTINGS[name]!;
    const value = config.values[name];
    if (service === undefined || value === undefined) continue;
    if (config.origins[name].source === 'default') continue;
    if (service.startsWith('limits.')) limits[service.slice('limits.'.length)] = value;
    else options[service] = value;
  }
  return { ...options, limits };
}

/**
 * Everything that the service will work with.
 *
 * @throws UsageError for settings that do not go together
 */
export function resolveService(options: ServiceOptions): Settings {
  try {
    return resolveOptions(options);
  } catch (error) {
    throw new UsageError((error as Error).message.replaceAll('"options.', '"'));
  }
}

/** The value that a setting has, its own default or that of the service included. */
export function effective(
  name: ServeSetting,
  config: Config<ServeSetting>,
  settings: Settings,
): unknown {
  const { service } = ALL_SETTINGS[name]!;
  if (service === undefined) return config.values[name];
  const path = service.split('.');
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], settings);
}

/** A value as the configuration would be written. */
export function showValue({ kind }: Setting, value: unknown): string {
  if (value === undefined || value === null) return '';
  switch (kind) {
    case 'flag':
      return value ? 'yes' : 'no';
    case 'duration':
      return showMs(Number(value));
    case 'bytes':
      return showBytes(Number(value));
    default:
      return String(value);
  }
}

/** The options of the help text, with their defaults. */
export function settingsHelp(): string {
  const defaults = resolveOptions({});
  const none = { values: {}, origins: {} } as unknown as Config<ServeSetting>;
  return Object.entries(SERVE_GROUPS)
    .map(([group, names]) => {
      const lines = names.map((name) => {
        const setting = ALL_SETTINGS[name]!;
        const known = setting.fallback ?? effective(name, none, defaults);
        const shown = setting.fallbackText ?? showValue(setting, known);
        const text = `${setting.about}${shown === '' ? '' : ` [${shown}]`}`;
        return `  ${optionText(name, setting).padEnd(32)} ${text}\n`;
      });
      return `${group}\n${lines.join('')}`;
    })
    .join('\n');
}

function optionText(name: string, { kind, placeholder = '' }: Setting): string {
  const option = optionOf(name);
  if (kind === 'flag') return `--[no-]${option}`;
  if (kind === 'secret') return `--${option}-file FILE`;
  return `--${option} ${placeholder}`;
}
