import { type NextRequest, NextResponse } from 'next/server';

/** Sets a policy with a nonce for each page; Next adds the nonce to its scripts. */
export function proxy(request: NextRequest) {
  const nonce = Buffer.from(crypto.randomUUID()).toString('base64');
  // React needs eval under `next dev`; in production only WebAssembly does.
  const compile = process.env.NODE_ENV === 'production' ? "'wasm-unsafe-eval'" : "'unsafe-eval'";
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic' ${compile}`,
    "worker-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "object-src 'none'",
    "base-uri 'none'",
  ].join('; ');
  const headers = new Headers(request.headers);
  headers.set('content-security-policy', policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set('content-security-policy', policy);
  return response;
}

/** Only pages and scripts: Next limits bodies that pass through a proxy to 10 MB. */
export const config = { matcher: '/((?!falcon/|aggregate).*)' };
