/** What the service tells the page about itself, in the head of its html; no secrets, the page is open to everyone. */
export interface PageConfig {
  /** The service's segment in its paths. */
  readonly serviceName: string;
  /** Whether the signing endpoint answers. */
  readonly signing: boolean;
  readonly maxSignatures: number;
  readonly maxDigestBytes: number;
  /** Most bytes of a task file. */
  readonly maxBodyBytes: number;
  /** Whether upload and result urls lead to the service itself, below whatever address the page came from. */
  readonly servedUrls: boolean;
  /** Path of the worker's script, relative to the page. */
  readonly worker: string;
}

/** Name of the `meta` element that holds the configuration as JSON. */
export const CONFIG_META = 'falconry-config';
