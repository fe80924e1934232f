/** Addresses: how requests name the service, for urls in answers, and where they come from. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Context } from 'hono';

/** The settings that decide about addresses. */
export interface AddressSettings {
  readonly serviceName: string;
  /** Address of the mount point, for a service that cannot see it in its requests. */
  readonly publicUrl?: string | undefined;
  /** Whose `X-Forwarded-…` headers are believed: those of so many proxies, or of these networks. */
  readonly trustProxy: TrustProxy;
}

/** True is 1. */
export type TrustProxy = boolean | number | readonly string[];

/** `https://host/mount/v1/<serviceName>`, without a slash at the end. */
export function serviceBase(c: Context, settings: AddressSettings): string {
  return `${mountAddress(c, settings)}/v1/${settings.serviceName}`;
}

/** `https://host/mount`: the part before `/v1/`. */
export function mountAddress(c: Context, settings: AddressSettings): string {
  if (settings.publicUrl !== undefined) return settings.publicUrl;
  const url = new URL(c.req.url);
  let { protocol, host } = url;
  if (isTrusted(settings.trustProxy, peerOf(c))) {
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

// Backslashes and control characters, empty and dot segments, and escapes that are broken or of
// letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
const UNUSUAL = new RegExp(
  String.raw`[^!-[\]-~\u0080-\uffff]|//|/\.\.?(?:/|$)` +
    String.raw`|%(?:2[de]|3\d|[46][1-9a-f]|5[\daf]|7[\dae]|(?![\da-f]{2}))`,
  'i',
);

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

/**
 * The address of the caller; undefined if the host does not tell. Each proxy appends the address
 * that it sees to `X-Forwarded-For`; anything before those of trusted proxies may be forged.
 */
export function callerAddress(c: Context, { trustProxy }: AddressSettings): string | undefined {
  const peer = peerOf(c);
  const header = c.req.header('x-forwarded-for');
  if (header === undefined || !isTrusted(trustProxy, peer)) return peer;
  const hops = header.split(',').map(ipAddress).reverse();
  const at =
    typeof trustProxy === 'object'
      ? hops.findIndex((hop) => hop === null || !isTrusted(trustProxy, hop))
      : Number(trustProxy) - 1;
  return (hops[at] === undefined ? hops.at(-1) : hops[at]) ?? peer;
}

function isTrusted(trust: TrustProxy, address: string | undefined): boolean {
  if (typeof trust !== 'object') return trust !== false;
  const family = isIP(address ?? '') as Family;
  return family !== 0 && networksOf(trust).check(address!, `ipv${family as 4 | 6}`);
}

type Family = 0 | 4 | 6;
const BITS = { 0: 0, 4: 32, 6: 128 } as const;
const parsed = new WeakMap<readonly string[], BlockList>();

function networksOf(list: readonly string[]): BlockList {
  const networks = parsed.get(list) ?? new BlockList();
  if (parsed.has(list)) return networks;
  for (const each of list) {
    const [address = '', bits] = each.split('/');
    const family = isIP(address) as 4 | 6;
    networks.addSubnet(address, Number(bits ?? BITS[family]), `ipv${family}`);
  }
  parsed.set(list, networks);
  return networks;
}

/** Returns the fault of a network that is neither `10.0.0.0/8` nor a single address, or null. */
export function networkFault(text: string): string | null {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const most = BITS[isIP(address) as Family];
  if (most > 0 && Number(bits ?? 0) <= most) return null;
  return `must hold networks such as 10.0.0.0/8, which "${text}" is not`;
}

/** An address in one spelling, without port, brackets and zone; null for anything else. */
function ipAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  const trimmed = text.trim();
  const bare = /^\[(.*)\](?::\d+)?$/.exec(trimmed)?.[1] ?? trimmed.replace(/^([\d.]+):\d+$/, '$1');
  const address = bare.replace(/%.*/, '');
  if (isIP(address) !== 6) return isIPv4(address) ? address : null;
  const shown = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:(\w+):(\w+)$/.exec(shown)?.slice(1);
  const halves = mapped?.map((half) => Number.parseInt(half, 16));
  return halves?.flatMap((half) => [half >> 8, half & 255]).join('.') ?? shown;
}

/** The address that the host tells. */
function peerOf(c: Context): string | undefined {
  const address = hostAddress(c.env as HostEnv | undefined, c.req.raw) || undefined;
  return address && (ipAddress(address) ?? address.slice(0, 64));
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
