/**
 * The options of the service and their defaults. They are checked when the service is created: an
 * unknown name, a wrong type or a value out of range throws a TypeError or RangeError.
 */
import type { AggregateFormatOption } from '../../aggregate/index.ts';
import type { ParameterSet } from '../../falcon/index.ts';
import { type RowValues, readOptions } from '../../shared/optionRows.ts';
import type { BlobStore } from '../blobs/port/blobStore.ts';
import type { Logger, PortCall, ServiceEvent } from '../events.ts';
import type { TracingApi } from '../http/tracing.ts';
import type { Authenticate } from '../identity/callers.ts';
import type { Arithmetic, SigningSalt } from '../signing/keyFile.ts';
import type { Signer } from '../signing/signer.ts';
import type { ServiceStore } from '../stores/port/serviceStore.ts';
import { CLIENT_LIMITS, SERVICE_OPTIONS } from './optionTable.ts';

/** Limits of each client, and of each address. */
export interface PerClientLimits {
  /** Sustained requests per second; default 500. */
  readonly requestsPerSecond?: number;
  /** Requests in a burst; default: twice `requestsPerSecond`. */
  readonly burst?: number;
  /** Unfinished tasks; default 10,000. */
  readonly openTasks?: number;
  /** Total size of task files and result files; default 4 GiB. */
  readonly storedBytes?: number;
  /** Uploads at once; default 8. */
  readonly parallelUploads?: number;
  /** Open event streams; default 32. */
  readonly eventStreams?: number;
  /** Sustained requests per second without a valid key or URL, per address; default 50. */
  readonly refusedPerSecond?: number;
  /** Such requests in a burst; default 500. */
  readonly refusedBurst?: number;
}

export interface ServiceOptions {
  /** The service's own segment in every path (`/v1/<serviceName>/…`); default `svc`. */
  readonly serviceName?: string;
  /** Directory of the embedded store, files and keys; default `.falconry`. Created at start. */
  readonly dataDirectory?: string;
  /**
   * Start even if other users of the machine can read or replace the file of the embedded store,
   * which holds secrets; default false. Not checked on Windows.
   */
  readonly allowSharedDatabase?: boolean;
  /** Address at which clients reach the mount point; default: taken from each request. */
  readonly publicUrl?: string;
  /**
   * Trust `X-Forwarded-Proto`, `-Host` and `-For` of one proxy (`true`), of a number of them in a
   * row, or of those in networks (`['10.0.0.0/8']`). Only safe behind proxies that set them.
   */
  readonly trustProxy?: boolean | number | readonly string[];
  /** Origins whose pages may call the service (`https://app.example`), or `*`; default: its own. */
  readonly cors?: '*' | readonly string[];
  /** Serve the page at `/v1/ui`; default true. */
  readonly ui?: boolean;

  /**
   * Stores tasks, API keys, quotas and secrets; default: SQLite in the data directory. Only the
   * port for tasks is needed. The host closes its own store.
   */
  readonly store?: ServiceStore;
  /** Stores task files and results; default: a directory in the data directory. */
  readonly blobs?: BlobStore;
  /** Identifies the caller; default: looks up the API key in the store. */
  readonly authenticate?: Authenticate;
  /**
   * The headers by which `authenticate` identifies a caller. When an address has made too many
   * requests without a valid caller, only those whose headers were valid recently are served;
   * others get a 429. Default: `cookie`, and all names that contain `auth`, `token`, `jwt`,
   * `session`, `assertion`, `api-key` or `cert`.
   */
  readonly credentialHeaders?: readonly string[];

  /**
   * Offer the signing endpoint, which is for testing. Default: false if NODE_ENV is production, or
   * if a `store` is given without `signingKeyFile` or `signer`, since each host would make a key.
   */
  readonly signing?: boolean;
  /** An HSM or KMS instead of a key file. The service waits 10 s, and verifies each signature. */
  readonly signer?: Signer;
  /** Made by `falconry keygen`; default: created at start in `keys` in the data directory. */
  readonly signingKeyFile?: string;
  /** Parameter set of the signing endpoint; default `falcon512`. */
  readonly signingSet?: ParameterSet;
  /**
   * Salts of signatures by the key file; default `random`. With `derived`, a message has only one
   * signature under a key, and its salt takes no space in an aggregate.
   */
  readonly signingSalt?: SigningSalt;
  /**
   * Arithmetic of the key file's signatures; default `float`. With `integer`, signing uses no
   * floating point: the same bytes, in about six times the time (`falconry/integer`).
   */
  readonly arithmetic?: Arithmetic;

