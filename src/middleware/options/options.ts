/**
 * The options of the service and their defaults. They are checked when the service is created: an
 * unknown name, a wrong type or a value out of range throws a TypeError or RangeError.
 */
import type { AggregateFormatOption } from '../../aggregate/index.ts';
import type { ParameterSet } from '../../falcon/index.ts';
import { readOptions } from '../../shared/optionRows.ts';
import type { BlobStore } from '../blobs/port/blobStore.ts';
import type { Logger, PortCall, ServiceEvent } from '../events.ts';
import type { TracingApi } from '../http/tracing.ts';
import type { Authenticate } from '../identity/callers.ts';
import type { SigningSalt } from '../signing/keyFile.ts';
import type { Signer } from '../signing/signer.ts';
import type { ServiceStore } from '../stores/port/serviceStore.ts';
import { CLIENT_LIMITS, SERVICE_OPTIONS } from './optionTable.ts';

/** Limits of each client: more than a fair client needs, less than would harm the others. */
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
  /** Requests per second without a valid key or url, per address; default 50. */
  readonly refusedPerSecond?: number;
  /** Such requests at once, after a rest; default 500. */
  readonly refusedBurst?: number;
}

export interface ServiceOptions {
  /** The service's own segment in every path (`/v1/<serviceName>/…`); default `svc`. */
  readonly serviceName?: string;
  /** Directory of the embedded store, files and keys; default `.falconry`. Created at start. */
  readonly dataDirectory?: string;
  /**
   * Start although other users of the machine can read the file of the embedded store, which holds
   * secrets, or replace it; default false. Windows has other permissions: there it is not checked.
   */
  readonly allowSharedDatabase?: boolean;
  /** Address at which clients reach the mount point; default: taken from each request. */
  readonly publicUrl?: string;
  /** Trust `X-Forwarded-Proto`, `-Host` and `-For`. Only safe behind a proxy that sets them. */
  readonly trustProxy?: boolean;
  /**
   * Origins whose pages may call the service from a browser (`https://app.example`), or `*` for
   * all; default: only its own.
   */
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
  /** Tells who is calling; default: looks the API key up in the store. */
  readonly authenticate?: Authenticate;
  /**
   * The headers by which `authenticate` knows a caller. Once an address has used up its share of
   * requests without a valid caller, those are still served whose headers of these names were good
   * recently; whoever shows none of them gets a 429. Default: all headers whose names speak of a
   * credential: `cookie`, and names with `auth`, `token`, `jwt`, `session`, `assertion`, `api-key`
   * or `cert` in them.
   */
  readonly credentialHeaders?: readonly string[];

  /**
   * Offer the signing endpoint, which is for testing. Default: unless NODE_ENV is production, or
   * there is a `store` without a `signingKeyFile` or `signer`: each host would sign with a key of
   * its own.
   */
  readonly signing?: boolean;
  /**
   * Signs instead of a key file: an HSM or a KMS. The service verifies each signature before it
   * responds, and waits 10 s for it.
   */
  readonly signer?: Signer;
  /**
   * The key file of the signing endpoint, made by `falconry keygen`; default: created at start in
   * `keys` in the data directory.
   */
  readonly signingKeyFile?: string;
  /** Parameter set of the signing endpoint; default `falcon512`. */
  readonly signingSet?: ParameterSet;
  /**
   * Salts of signatures by the key file; default `random`. With `derived` ones a message has one
   * signature under a key, and the salt takes no room in an aggregate.
   */
  readonly signingSalt?: SigningSalt;

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
   * Most bytes of request bodies in memory at once, of all clients; default 128 MiB, or twice
   * `maxBodyBytes` if that is more. A client may hold as much as is left free, thus at most half:
   * so at least twice `maxBodyBytes`.
   */
  readonly maxBufferedBytes?: number;
  /** Longest pause of a sender in the middle of a body; default 30 s. */
  readonly bodyIdleTimeoutMs?: number;
  /**
   * Lowest speed of a sender: one that is behind it by `bodyIdleTimeoutMs` is given up. Default
   * 16 KiB a second; 0 for none.
   */
  readonly minBodyBytesPerSecond?: number;
  /** Lifetime of an upload url, and of a task before its notification; default 1 h. */
  readonly uploadUrlTtlMs?: number;
  /** Lifetime of a result url; default 1 h. */
  readonly resultUrlTtlMs?: number;
  /** Time for which finished tasks are kept; null: until they are deleted. Default 30 days. */
  readonly retentionMs?: number | null;
  /**
   * Free space that task files leave on the disk of the data directory, so that the store always
   * has room; results may take half of it. Default 512 MiB, or 5 % of a smaller disk.
   */
  readonly minFreeBytes?: number;
  readonly limits?: PerClientLimits;

  /** Work on tasks in this process; default true. Turn it off if other processes do the work. */
  readonly workers?: boolean;
  /** Worker threads; default: one less than the number of processors, from 1 to 8. */
  readonly threads?: number;
  /**
   * Tasks at a time, 1 to 64; default 2. One computes, with all threads, while the files of the
   * others are fetched.
   */
  readonly parallelTasks?: number;
  /**
   * End tasks, and delete files, whose time is over; default true. Turn it off where other
   * processes on the same store do that.
   */
  readonly housekeeping?: boolean;

