/**
 * Shared by the views: the configuration, the client, the worker, the API key, the current task.
 */
import { type Client, createClient } from '../../../client/index.ts';
import { CONFIG_META, type PageConfig } from '../../../wire/pageConfig.ts';
import { Watched } from './dom.ts';
import type { BatchSummary, FileReading, Limits, ResultSummary } from './worker/protocol.ts';
import { WorkerClient } from './workerClient.ts';

/** A view: made once, shown and hidden according to the address. */
export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  /** Called when the view is shown; `rest` follows its name in the address. */
  enter?(rest: string): void;
  leave?(): void;
}

/** The state of the page. */
export class App {
  readonly config: PageConfig = readConfig();
  /** Address of the service that served this page, without `/v1` and without a slash at its end. */
  readonly base: string = new URL('../', document.baseURI).href.replace(/\/$/, '');
  readonly worker = new WorkerClient(new URL(this.config.worker, document.baseURI).href);
  /** The task that is being put together. */
  readonly draft = new Watched<BatchSummary | null>(null);
  /** The batches that were submitted from here, by task, to verify results against. */
  readonly submitted = new Map<string, BatchSummary>();
  /** Services on one host do not share keys. */
  readonly #place = `falconry key ${this.base}`;
  readonly #key = new Watched(readStored(this.#place));
  readonly client: Client = this.#clientOf(() => this.key ?? '');

  /** The API key in use. */
  get key(): string | null {
    return this.#key.value;
  }

  /** Uses a key, which is in memory only; with `keep`, it survives reloads of this tab. */
  useKey(key: string | null, keep: boolean): void {
    store(this.#place, keep ? key : null);
    this.#key.set(key);
  }

  /** Shows the state of the key now, and again at every change. */
  followKey(show: () => void): void {
    this.#key.follow(show);
  }

  /** Checks a key with the service. @throws ClientError if it is not accepted, or on failure */
  async tryKey(key: string): Promise<void> {
    await this.#clientOf(key).page({ limit: 1 });
  }

  #clientOf(apiKey: string | (() => string)): Client {
    const { serviceName } = this.config;
    return createClient({ baseUrl: this.base, serviceName, apiKey, retries: { times: 2 } });
  }

  get limits(): Limits {
    const { maxSignatures, maxDigestBytes, maxBodyBytes } = this.config;
    return { maxSignatures, maxMessageBytes: maxDigestBytes, maxFileBytes: maxBodyBytes };
  }

  /** Reads a task file in the worker. */
  async readFile(file: File, kind: BatchSummary['kind']): Promise<FileReading> {
    const { limits, worker } = this;
    const { name, size } = file;
    // The worker refuses a larger file, which is not read.
    const bytes = size > limits.maxFileBytes ? new ArrayBuffer(0) : await file.arrayBuffer();
    return worker.call('readFile', { bytes, size, name, kind, limits });
  }

  /** Reads a result file in the worker; rejected with its fault if it is not one. */
  async readResult(file: Blob): Promise<ResultSummary> {
    return this.worker.call('readResult', { bytes: await file.arrayBuffer() });
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

// If the browser forbids storage, nothing is kept.

function readStored(place: string): string | null {
  try {
    return sessionStorage.getItem(place);
  } catch {
    return null;
  }
}

/** Null removes it. */
function store(place: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, text);
  } catch {}
}
