/** What the views share: the service's words about itself, the client, the worker, the key, the batch in work. */
import { type Client, createClient } from '../client/index.ts';
import { CONFIG_META, type PageConfig } from '../wire/pageConfig.ts';
import { Session } from './session.ts';
import type { BatchSummary, Limits } from './worker/protocol.ts';
import { WorkerClient } from './workerClient.ts';

/** One view: made once, shown and hidden as the address says. */
export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  /** Called whenever it comes into sight; `rest` is what follows its name in the address. */
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

/** The one object behind the page. */
export class App {
  readonly config: PageConfig = readConfig();
  /** Address of the service without `/v1` and without a slash at its end, where this page came from. */
  readonly base: string = new URL('../', document.baseURI).href.replace(/\/$/, '');
  readonly session = new Session(this.base);
  readonly worker = new WorkerClient(new URL(this.config.worker, document.baseURI).href);
  readonly draft = new Draft();
  /** Batches that were submitted from here, by task: what their results are verified against. */
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

  /** Asks the service whether it knows a key. @throws ClientError if it does not, or cannot be asked */
  async tryKey(key: string): Promise<void> {
    await this.#clientOf(key).page({ limit: 1 });
  }

  go(route: string): void {
    location.hash = route;
  }

  /**
   * Where a signed url leads from here. The service writes the address that it knows itself by; when it serves the url
   * itself, the address that this page came from is the same place, and the one that the page may speak to.
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