  /** Silence after which a worker loses its task to another; default 10 s. */
  readonly leaseMs?: number;

  readonly onEvent?: (event: ServiceEvent) => void;
  /** Hears how long every call of the store and of the blob store took. */
  readonly onPortCall?: (call: PortCall) => void;
  /**
   * The API of OpenTelemetry, for spans of requests, tasks and their phases:
   * `import * as tracing from '@opentelemetry/api'`. Default: no spans.
   */
  readonly tracing?: TracingApi;
  /** Default: no log. Never receives keys, signatures or signed urls. */
  readonly logger?: Logger;
}

type Chosen =
  | 'store'
  | 'blobs'
  | 'signer'
  | 'signingKeyFile'
  | 'authenticate'
  | 'credentialHeaders'
  | 'onPortCall'
  | 'tracing'
  | 'publicUrl'
  | 'cors'
  | 'minFreeBytes';

/** The options with their defaults; ports that the service creates itself stay undefined. */
export type Settings = Readonly<
  Required<Omit<ServiceOptions, Chosen | 'limits'>> & {
    [Name in Chosen]: ServiceOptions[Name] | undefined;
  } & { limits: Required<PerClientLimits> }
>;

/** The file of the embedded store, in the data directory. */
export const STORE_FILE = 'falconry.sqlite';

/** Options of code alone. */
const CODE = [
  'store',
  'blobs',
  'signer',
  'authenticate',
  'credentialHeaders',
  'onEvent',
  'onPortCall',
  'tracing',
  'logger',
  'limits',
] as const satisfies readonly (keyof ServiceOptions)[];

/** The methods that a port must have. */
const METHODS = {
  tasks: [
    'open',
    'put',
    'get',
    'list',
    'usage',
    'claim',
    'finish',
    'secret',
    'clientNamed',
    'ping',
    'close',
  ],
  apiKeys: ['putApiKey', 'findApiKey', 'listApiKeys', 'removeApiKey'],
  quotas: ['quota'],
  secrets: ['secretRing', 'rotateSecret'],
  blobs: ['put', 'get', 'read', 'delete', 'ping', 'clean'],
  signer: ['sign'],
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
  const burst = options.limits?.burst ?? 2 * limits.requestsPerSecond;
  const twoBodies = 2 * values.maxBodyBytes;
  const maxBufferedBytes = options.maxBufferedBytes ?? Math.max(values.maxBufferedBytes, twoBodies);
  const logger = guardedLogger(port(options, 'logger') ?? SILENT);
  const onEvent = hook(options, 'onEvent') ?? nothing;
  const onPortCall = hook(options, 'onPortCall');
  const failed = (name: string) => (error: unknown) =>
    logger.error(`${name} failed`, { error: String(error) });
  const settings: Settings = {
    ...values,
    limits: { ...limits, burst },
    maxBufferedBytes,
    store: serviceStore(options),
    blobs: port(options, 'blobs'),
    signer: port(options, 'signer'),
    signing: values.signing && hasSigner(options),
    authenticate: hook(options, 'authenticate'),
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

/** An option that is an object, with its methods checked. */
function port<Name extends 'blobs' | 'signer' | 'logger'>(
  options: ServiceOptions,
  name: Name,
): ServiceOptions[Name] {
  const value = options[name];
  if (value !== undefined) checkMethods(`options.${name}`, value, METHODS[name]);
  return value;
}

/** The store, with the methods of its ports checked. */
function serviceStore({ store }: ServiceOptions): ServiceStore | undefined {
  if (store === undefined) return store;
  for (const name of ['tasks', 'apiKeys', 'quotas', 'secrets'] as const) {
    const value = (store as ServiceStore | null)?.[name];
    if (value === undefined && name !== 'tasks') continue;
    checkMethods(`options.store.${name}`, value, METHODS[name]);
  }
  return store;
}

function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
  const given = value as Record<string, unknown> | null | undefined;
  const missing = methods.filter((method) => typeof given?.[method] !== 'function');
  if (missing.length === 0) return;
  throw new TypeError(`"${name}" must be an object with ${missing.join(', ')}()`);
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
  for (const name of ['signingKeyFile', 'signingSalt'] as const) {
    if (options[name] === undefined) continue;
    throw new TypeError(`"options.${name}" is for key files and excludes "options.signer"`);
  }
}

/** Names of headers, in small letters. */
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

/** The API of OpenTelemetry, as far as it can be told. */
function tracingApi(api: TracingApi | undefined): TracingApi | undefined {
  if (api === undefined) return api;
  const { trace, context } = (api ?? {}) as Partial<TracingApi>;
  const methods = [trace?.getTracer, trace?.setSpan, context?.active, context?.with];
  if (methods.every((method) => typeof method === 'function')) return api;
  throw new TypeError('"options.tracing" must be the exports of @opentelemetry/api');
}

/** An option that is a function. */
function hook<Name extends 'authenticate' | 'onEvent' | 'onPortCall'>(
  options: ServiceOptions,
  name: Name,
): ServiceOptions[Name] {
  const value = options[name];
  if (value === undefined || typeof value === 'function') return value;
  throw new TypeError(`"options.${name}" must be a function`);
}

/** Calls the hook; whether it throws or rejects, the service goes on. */
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
