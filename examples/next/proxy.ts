import { type NextRequest, NextResponse } from 'next/server';

/** A policy with a nonce for each page; Next puts the nonce into the scripts that it writes. */
export function proxy(request: NextRequest) {
  const nonce = Buffer.from(crypto.randomUUID()).toString('base64');
  // React needs eval under `next dev`; in production WebAssembly alone does.
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

/** Pages and scripts alone: of a body, Next would hand over 10 MB at most behind this. */
export const config = { matcher: '/((?!falcon/|aggregate).*)' };
