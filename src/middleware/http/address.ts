/** Addresses: how requests name the service, for urls in answers, and where they come from. */
import type { Context } from 'hono';

/** The settings that decide about addresses. */
export interface AddressSettings {
  readonly serviceName: string;
  /** Address of the mount point, for a service that cannot see it in its requests. */
  readonly publicUrl?: string | undefined;
  /** Whether the `X-Forwarded-…` headers are believed. */
  readonly trustProxy: boolean;
}

/** `https://host/mount/v1/<serviceName>`, without a slash at the end. */
export function serviceBase(c: Context, settings: AddressSettings): string {
  return `${mountAddress(c, settings)}/v1/${settings.serviceName}`;
}

/** `https://host/mount`: the part before `/v1/`. */
export function mountAddress(c: Context, settings: AddressSettings): string {
  if (settings.publicUrl !== undefined) return settings.publicUrl;
  const url = new URL(c.req.url);
  let { protocol, host } = url;
  if (settings.trustProxy) {
    const proto = firstOf(c.req.header('x-forwarded-proto'));
    if (proto === 'http' || proto === 'https') protocol = `${proto}:`;
    const forwarded = firstOf(c.req.header('x-forwarded-host'));
    if (forwarded && URL.canParse(`http://${forwarded}`)) {
      host = new URL(`http://${forwarded}`).host;
    }
  }
  // Our own paths have `/v1/` once, at the front; the part before it is the mount path. A host may
  // have removed it from the URL, as Hono's `mount` does.
  const below = url.pathname.slice(Math.max(0, url.pathname.lastIndexOf('/v1/')));
  const paths = targetsOf(c.req, c.env).map(pathOf);
  const whole = paths.find((path) => path.endsWith(below)) ?? url.pathname;
  return `${protocol}//${host}${whole.slice(0, whole.length - below.length)}`;
}

/** The path of a request target. */
export const pathOf = (target: string): string => target.split('?', 1)[0]!;

/** The target of a request: as it arrived, as the host left it (if it tells), and as we see it. */
function targetsOf({ url }: { readonly url: string }, env: unknown): string[] {
  const { originalUrl, url: left } = (env as HostEnv | undefined)?.incoming ?? {};
  const seen = url.slice(url.indexOf('/', url.indexOf('//') + 2));
  return [originalUrl, left, seen].filter((target) => target !== undefined);
}

/**
 * Returns whether a request target is a path in its only usual spelling. URL parsers and routers
 * would change others (`/x/../ui`, `/u%69`, `\\ui`, `/ui#x`) into paths that the rules of hosts and
 * proxies, which compare texts, did not see. Clients send no such paths.
 */
export const isPlainTarget = (target: string): boolean =>
  target.startsWith('/') && !target.includes('#') && !UNUSUAL.test(pathOf(target));

/** The same for everything that is known of a request. */
export const isPlainRequest = (request: { readonly url: string }, env: unknown): boolean =>
  targetsOf(request, env).every(isPlainTarget);

/**
 * Backslashes and control characters, empty and dot segments, escapes that are broken or needless:
 * of letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
 */
const UNUSUAL =
  /[^!-[\]-~\u0080-\uffff]|\/\/|\/\.\.?(?:\/|$)|%(?:2[de]|3\d|[46][1-9a-f]|5[\daf]|7[\dae]|(?![\da-f]{2}))/i;

const firstOf = (list: string | undefined) => list?.split(',')[0]?.trim();

/** The end of a lifetime that starts now, rounded up to a second, as in urls and answers. */
export function endOf(ttlMs: number): number {
  return Math.ceil((Date.now() + ttlMs) / 1000) * 1000;
}

/** The parts of what servers pass to Hono apps that tell addresses. */
interface HostEnv {
  /** `@hono/node-server`; frameworks add the original url. */
  readonly incoming?: {
    readonly socket?: { readonly remoteAddress?: string };
    readonly url?: string;
    readonly originalUrl?: string;
  };
  /** Deno.serve */
  readonly remoteAddr?: { readonly hostname?: string };
  /** Bun.serve passes the server, itself or as a member. */
  readonly server?: HostEnv;
  requestIP?(request: Request): { readonly address: string } | null;
}

/** The address of the caller; undefined if the host does not tell. */
export function callerAddress(c: Context, { trustProxy }: AddressSettings): string | undefined {
  const forwarded = trustProxy && c.req.header('x-forwarded-for')?.split(',').at(-1)?.trim();
  const address = forwarded || hostAddress(c.env as HostEnv | undefined, c.req.raw);
  return address?.slice(0, 64) || undefined;
}

/** The same; of an IPv6 address, the network of 64 bits. `unknown` if the host does not tell. */
export function remoteAddress(c: Context, settings: AddressSettings): string {
  const address = callerAddress(c, settings);
  return address === undefined ? 'unknown' : addressGroup(address);
}

/** The address; of an IPv6 address the network of 64 bits, which one caller may have alone. */
export function addressGroup(address: string): string {
  return address.includes(':') && !address.includes('.')
    ? network64(address)
    : address.slice(0, 64);
}

/** The first four of the eight groups of an IPv6 address, with `::` written out. */
function network64(address: string): string {
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':').length : 0;
  // Without `::` all eight groups are present.
  if (tail !== undefined) while (groups.length + after < 8) groups.push('0');
  return groups.slice(0, 4).join(':').toLowerCase();
}

function hostAddress(env: HostEnv | undefined, request: Request): string | undefined {
  const bun = env?.server ?? env;
  return (
    env?.incoming?.socket?.remoteAddress ??
    env?.remoteAddr?.hostname ??
    (typeof bun?.requestIP === 'function' ? bun.requestIP(request)?.address : undefined)
  );
}
