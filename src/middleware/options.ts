/**
 * The options of the service with their defaults, checked once, when the service is constructed: an
 * unknown name, a wrong type or a senseless value is a TypeError or RangeError there and then.
 */
import type { AggregateFormatOption } from '../aggregate/index.ts';
import type { BlobStore } from './blobs/blobStore.ts';
import type { KeyStore } from './keys/keyStore.ts';
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
   * Origins whose pages may call the service from a browser (`https://app.example`), or `*` for all; default:
   * none but its own.
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

/** More do not fit into an aggregate. */
const MAX_SIGNATURES = 8192;
const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const MAX_MS = 2 ** 31 - 1;

const nothing = () => {};
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** What is below `/v1/` beside the service's own name; `v1` itself would hide where the service is mounted. */
const TAKEN_NAMES: ReadonlySet<string> = new Set(['docs', 'openapi.json', 'ui', 'v1']);

const SERVICE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._~-]{0,62}[A-Za-z0-9])?$/;

/**
 * Checks options and fills in defaults.
 *
 * @throws TypeError for an unknown name or wrong type, RangeError for a value that cannot be
 */
export function resolveOptions(options: ServiceOptions = {}): Settings {
  const read = reader('options', options);
  const limits = reader('options.limits', read.object('limits') ?? {});
  const settings: Mutable<Settings> = {
    serviceName: read.text('serviceName', 'svc'),
    dataDirectory: read.text('dataDirectory', '.falconry'),
    publicUrl: checkedUrl(read.optionalText('publicUrl')),
    trustProxy: read.flag('trustProxy', false),
    cors: read.origins('cors'),
    ui: read.flag('ui', true),
    store: read.port('store', ['put', 'get', 'list', 'claim', 'finish', 'secret', 'close']),
    blobs: read.port('blobs', ['put', 'get', 'delete', 'uploadUrl', 'resultUrl', 'checkUrl']),
    keyStore: read.port('keyStore', ['signingKey']),
    authenticate: read.hook('authenticate'),
    signing: read.flag('signing', globalThis.process?.env.NODE_ENV !== 'production'),
    signingKeyPerClient: read.flag('signingKeyPerClient', false),
    aggregateFormat: read.choice('aggregateFormat', 'auto', ['auto', 'proof', 'bundle']),
    maxSignatures: read.integer('maxSignatures', 1722, 1, MAX_SIGNATURES),
    maxDigestBytes: read.integer('maxDigestBytes', 4096, 0, 16 * MIB),
    maxBodyBytes: read.integer('maxBodyBytes', 32 * MIB, 1024, 1024 * MIB),
    maxBufferedBytes: read.integer('maxBufferedBytes', 128 * MIB, 1024, 64 * 1024 * MIB),
    bodyIdleTimeoutMs: read.integer('bodyIdleTimeoutMs', 30_000, 10, MAX_MS),
    uploadUrlTtlMs: read.integer('uploadUrlTtlMs', HOUR_MS, 1, MAX_MS),
    resultUrlTtlMs: read.integer('resultUrlTtlMs', HOUR_MS, 1, MAX_MS),
    retentionMs: read.optionalInteger('retentionMs', 0, Number.MAX_SAFE_INTEGER),
    limits: {
      requestsPerSecond: limits.integer('requestsPerSecond', 500, 1, 1e9),
      burst: limits.integer('burst', 1000, 1, 1e9),
      openTasks: limits.integer('openTasks', 10_000, 0, Number.MAX_SAFE_INTEGER),
      storedBytes: limits.integer('storedBytes', 4096 * MIB, 0, Number.MAX_SAFE_INTEGER),
      eventStreams: limits.integer('eventStreams', 32, 0, 1e6),
      refusedPerSecond: limits.integer('refusedPerSecond', 50, 1, 1e9),
      refusedBurst: limits.integer('refusedBurst', 500, 1, 1e9),
    },
    workers: read.flag('workers', true),
    threads: read.integer('threads', defaultThreads(), 1, 256),
    leaseMs: read.integer('leaseMs', 10_000, 200, 600_000),
    onEvent: nothing,
    logger: guardedLogger(read.port('logger', ['debug', 'info', 'warn', 'error']) ?? SILENT),
  };
  const onEvent = read.hook('onEvent');
  const { logger } = settings;
  if (onEvent) {
    settings.onEvent = guarded(onEvent, (error) =>
      logger.error('onEvent failed', { error: String(error) }),
    );
  }
  read.end();
  limits.end();
  if (!SERVICE_NAME.test(settings.serviceName)) {
    throw new RangeError('"options.serviceName" must be one path segment of letters and digits');
  }
  if (TAKEN_NAMES.has(settings.serviceName)) {
    throw new RangeError(`"options.serviceName" must not be ${settings.serviceName}`);
  }
  if (settings.dataDirectory === '') throw new RangeError('"options.dataDirectory" is empty');
  if (settings.maxBufferedBytes < settings.maxBodyBytes) {
    throw new RangeError('"options.maxBufferedBytes" must be at least maxBodyBytes');
  }
  const keyless = settings.store !== undefined && !('findApiKey' in settings.store);
  if (keyless && settings.authenticate === undefined) {
    throw new TypeError('"options.authenticate" is needed with a store that keeps no API keys');
  }
  return settings;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

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

function defaultThreads(): number {
  const available = globalThis.navigator?.hardwareConcurrency ?? 2;
  return Math.min(8, Math.max(1, available - 1));
}

function checkedUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new RangeError('"options.publicUrl" must be an absolute http or https url, no query');
  }
  return text.replace(/\/+$/, '');
}

