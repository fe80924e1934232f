/**
 * The options of the service with their defaults, checked once, when the service is constructed: an
 * unknown name, a wrong type or a senseless value is a TypeError or RangeError there and then.
 */
import type { AggregateFormatOption } from '../aggregate/index.ts';
import type { BlobStore } from './blobs/blobStore.ts';
import type { KeyStore } from './keys/keyStore.ts';
import { readOptions } from './optionRows.ts';
import { CLIENT_LIMITS, SERVICE_OPTIONS } from './optionTable.ts';
import type { ApiKeyStore, TaskStore } from './stores/taskStore.ts';
import type { Task } from './task.ts';

/** Where the service tells what it does; every method gets a sentence and plain fields. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What `onEvent` is told: a task changed, or a request was answered. */
export type ServiceEvent =
  | { readonly type: 'task'; readonly task: Task }
  | {
      readonly type: 'request';
      readonly method: string;
      readonly path: string;
      readonly status: number;
      readonly durationMs: number;
      readonly clientId?: number;
    };

/** Limits of each client. More is allowed than a fair client needs; less than would hurt others. */
export interface PerClientLimits {
  /** Steady rate of requests; default 500. */
  readonly requestsPerSecond?: number;
  /** Requests that may come at once after a rest; default 1000. */
  readonly burst?: number;
  /** Tasks that are not finished; default 10,000. */
  readonly openTasks?: number;
  /** Bytes of task files and result files; default 4 GiB. */
  readonly storedBytes?: number;
  /** Event streams open at once; default 32. */
  readonly eventStreams?: number;
  /** Requests without a good key or url, from one address; default 50 a second. */
  readonly refusedPerSecond?: number;
  /** Such requests that may come at once after a rest; default 500. */
  readonly refusedBurst?: number;
}

export interface ServiceOptions {
  /** The service's own segment in every path (`/v1/<serviceName>/…`); default `svc`. */
  readonly serviceName?: string;
  /** Where the embedded store, files and keys live; default `.falconry`. Made at start. */
  readonly dataDirectory?: string;
  /** Address under which clients reach the mount point; default: taken from each request. */
  readonly publicUrl?: string;
  /** Believe `X-Forwarded-Proto`, `-Host` and `-For`; only behind a proxy that sets them. */
  readonly trustProxy?: boolean;
  /**
   * Origins whose pages may call the service from a browser (`https://app.example`), or `*` for
   * all; default: none but its own.
   */
  readonly cors?: '*' | readonly string[];
  /** Serve the page at `/v1/ui`; default true. */
  readonly ui?: boolean;

  /** Tasks and API keys; default: SQLite in the data directory. The host closes its own. */
  readonly store?: TaskStore & Partial<ApiKeyStore>;
  /** Task files and results; default: a directory in the data directory. */
  readonly blobs?: BlobStore;
  /** Signing keys; default: files in the data directory. */
  readonly keyStore?: KeyStore;
  /** Says whose API key this is; default: looks it up in the store. */
  readonly authenticate?: (
    key: string,
  ) => { clientId: number } | null | Promise<{ clientId: number } | null>;

  /** Offer the signing endpoint (it is for testing); default: not when NODE_ENV is production. */
  readonly signing?: boolean;
  /** A signing key for each client instead of one for all; default false. */
  readonly signingKeyPerClient?: boolean;

  /**
   * Format of the aggregates; default `auto`: a proof where it is the smaller one, else a bundle. A
   * proof keeps no signatures; with `bundle` every result gives them back.
   */
  readonly aggregateFormat?: AggregateFormatOption;
  /** Most signatures of a batch, up to 8192; default 1722. */
  readonly maxSignatures?: number;
  /** Most bytes of a message, at the signing endpoint and in batches; default 4096. */
  readonly maxDigestBytes?: number;
  /** Most bytes of a task file or batch request; default 32 MiB. */
  readonly maxBodyBytes?: number;
  /** Bytes of request bodies in memory at once, of all clients; default 128 MiB. */
  readonly maxBufferedBytes?: number;
  /** Longest silence of a sender in the middle of a body; default 30 s. */
  readonly bodyIdleTimeoutMs?: number;
  /** Life of an upload url, and of a task that waits for upload and notification; default 1 h. */
  readonly uploadUrlTtlMs?: number;
  /** Life of a result url; default 1 h. */
  readonly resultUrlTtlMs?: number;
  /** How long finished tasks are kept; default: until they are deleted. */
  readonly retentionMs?: number;
  readonly limits?: PerClientLimits;

