/**
 * Where webhooks may lead: by default only over https, and only to public addresses. Otherwise a
 * client could have the service send requests to its own network, or to the metadata of its cloud.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

const MAX_URL = 2048;

/** @returns the fault of the url of a webhook, continuing its name: `must be …`; null for none */
export function webhookUrlFault(url: string, allowPrivate: boolean): string | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const protocols = allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (url.length > MAX_URL) return `must have at most ${MAX_URL} characters`;
  if (parsed === null || !protocols.includes(parsed.protocol)) {
    return `must be an absolute ${allowPrivate ? 'http or https' : 'https'} URL`;
  }
  if (parsed.username !== '' || parsed.password !== '' || parsed.hash !== '') {
    return 'must have no user, password or fragment';
  }
  const host = bareHost(parsed);
  if (!allowPrivate && isIP(host) !== 0 && !isPublic(host)) return 'must lead to a public address';
  return null;
}

/** Without the brackets of an IPv6 address. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** What is not on the public network, of the registries of IANA for special purposes. */
const SPECIAL = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  SPECIAL.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  SPECIAL.addSubnet(net, bits, 'ipv6');
}
/** All that is handed out of IPv6. The rest is local, or IPv4 in another dress. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address is one of the public network. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !SPECIAL.check(address, 'ipv4');
  // A zone makes it local.
  if (isIP(address) !== 6 || address.includes('%')) return false;
  return GLOBAL.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6');
}

/** Looks a name up; for tests. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * The one address that is connected to. The name is not looked up again, so that it cannot lead
 * elsewhere by then.
 *
 * @throws Error if there is none, or if one of them is not public
 */
export async function addressOf(
  url: URL,
  allowPrivate: boolean,
  resolve: Resolve = resolveHost,
): Promise<string> {
  const host = bareHost(url);
  const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host];
  const [first] = addresses;
  if (first === undefined) throw new Error('the name has no address');
  if (!allowPrivate && !addresses.every(isPublic)) {
    throw new Error('the name leads to an address that is not public');
  }
  return first;
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    return await resolve(host);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`the name cannot be looked up (${code ?? 'unknown reason'})`);
  }
}
