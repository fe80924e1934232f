/**
 * Shared by the views: the configuration, the client, the worker, the API key, the current task.
 */
import { type Client, createClient } from '../../../client/index.ts';
import { CONFIG_META, type PageConfig } from '../../../wire/pageConfig.ts';
import { Session } from './session.ts';
import type { BatchSummary, Limits } from './worker/protocol.ts';
import { WorkerClient } from './workerClient.ts';

/** A view: made once, shown and hidden according to the address. */
export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  /** Called when the view is shown; `rest` follows its name in the address. */
  enter?(rest: string): void;
  leave?(): void;
}

/** The task that is being put together. */
export class Draft {
  readonly #listeners = new Set<() => void>();
  #summary: BatchSummary | null = null;

  get summary(): BatchSummary | null {
    return this.#summary;
  }

  set(summary: BatchSummary | null): void {
    this.#summary = summary;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }
}

/** The state of the page. */
export class App {
  readonly config: PageConfig = readConfig();
  /** Address of the service that served this page, without `/v1` and without a slash at its end. */
  readonly base: string = new URL('../', document.baseURI).href.replace(/\/$/, '');
  readonly session = new Session(this.base);
  readonly worker = new WorkerClient(new URL(this.config.worker, document.baseURI).href);
  readonly draft = new Draft();
  /** The batches that were submitted from here, by task, to verify results against. */
  readonly submitted = new Map<string, BatchSummary>();
  readonly client: Client = this.#clientOf(() => this.session.key ?? '');

  get limits(): Limits {
    return {
      maxSignatures: this.config.maxSignatures,
      maxMessageBytes: this.config.maxDigestBytes,
      maxFileBytes: this.config.maxBodyBytes,
    };
  }

  #clientOf(apiKey: string | (() => string)): Client {
    const { serviceName } = this.config;
    return createClient({ baseUrl: this.base, serviceName, apiKey, retries: { times: 2 } });
  }

  /** Checks a key with the service. @throws ClientError if it is not accepted, or on failure */
  async tryKey(key: string): Promise<void> {
    await this.#clientOf(key).page({ limit: 1 });
  }

  go(route: string): void {
    location.hash = route;
  }

  /**
   * A signed url at the address of this page. The service uses the address that it knows; if it
   * serves the url itself, the address of this page is the same place, and the page may call it.
   */
  reachable(url: string): string {
    if (!this.config.servedUrls) return url;
    const { pathname, search } = new URL(url, this.base);
    return this.base + pathname.slice(Math.max(0, pathname.lastIndexOf('/v1/'))) + search;
  }
}

function readConfig(): PageConfig {
  const meta = document.querySelector<HTMLMetaElement>(`meta[name="${CONFIG_META}"]`);
  return JSON.parse(meta?.content ?? '{}') as PageConfig;
}
