/** The settings of the server: what they mean to the service, and their help text. */

import { fallbackOf, type OptionTable } from '../middleware/optionRows.ts';
import { resolveOptions, type ServiceOptions, type Settings } from '../middleware/options.ts';
import { CLIENT_LIMITS, SERVICE_OPTIONS } from '../middleware/optionTable.ts';
import { UsageError } from './command.ts';
import type { Config } from './config.ts';
import { ALL_SETTINGS, SERVE_GROUPS, type ServeSetting, usageOf } from './settings.ts';
import { showValue } from './settingText.ts';

/** The options of `falconService`: only those that were set, since it has its own defaults. */
export function serviceOptions(config: Config<ServeSetting>): ServiceOptions {
  return { ...given(SERVICE_OPTIONS, config), limits: given(CLIENT_LIMITS, config) };
}

/** Most connections of one address, if it is not that of a proxy. */
const MAX_PER_ADDRESS = 256;

/** The limits of the server, as far as they follow from those of the service. */
export function serverLimits(values: Config<ServeSetting>['values'], settings: Settings) {
  const { maxConnections } = values;
  const fair = settings.trustProxy ? maxConnections : MAX_PER_ADDRESS;
  const { maxConnectionsPerAddress = fair } = values;
  const { maxBodyBytes, minBodyBytesPerSecond, bodyIdleTimeoutMs } = settings;
  // The slowest sender who is not given up needs no longer for the largest body.
  const slowestMs = bodyIdleTimeoutMs + (1000 * maxBodyBytes) / minBodyBytesPerSecond;
  const requestTimeoutMs = Math.min(MAX_REQUEST_MS, Math.ceil(2 * slowestMs));
  return { maxConnections, maxConnectionsPerAddress, requestTimeoutMs };
}

/** The longest time limit of a request. */
const MAX_REQUEST_MS = 86_400_000;

function given(table: OptionTable, config: Config<ServeSetting>): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const [option, row] of Object.entries(table)) {
    const name = (row.setting ?? option) as ServeSetting;
    if (config.origins[name].source !== 'default') options[option] = config.values[name];
  }
  return options;
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
    const table: OptionTable = { ...SERVICE_OPTIONS, ...CLIENT_LIMITS };
    // In the words of the command line: `"options.leaseMs"` is its `lease`.
    const message = (error as Error).message.replaceAll(
      /"options\.(?:limits\.)?(\w+)"/g,
      (_, option: string) => `"${table[option]?.setting ?? option}"`,
    );
    throw new UsageError(message);
  }
}

/** The options of the help text, with their defaults. */
export function settingsHelp(): string {
  return Object.entries(SERVE_GROUPS)
    .map(([group, names]) => `${group}\n${names.map(settingHelp).join('')}`)
    .join('\n');
}

function settingHelp(name: ServeSetting): string {
  const row = ALL_SETTINGS[name]!;
  const shown = defaultText(name);
  const about = `${row.about}${shown === '' ? '' : ` [${shown}]`}`;
  return `  ${usageOf(name, row).padEnd(32)} ${about}\n`;
}

/**
 * The default of a setting, as written in the configuration or in words; empty if there is none.
 */
export function defaultText(name: string): string {
  const row = ALL_SETTINGS[name]!;
  return row.fallbackText ?? showValue(row, fallbackOf(row));
}
