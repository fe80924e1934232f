/** State shared by the views: configuration, client, worker, API key, current task. */
import { type Client, type ClientOptions, createClient } from '../../../client/index.ts';
import { CodedError } from '../../../shared/errors.ts';
import { PoolThread } from '../../../shared/threads/thread.ts';
import { CONFIG_META, type PageConfig } from '../../../wire/pageConfig.ts';
import { readStored, store, Watched } from './dom.ts';
import type { Calls } from './worker/calls.ts';
import { type BatchSummary, type Limits, type Progress, WORKER_NAME } from './worker/protocol.ts';

/** A view: created once, shown and hidden according to the address. */
export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  /** Called when the view is shown; `rest` follows its name in the address. */
  enter?(rest: string): void;
  leave?(): void;
}

/** The part of trusted types used here; TypeScript and some browsers lack them. */
interface TrustedTypes {
  createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy;
}

interface ScriptPolicy {
  createScriptURL(url: string): string;
}

/** Time limit for loading the worker, which is large. */
const HELLO_MS = 120_000;

export class App {
  readonly config: PageConfig = readConfig();
  /** Address of the service that served this page, without `/v1` and without a trailing slash. */
  readonly base: string = new URL('../', document.baseURI).href.replace(/\/$/, '');
  /** The task being built. */
  readonly draft = new Watched<BatchSummary | null>(null);
  /** Batches submitted from this page by task id, for verifying results. */
  readonly submitted = new Map<string, BatchSummary>();
  /** Services on the same host have separate keys. */
  readonly #place = `falconry key ${this.base}`;
  readonly #key = new Watched(readStored('sessionStorage', this.#place));
  readonly #withKey: Client = this.#clientOf({ apiKey: () => this.key ?? '' });
  readonly #withoutKey: Client = this.#clientOf({});
  readonly #worker = workerModule(new URL(this.config.worker, document.baseURI).href);
  #thread: PoolThread | undefined;

  get client(): Client {
    return this.isLoggedIn ? this.#withoutKey : this.#withKey;
  }

  get key(): string | null {
    return this.#key.value;
  }

  /** Sets the API key. It stays in memory; with `keep`, it also survives reloads of this tab. */
  useKey(key: string | null, keep: boolean): void {
    store('sessionStorage', this.#place, keep ? key : null);
    this.#key.set(key);
  }

  /** Calls `show` now and at every change of the key. */
  followKey(show: () => void): void {
    this.#key.follow(show);
  }

  /** True if the host of the page knows the caller without a key; the key is empty then. */
  get isLoggedIn(): boolean {
    return this.key === '';
  }

  /** Finds out whether the host knows the caller, by a cookie for example. */
  async tryLogin(): Promise<void> {
    if (!this.config.ownLogin || this.key !== null) return;
    const tasks = await this.#withoutKey.page({ limit: 1 }).catch(() => null);
    if (tasks !== null && this.key === null) this.useKey('', false);
  }

  /** Checks a key with the service. @throws ClientError if it is rejected, or on failure */
  async tryKey(key: string): Promise<void> {
    await this.#clientOf({ apiKey: key }).page({ limit: 1 });
  }

  #clientOf(key: Pick<ClientOptions, 'apiKey'>): Client {
    const { serviceName } = this.config;
    return createClient({ baseUrl: this.base, serviceName, ...key, retries: { times: 2 } });
  }

  get limits(): Limits {
    const { maxSignatures, maxDigestBytes, maxBodyBytes } = this.config;
    return { maxSignatures, maxMessageBytes: maxDigestBytes, maxFileBytes: maxBodyBytes };
  }

  /**
   * Calls the worker, which starts with the first call and after a failure. Rejects with a
   * CodedError: `ABORTED` if `signal` is aborted.
   */
  async call<Name extends keyof Calls>(
    name: Name,
    take: Parameters<Calls[Name]>[0],
    options: { signal?: AbortSignal; onProgress?: (progress: Progress) => void } = {},
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    const { signal, onProgress } = options;
    if (signal?.aborted) throw new CodedError('ABORTED');
    const onLost = () => {
      this.#thread = undefined;
    };
    const start = { name: WORKER_NAME, module: this.#worker, helloMs: HELLO_MS, onLost };
    this.#thread ??= new PoolThread(start);
    const give = await this.#thread.call(
      { work: { name, take } },
      {
        ...(signal && { signal }),
        ...(onProgress && { onNews: (news) => onProgress(news as Progress) }),
      },
    );
    return give as Awaited<ReturnType<Calls[Name]>>;
  }

  go(route: string): void {
    location.hash = route;
  }

  /**
   * Returns a signed url that the page can reach. The service writes its public address into urls;
   * if it serves them itself, the address of this page works as well, and the policy allows it.
   */
  reachable(url: string): string {
    if (!this.config.servedUrls) return url;
    const { pathname, search } = new URL(url, this.base);
    return this.base + pathname.slice(Math.max(0, pathname.lastIndexOf('/v1/'))) + search;
  }
}

/** @param url absolute url of the worker's script, on this origin */
function workerModule(url: string): { locate(): URL; make(): Worker } {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  // The page's policy accepts no other script address.
  const policy = trustedTypes?.createPolicy('falconry', { createScriptURL: () => url });
  const trusted = policy?.createScriptURL(url) ?? url;
  return {
    locate: () => new URL(url),
    make: () => new Worker(trusted, { type: 'module', name: WORKER_NAME }),
  };
}

function readConfig(): PageConfig {
  const meta = document.querySelector<HTMLMetaElement>(`meta[name="${CONFIG_META}"]`);
  return JSON.parse(meta?.content ?? '{}') as PageConfig;
}
