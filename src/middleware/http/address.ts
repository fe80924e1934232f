/** The absolute address at which the caller reached the service, for urls in answers. */
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
  // Our own paths have `/v1/` once, at the front; the part before it is the mount path.
  const mount = url.pathname.slice(0, Math.max(0, url.pathname.lastIndexOf('/v1/')));
  return `${protocol}//${host}${mount}`;
}

const firstOf = (list: string | undefined) => list?.split(',')[0]?.trim();

/** The end of a lifetime that starts now, rounded up to a second, as in urls and answers. */
export function endOf(ttlMs: number): number {
  return Math.ceil((Date.now() + ttlMs) / 1000) * 1000;
}

/** The parts of what servers pass to Hono apps that tell the caller's address. */
interface HostEnv {
  /** `@hono/node-server` */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
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
