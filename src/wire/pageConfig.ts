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

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/;

const FRAGMENT = '#key=';

/**
 * A link to the page of a service that opens it with an API key. The key is in the fragment, which
 * browsers never send. Null for a service that other machines can reach: there, a link could give
 * people somebody else's key.
 *
 * @param base address of the service, without `/v1`
 */
export function keyLink(base: string, key: string): string | null {
  const isLocal = LOOPBACK.test(new URL(base).hostname);
  return isLocal ? `${base}/v1/ui${FRAGMENT}${encodeURIComponent(key)}` : null;
}

/** The API key in an address of the page; null if it has none, or is no address of this machine. */
export function keyOfLink({ hostname, hash }: Pick<URL, 'hostname' | 'hash'>): string | null {
  if (!LOOPBACK.test(hostname) || !holdsKey(hash)) return null;
  try {
    return decodeURIComponent(hash.slice(FRAGMENT.length)) || null;
  } catch {
    return null;
  }
}

/** Whether a fragment has the form of a key's, on any host. */
export const holdsKey = (hash: string): boolean => hash.startsWith(FRAGMENT);
