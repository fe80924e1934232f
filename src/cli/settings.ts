/**
 * Every setting that can come from an option, the environment or a file. One name, three spellings:
 *
 *   --public-url      FALCONRY_PUBLIC_URL      "publicUrl" in falconry.json
 *
 * The first that is given wins, in that order; then the default. A secret is never given as an option's value, which
 * every process of the machine could read: it has `--<name>-file`, `FALCONRY_<NAME>`, `FALCONRY_<NAME>_FILE`,
 * `"<name>File"`.
 */

export type Kind =
  | 'text'
  | 'url'
  | 'integer'
  | 'flag'
  | 'choice'
  | 'duration'
  | 'bytes'
  | 'path'
  | 'list'
  | 'secret';

/** One setting. `Value` is what it comes to: milliseconds for a duration, bytes for an amount. */
export interface Setting<Value = unknown> {
  readonly kind: Kind;
  /** One or two lines for the help text. */
  readonly about: string;
  /** What stands for the value in the help text: `N`. */
  readonly placeholder?: string;
  readonly fallback?: Value;
  /** How the default is told, where it depends on the machine. */
  readonly fallbackText?: string;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  /** An older or customary name in the environment, after our own. */
  readonly alsoEnv?: string;
  /** The option of `falconService` that it sets, `limits.burst` for one of its limits. */
  readonly service?: string;
}

type Parts = Omit<Setting, 'kind' | 'fallback' | 'choices'>;

/** A setting of this kind, with a default or without one. */
function of<Value>(kind: Kind, placeholder: string) {
  function make(about: string, more: Parts2<Value> & { readonly fallback: Value }): Setting<Value>;
  function make(about: string, more?: Parts2<Value>): Setting<Value | undefined>;
  function make(about: string, more: Parts2<Value> = {}): Setting<Value | undefined> {
    return { kind, placeholder, about, ...more };
  }
  return make;
}
type Parts2<Value> = Partial<Omit<Parts, 'about'>> & { readonly fallback?: Value };

const text = of<string>('text', 'TEXT');
const url = of<string>('url', 'URL');
const path = of<string>('path', 'PATH');
const integer = of<number>('integer', 'N');
const flag = of<boolean>('flag', '');
const duration = of<number>('duration', 'TIME');
const bytes = of<number>('bytes', 'SIZE');
const secret = of<string>('secret', 'SECRET');

const list = of<'*' | readonly string[]>('list', 'A,B');

function choice<const C extends string>(
  about: string,
  choices: readonly C[],
  more: Parts2<C> = {},
): Setting<C | undefined> {
  return {
    kind: 'choice',
    placeholder: 'NAME',
    about: `${about}: ${choices.join(', ')}`,
    choices,
    ...more,
  };
}

const MIB = 1024 * 1024;
const MAX_MS = 2 ** 31 - 1;

