/** The options of the service that follow from the settings. */
import {
  resolveOptions,
  type ServiceOptions,
  type Settings,
} from '../../middleware/options/options.ts';
import { CLIENT_LIMITS, SERVICE_OPTIONS } from '../../middleware/options/optionTable.ts';
import type { OptionTable } from '../../shared/optionRows.ts';
import { UsageError } from '../lib/command.ts';
import type { Config } from '../lib/config.ts';
import { type ServeSetting, SHARED } from '../lib/settings.ts';

/** The options of `falconService`: only those that were set, since it has its own defaults. */
export function serviceOptions(config: Config<ServeSetting>): ServiceOptions {
  const { database, blobs, signingKeyFile } = config.values;
  const options: ServiceOptions = {
    ...given(SERVICE_OPTIONS, config),
    limits: given(CLIENT_LIMITS, config),
  };
  if (database === undefined) return options;
  if (blobs === undefined) throw new UsageError(NO_BLOBS);
  if (signingKeyFile !== undefined) return options;
  if (options.signing) throw new UsageError(NO_KEYS);
  return { ...options, signing: false };
}

const NO_BLOBS =
  '"database" needs "blobs" (s3://bucket/prefix): files in a directory of this host would be ' +
  'unknown to the others';
const NO_KEYS =
  '"signing" with "database" needs "signingKeyFile", the same on all hosts: each host would sign ' +
  'with a key of its own';

export function workerOptions(config: Config<WorkerSetting>): ServiceOptions {
  if (config.values.database === undefined) {
    throw new UsageError('a worker needs a database: --database, FALCONRY_DATABASE or its file');
  }
  if (config.values.blobs === undefined) {
    throw new UsageError('a worker needs a bucket: --blobs s3://bucket/prefix, FALCONRY_BLOBS');
  }
  return { ...given(SERVICE_OPTIONS, config), signing: false, ui: false, housekeeping: false };
}

export const WORKER_SETTINGS = [
  ...SHARED,
  'threads',
  'tasks',
  'lease',
  'aggregateFormat',
  'maxSignatures',
  'maxDigest',
  'maxBody',
  'grace',
  'log',
  'logLevel',
  'metricsPort',
  'metricsHost',
] as const satisfies readonly ServeSetting[];
export type WorkerSetting = (typeof WORKER_SETTINGS)[number];

/** Most connections of one address, unless all come from a proxy. */
const MAX_PER_ADDRESS = 256;
const MAX_REQUEST_MS = 86_400_000;

/** The limits of the server, as far as they follow from those of the service. */
export function serverLimits(values: Config<ServeSetting>['values'], settings: Settings) {
  const { maxConnections } = values;
  const { trustProxy, maxBodyBytes, minBodyBytesPerSecond, bodyIdleTimeoutMs } = settings;
  const fair = trustProxy ? maxConnections : Math.min(MAX_PER_ADDRESS, maxConnections);
  // The slowest sender that is not disconnected needs no longer for the largest body.
  const slowestMs = bodyIdleTimeoutMs + (1000 * maxBodyBytes) / minBodyBytesPerSecond;
  const requestTimeoutMs = Math.min(MAX_REQUEST_MS, Math.ceil(2 * slowestMs));
  return { maxConnections, maxConnectionsPerAddress: fair, requestTimeoutMs };
}

/** The options of a table that were set. */
function given<N extends ServeSetting>(table: OptionTable, { origins, values }: Config<N>) {
  const options: Record<string, unknown> = {};
  for (const [option, { setting = option }] of Object.entries(table)) {
    const { source = 'default' } = origins[setting as N] ?? {};
    if (source !== 'default') options[option] = values[setting as N];
  }
  return options;
}

/** The options with their defaults. @throws UsageError for settings that do not go together */
export function resolveService(options: ServiceOptions): Settings {
  try {
    return resolveOptions(options);
  } catch (error) {
    const table: OptionTable = { ...SERVICE_OPTIONS, ...CLIENT_LIMITS };
    // Replaces names of options by those of settings: `"options.leaseMs"` by `"lease"`.
    const message = (error as Error).message.replaceAll(
      /"options\.(?:(?:limits|ui)\.)?(\w+)"/g,
      (_, option: string) => `"${table[option]?.setting ?? option}"`,
    );
    throw new UsageError(message);
  }
}