  /** Work on tasks in this process; default true. Switch off where other processes do. */
  readonly workers?: boolean;
  /** Worker threads; default: one less than the processor has, at least 1, at most 8. */
  readonly threads?: number;

  /** A task is taken over when nothing was heard of its worker for so long; default 10 s. */
  readonly leaseMs?: number;

  readonly onEvent?: (event: ServiceEvent) => void;
  /** Default: silence. Never gets a key, a signature or a signed url. */
  readonly logger?: Logger;
}

type Chosen =
  | 'store'
  | 'blobs'
  | 'keyStore'
  | 'authenticate'
  | 'publicUrl'
  | 'cors'
  | 'retentionMs';

/** Every option with its value; the ports that the service makes itself at start stay absent. */
export type Settings = Readonly<
  Required<Omit<ServiceOptions, Chosen | 'limits'>> & {
    [Name in Chosen]: ServiceOptions[Name] | undefined;
  } & { limits: Required<PerClientLimits> }
>;

/** The embedded store, in the data directory. */
export const STORE_FILE = 'falconry.sqlite';

/** Options that are code, or objects with methods of the host. */
const CODE = [
  'store',
  'blobs',
  'keyStore',
  'authenticate',
  'onEvent',
  'logger',
  'limits',
] as const satisfies readonly (keyof ServiceOptions)[];

/** The methods that tell whether an object is a port. */
const METHODS = {
  store: ['put', 'get', 'list', 'claim', 'finish', 'secret', 'close'],
  blobs: ['put', 'get', 'delete', 'uploadUrl', 'resultUrl', 'checkUrl'],
  keyStore: ['signingKey'],
  logger: ['debug', 'info', 'warn', 'error'],
} as const;

const nothing = () => {};
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * Checks options and fills in defaults.
 *
 * @throws TypeError for an unknown name or a wrong type, RangeError for a value out of range
 */
export function resolveOptions(options: ServiceOptions = {}): Settings {
  const values = readOptions('options', SERVICE_OPTIONS, options, CODE);
  const limits = readOptions('options.limits', CLIENT_LIMITS, options.limits ?? {});
  const logger = guardedLogger(port(options, 'logger') ?? SILENT);
  const onEvent = hook(options, 'onEvent') ?? nothing;
  const settings: Settings = {
    ...values,
    limits,
    store: port(options, 'store'),
    blobs: port(options, 'blobs'),
    keyStore: port(options, 'keyStore'),
    authenticate: hook(options, 'authenticate'),
    onEvent: guarded(onEvent, (error) => logger.error('onEvent failed', { error: String(error) })),
    logger,
  };
  if (settings.maxBufferedBytes < settings.maxBodyBytes) {
    throw new RangeError(
      '"options.maxBufferedBytes" must not be smaller than "options.maxBodyBytes"',
    );
  }
  const keyless = settings.store !== undefined && !('findApiKey' in settings.store);
  if (keyless && settings.authenticate === undefined) {
    throw new TypeError(
      '"options.authenticate" is needed, since "options.store" keeps no API keys',
    );
  }
  return settings;
}

/** An object of the host's, with the methods that it must have. */
function port<Name extends keyof typeof METHODS>(
  options: ServiceOptions,
  name: Name,
): ServiceOptions[Name] {
  const value = options[name];
  if (value === undefined) return value;
  const given = value as unknown as Record<string, unknown> | null;
  const missing = METHODS[name].filter((method) => typeof given?.[method] !== 'function');
  if (missing.length === 0) return value;
  throw new TypeError(`"options.${name}" must be an object with ${missing.join(', ')}()`);
}

/** A function of the host's. */
function hook<Name extends 'authenticate' | 'onEvent'>(
  options: ServiceOptions,
  name: Name,
): ServiceOptions[Name] {
  const value = options[name];
  if (value === undefined || typeof value === 'function') return value;
  throw new TypeError(`"options.${name}" must be a function`);
}

/** The host's hooks hear of everything and stop nothing, whether they throw or reject. */
function guarded<Args extends unknown[]>(
  hook: (...args: Args) => unknown,
  onFault: (error: unknown) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      const result = hook(...args);
      if (result instanceof Promise) result.catch(onFault);
    } catch (error) {
      onFault(error);
    }
  };
}

/** A logger that fails has nowhere to say so. */
function guardedLogger(logger: Logger): Logger {
  const method = (name: keyof Logger): Logger['info'] =>
    guarded((message, fields) => logger[name](message, fields), nothing);
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  };
}
