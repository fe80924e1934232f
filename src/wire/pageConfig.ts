/**
 * The configuration of the page, which the service puts into its HTML. No secrets: everyone can
 * read the page.
 */
export interface PageConfig {
  /** The service's segment in its paths. */
  readonly serviceName: string;
  /** Whether the signing endpoint is on. */
  readonly signing: boolean;
  readonly maxSignatures: number;
  readonly maxDigestBytes: number;
  /** Largest task file in bytes. */
  readonly maxBodyBytes: number;
  /** Whether upload and result urls lead to the service itself, at the address of the page. */
  readonly servedUrls: boolean;
  /** Path of the worker's script, relative to the page. */
  readonly worker: string;
}

/** Name of the `meta` element that holds the configuration as JSON. */
export const CONFIG_META = 'falconry-config';