  /**
   * Format of the aggregates; default `auto`: the smaller of a proof and a bundle. Signatures can
   * be extracted from a bundle, but not from a proof.
   */
  readonly aggregateFormat?: AggregateFormatOption;
  /** Most signatures in a batch, up to 8192; default 1722. */
  readonly maxSignatures?: number;
  /** Largest message in bytes, at the signing endpoint and in batches; default 4096. */
  readonly maxDigestBytes?: number;
  /** Largest task file or batch request in bytes; default 32 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * Memory for the request bodies of all clients; default 128 MiB, or twice `maxBodyBytes` if that
   * is more. At least twice `maxBodyBytes`, since a client may use at most half of it.
   */
  readonly maxBufferedBytes?: number;
  /** Abort an upload after this long without data; default 30 s. */
  readonly bodyIdleTimeoutMs?: number;
  /**
   * Abort an upload that is `bodyIdleTimeoutMs` behind this speed; default 16 KiB per second, 0 for
   * no limit.
   */
  readonly minBodyBytesPerSecond?: number;
  /** Lifetime of an upload URL, and of a task before its notification; default 1 h. */
  readonly uploadUrlTtlMs?: number;
  /** Lifetime of a result URL; default 1 h. */
  readonly resultUrlTtlMs?: number;
  /** Time for which finished tasks are kept; null: until they are deleted. Default 30 days. */
  readonly retentionMs?: number | null;
  /**
   * Free space on the disk of the data directory below which task files are refused; results may
   * use half of it. Default 512 MiB, or 5 % of a smaller disk.
   */
  readonly minFreeBytes?: number;
  readonly limits?: PerClientLimits;

  /** Work on tasks in this process; default true. Turn it off if other processes do so. */
  readonly workers?: boolean;
  /** Worker threads; default: one less than the number of processors, from 1 to 8. */
  readonly threads?: number;
  /** Tasks at a time, 1 to 64; default 2. One uses all threads; files of others are fetched. */
  readonly parallelTasks?: number;
  /** Remove expired tasks and files; default true. Turn it off if other processes do so. */
  readonly housekeeping?: boolean;
  /** A worker that is silent for this long loses its task to another; default 10 s. */
  readonly leaseMs?: number;

  readonly onEvent?: (event: ServiceEvent) => void;
  /** Receives the duration of every call of the store and of the blob store. */
  readonly onPortCall?: (call: PortCall) => void;
  /**
   * The API of OpenTelemetry, for spans of requests, tasks and their phases:
   * `import * as tracing from '@opentelemetry/api'`. Default: no spans.
   */
  readonly tracing?: TracingApi;
  /** Default: no log. Never receives keys, signatures or signed URLs. */
  readonly logger?: Logger;
}

/** Hooks: options that are functions. */
const HOOKS = ['authenticate', 'onEvent', 'onPortCall'] as const;
/** Options that exist in code only. */
const CODE = [
  ...HOOKS,
  ...(['store', 'blobs', 'signer', 'logger', 'tracing', 'credentialHeaders', 'limits'] as const),
] as const satisfies readonly (keyof ServiceOptions)[];

type Always = 'onEvent' | 'logger';
type Optional = Exclude<(typeof CODE)[number], Always | 'limits'>;

/** The options with their defaults; ports that the service creates itself stay undefined. */
export type Settings = Readonly<
  RowValues<typeof SERVICE_OPTIONS> &
    Required<Pick<ServiceOptions, Always>> & {
      [Name in Optional]: ServiceOptions[Name] | undefined;
    } & { limits: Required<PerClientLimits> }
>;

/** The file of the embedded store, in the data directory. */
export const STORE_FILE = 'falconry.sqlite';

/** The methods of each port. The store needs only `tasks`. */
const METHODS = {
  'store.tasks': 'open put get list usage claim finish secret clientNamed ping close',
  'store.apiKeys': 'putApiKey findApiKey listApiKeys removeApiKey',
  'store.quotas': 'quota',
  blobs: 'put get read delete ping clean',
  signer: 'sign',
  logger: 'debug info warn error',
} as const;

const nothing = () => {};
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * Checks options and fills in defaults.
 *
 * @throws TypeError for an unknown name or a wrong type, RangeError for a value out of range
 */