/** Takes named values out of an object, with their types checked; `end` refuses what is left. */
function reader<T extends object>(where: string, source: T) {
  if (typeof source !== 'object' || source === null)
    throw new TypeError(`"${where}" must be an object`);
  const left = new Set(Object.keys(source));
  type Name = keyof T & string;
  const take = <N extends Name>(name: N): T[N] => {
    left.delete(name);
    return source[name];
  };
  const wrongType = (name: string, expected: string) =>
    new TypeError(`"${where}.${name}" must be ${expected}`);

  const optionalInteger = (name: Name, min: number, max: number): number | undefined => {
    const value: unknown = take(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(name, 'an integer');
    if (value < min || value > max) {
      throw new RangeError(`"${where}.${name}" must be from ${min} to ${max}, got ${value}`);
    }
    return value;
  };
  const optionalText = (name: Name): string | undefined => {
    const value: unknown = take(name);
    if (value !== undefined && typeof value !== 'string') throw wrongType(name, 'a string');
    return value;
  };
  return {
    optionalInteger,
    optionalText,
    integer: (name: Name, fallback: number, min: number, max: number) =>
      optionalInteger(name, min, max) ?? fallback,
    text: (name: Name, fallback: string) => optionalText(name) ?? fallback,
    flag(name: Name, fallback: boolean): boolean {
      const value: unknown = take(name);
      if (value !== undefined && typeof value !== 'boolean') throw wrongType(name, 'true or false');
      return value ?? fallback;
    },
    choice<C extends string>(name: Name, fallback: C, choices: readonly C[]): C {
      const value = optionalText(name) ?? fallback;
      if (!(choices as readonly string[]).includes(value)) {
        throw new RangeError(`"${where}.${name}" must be one of: ${choices.join(', ')}`);
      }
      return value as C;
    },
    origins(name: Name): '*' | readonly string[] | undefined {
      const value: unknown = take(name);
      if (value === undefined || value === '*') return value;
      if (!Array.isArray(value)) throw wrongType(name, "'*' or an array of origins");
      for (const origin of value) {
        if (typeof origin !== 'string') throw wrongType(name, "'*' or an array of origins");
        if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
          throw new RangeError(`"${where}.${name}" holds "${origin}", which is not an origin`);
        }
      }
      return [...value];
    },
    hook<N extends Name>(name: N): T[N] {
      const value = take(name);
      if (value !== undefined && typeof value !== 'function') throw wrongType(name, 'a function');
      return value;
    },
    object<N extends Name>(name: N): T[N] {
      const value = take(name);
      if (value !== undefined && (typeof value !== 'object' || value === null)) {
        throw wrongType(name, 'an object');
      }
      return value;
    },
    port<N extends Name>(name: N, methods: readonly string[]): T[N] {
      const value = take(name);
      if (value === undefined) return value;
      const missing = methods.filter(
        (method) => typeof (value as Record<string, unknown> | null)?.[method] !== 'function',
      );
      if (missing.length > 0) throw wrongType(name, `an object with ${missing.join(', ')}()`);
      return value;
    },
    end(): void {
      const [unknown] = left;
      if (unknown !== undefined) throw new TypeError(`"${where}.${unknown}" is not an option`);
    },
  };
}
