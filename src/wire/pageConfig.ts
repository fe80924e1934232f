/**
 * The configuration that the service embeds in the page's HTML. Contains no secrets: the page is
 * public.
 */
export interface PageConfig {
  /** The service's segment in its paths. */
  readonly serviceName: string;
  /** True if the signing endpoint is enabled. */
  readonly signing: boolean;
  /** True if the host identifies callers itself, perhaps by a session. */
  readonly ownLogin: boolean;
  readonly maxSignatures: number;
  readonly maxDigestBytes: number;
  /** Maximum size of a task file, in bytes. */
  readonly maxBodyBytes: number;
  /** True if upload and result URLs point to the service itself, at the address of the page. */
  readonly servedUrls: boolean;
  /** Path of the worker's script, relative to the page. */
  readonly worker: string;
}

/** Name of the `meta` element that holds the configuration as JSON. */
export const CONFIG_META = 'falconry-config';

const LOOPBACK = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/;

const FRAGMENT = '#key=';

/**
 * Returns a link that opens a service's page with an API key. The key is in the fragment, which
 * browsers never send. Returns null for a service that other machines can reach, where such a link
 * could pass somebody else's key.
 *
 * @param base address of the service, without `/v1`
 */
export function keyLink(base: string, key: string): string | null {
  const isLocal = LOOPBACK.test(new URL(base).hostname);
  return isLocal ? `${base}/v1/ui${FRAGMENT}${encodeURIComponent(key)}` : null;
}

/** Returns the API key in an address of the page; null without one, or for another machine. */
export function keyOfLink({ hostname, hash }: Pick<URL, 'hostname' | 'hash'>): string | null {
  if (!LOOPBACK.test(hostname) || !holdsKey(hash)) return null;
  try {
    return decodeURIComponent(hash.slice(FRAGMENT.length)) || null;
  } catch {
    return null;
  }
}

/** Returns whether a fragment has the form of a key fragment, on any host. */
export const holdsKey = (hash: string): boolean => hash.startsWith(FRAGMENT);