export function resolveOptions(given: ServiceOptions = {}): Settings {
  const values = readOptions('options', SERVICE_OPTIONS, given, CODE);
  // Without a prototype: see `readOptions` of shared/arguments.ts.
  const options: ServiceOptions = Object.assign(Object.create(null), given);
  checkPorts(options);
  const limits = readOptions(
    'options.limits',
    CLIENT_LIMITS,
    options.limits === undefined ? {} : options.limits,
  );
  const { burst = 2 * limits.requestsPerSecond } = limits;
  const twoBodies = 2 * values.maxBodyBytes;
  const maxBufferedBytes = options.maxBufferedBytes ?? Math.max(values.maxBufferedBytes, twoBodies);
  const { store, blobs, signer, authenticate, onEvent = nothing, onPortCall } = options;
  const logger = guardedLogger(options.logger ?? SILENT);
  const failed = (name: string) => (error: unknown) =>
    logger.error(`${name} failed`, { error: String(error) });
  const settings: Settings = {
    ...values,
    limits: { ...limits, burst },
    maxBufferedBytes,
    store,
    blobs,
    signer,
    signing: values.signing && hasSigner(options),
    authenticate,
    credentialHeaders: credentialHeaders(options),
    onEvent: guarded(onEvent, failed('onEvent')),
    onPortCall: onPortCall && guarded(onPortCall, failed('onPortCall')),
    tracing: tracingApi(options.tracing),
    logger,
  };
  if (maxBufferedBytes < twoBodies) {
    throw new RangeError(
      '"options.maxBufferedBytes" must be at least twice "options.maxBodyBytes"',
    );
  }
  checkSigning(options, settings);
  if (settings.store && !settings.store.apiKeys && settings.authenticate === undefined) {
    throw new TypeError(
      '"options.authenticate" is needed, since "options.store" keeps no API keys',
    );
  }
  return settings;
}

/** @throws TypeError for a hook that is not a function, or a port that lacks a method */
function checkPorts(options: ServiceOptions): void {
  for (const hook of HOOKS) {
    if (options[hook] === undefined || typeof options[hook] === 'function') continue;
    throw new TypeError(`"options.${hook}" must be a function`);
  }
  for (const [name, methods] of Object.entries(METHODS)) {
    const [option, part] = name.split('.') as ['store', string?];
    const port = options[option] as unknown as Readonly<Record<string, unknown>> | null | undefined;
    const value = part === undefined ? port : port?.[part];
    const isOptional = part !== 'tasks' || port === undefined;
    if (value === undefined && isOptional) continue;
    const given = value as Readonly<Record<string, unknown>> | null | undefined;
    const missing = methods.split(' ').filter((method) => typeof given?.[method] !== 'function');
    if (missing.length === 0) continue;
    throw new TypeError(`"options.${name}" must be an object with ${missing.join(', ')}()`);
  }
}

/** Several hosts may share a `store`, and would each make a key. */
const hasSigner = ({ store, signer, signingKeyFile }: ServiceOptions) =>
  store === undefined || signer !== undefined || signingKeyFile !== undefined;

/** @throws TypeError for options of the signing endpoint that do not go together */
function checkSigning(options: ServiceOptions, settings: Settings): void {
  const { signer } = settings;
  if (options.signing && !settings.signing) {
    const needed = '"options.signingKeyFile" or "options.signer"';
    throw new TypeError(`"options.signing" with "options.store" needs ${needed}`);
  }
  if (signer === undefined) return;
  for (const name of ['signingKeyFile', 'signingSalt', 'arithmetic'] as const) {
    if (options[name] === undefined) continue;
    throw new TypeError(`"options.${name}" is for key files and excludes "options.signer"`);
  }
}

/** The names of the headers in lower case. */
function credentialHeaders(options: ServiceOptions): readonly string[] | undefined {
  const { credentialHeaders: names, authenticate } = options;
  if (names === undefined) return undefined;
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    throw new TypeError('"options.credentialHeaders" must be a list of names');
  }
  if (authenticate === undefined) {
    throw new TypeError('"options.credentialHeaders" is of use with "options.authenticate" only');
  }
  if (names.length === 0 || !names.every((name) => HEADER_NAME.test(name))) {
    throw new RangeError('"options.credentialHeaders" must name one header or more');
  }
  return names.map((name) => name.toLowerCase());
}

/** RFC 9110, 5.1. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Checks the parts of the API of OpenTelemetry that the service uses. */
function tracingApi(api: TracingApi | undefined): TracingApi | undefined {
  if (api === undefined) return api;
  const { trace, context } = (api ?? {}) as Partial<TracingApi>;
  const methods = [trace?.getTracer, trace?.setSpan, context?.active, context?.with];
  if (methods.every((method) => typeof method === 'function')) return api;
  throw new TypeError('"options.tracing" must be the exports of @opentelemetry/api');
}

/** A hook that may throw or reject without harm to the service. */
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

/** A failure of the logger cannot be logged, so it is ignored. */
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
