/** The absolute address under which the caller reached the service, for urls in answers. */
import type { Context } from 'hono';
import type { Settings } from '../options.ts';

/** `https://host/mount/v1/<serviceName>`, without a slash at the end. */
export function serviceBase(c: Context, settings: Settings): string {
  return `${mountAddress(c, settings)}/v1/${settings.serviceName}`;
}

function mountAddress(c: Context, settings: Settings): string {
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
  // Our own paths have `/v1/` once, at their front; what stands before is the mount path.
  const mount = url.pathname.slice(0, Math.max(0, url.pathname.lastIndexOf('/v1/')));
  return `${protocol}//${host}${mount}`;
}

const firstOf = (list: string | undefined) => list?.split(',')[0]?.trim();

/** The end of something that lives so long, on a whole second: urls and answers say it in seconds. */
export function endOf(ttlMs: number): number {
  return Math.ceil((Date.now() + ttlMs) / 1000) * 1000;
}