/** All settings. Defaults of those with `service` are the service's own, asked when they are needed. */
export const SETTINGS = {
  // The server
  port: integer('port to listen on; 0 takes any free one', {
    min: 0,
    max: 65_535,
    fallback: 8787,
    alsoEnv: 'PORT',
  }),
  host: text('address to listen on; 0.0.0.0 is every one', {
    placeholder: 'ADDRESS',
    fallback: '127.0.0.1',
  }),
  data: path('directory of store, files and keys', {
    placeholder: 'DIRECTORY',
    service: 'dataDirectory',
    fallback: '.falconry',
  }),
  publicUrl: url('address that clients use, when it is not ours', { service: 'publicUrl' }),
  trustProxy: flag('believe X-Forwarded-Proto, -Host and -For', { service: 'trustProxy' }),
  cors: list('origins whose pages may call the service, or *', {
    service: 'cors',
    placeholder: 'ORIGINS',
    fallbackText: 'none',
  }),
  ui: flag('serve the page at /v1/ui', { service: 'ui' }),
  grace: duration('time for running work to end at shutdown', {
    min: 0,
    max: 86_400_000,
    fallback: 10_000,
  }),
  log: choice('the log', ['text', 'json'], {
    fallbackText: 'text on a terminal, else json',
  }),
  logLevel: choice('the least of it', ['debug', 'info', 'warn', 'error', 'silent'], {
    fallback: 'info',
  }),
  firstKey: secret('API key that the first start takes, in place of making one'),

  // The service
  serviceName: text("the service's segment in every path", {
    placeholder: 'NAME',
    service: 'serviceName',
    fallback: 'svc',
  }),
  signing: flag('the signing endpoint, for testing', {
    service: 'signing',
    fallbackText: 'not if NODE_ENV is production',
  }),
  signingKeyPerClient: flag('a signing key for each client, not one for all', {
    service: 'signingKeyPerClient',
  }),
  workers: flag('work on tasks in this process', { service: 'workers' }),
  threads: integer('worker threads', {
    service: 'threads',
    min: 1,
    max: 256,
    fallbackText: 'processors - 1, from 1 to 8',
  }),
  aggregateFormat: choice('aggregates', ['auto', 'proof', 'bundle'], {
    service: 'aggregateFormat',
  }),
  lease: duration('a worker that is silent for so long loses its task', {
    service: 'leaseMs',
    min: 200,
    max: 600_000,
  }),

  // Limits
  maxSignatures: integer('most signatures of a batch', {
    service: 'maxSignatures',
    min: 1,
    max: 8192,
  }),
  maxDigest: bytes('most bytes of a message', {
    service: 'maxDigestBytes',
    min: 0,
    max: 16 * MIB,
  }),
  maxBody: bytes('most bytes of a task file or request', {
    service: 'maxBodyBytes',
    min: 1024,
    max: 1024 * MIB,
  }),
  maxBuffered: bytes('request bodies in memory at once', {
    service: 'maxBufferedBytes',
    min: 1024,
    max: 65_536 * MIB,
  }),
  bodyIdleTimeout: duration('longest silence in the middle of a body', {
    service: 'bodyIdleTimeoutMs',
    min: 10,
    max: MAX_MS,
  }),
  uploadUrlTtl: duration('life of an upload url, and of a task that waits for it', {
    service: 'uploadUrlTtlMs',
    min: 1,
    max: MAX_MS,
  }),
  resultUrlTtl: duration('life of a result url', {
    service: 'resultUrlTtlMs',
    min: 1,
    max: MAX_MS,
  }),
  retention: duration('how long finished tasks are kept', {
    service: 'retentionMs',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    fallbackText: 'until they are deleted',
  }),
  requestsPerSecond: integer("a client's steady rate of requests", {
    service: 'limits.requestsPerSecond',
    min: 1,
    max: 1e9,
  }),
  burst: integer("a client's requests at once after a rest", {
    service: 'limits.burst',
    min: 1,
    max: 1e9,
  }),
  openTasks: integer("a client's unfinished tasks", {
    service: 'limits.openTasks',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  }),
  storedBytes: bytes("a client's task files and results", {
    service: 'limits.storedBytes',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  }),
  eventStreams: integer("a client's open event streams", {
    service: 'limits.eventStreams',
    min: 0,
    max: 1e6,
  }),
  refusedPerSecond: integer('requests without a good key, from one address', {
    service: 'limits.refusedPerSecond',
    min: 1,
    max: 1e9,
  }),
  refusedBurst: integer('such requests at once after a rest', {
    service: 'limits.refusedBurst',
    min: 1,
    max: 1e9,
  }),

  // Clients of a service
  url: url('address of the service', { fallback: 'http://127.0.0.1:8787' }),
  apiKey: secret('the API key'),
  retries: integer('how often a request is tried again', { min: 0, max: 100, fallback: 5 }),
} satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> =
  (typeof SETTINGS)[N] extends Setting<infer Value> ? Value : never;

/** The table without the types of its values. */
export const ALL_SETTINGS: Readonly<Record<string, Setting>> = SETTINGS;

/** `publicUrl` → `public-url`. */
export function optionOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `publicUrl` → `FALCONRY_PUBLIC_URL`. */
export function envOf(name: string): string {
  return `FALCONRY_${optionOf(name).toUpperCase().replaceAll('-', '_')}`;
}
