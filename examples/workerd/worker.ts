/** A worker that signs receipts and verifies aggregates. */
import { falcon512, useFalconModule, useLabradorModule, verifyAggregate } from 'falconry';
import falconModule from 'falconry/falcon.relaxed.wasm';
import labradorModule from 'falconry/labrador.relaxed.wasm';

// Before the first call, since nothing can be compiled at run time.
useFalconModule(falconModule);
useLabradorModule(labradorModule);

interface Env {
  /** A secret key of Falcon-512, raw, in base64. */
  readonly SECRET_KEY: string;
}

interface Claim {
  readonly aggregate: string;
  readonly statements: readonly { readonly publicKey: string; readonly message: string }[];
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const toBase64 = (bytes: Uint8Array) =>
  btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''));

function sign(body: string, env: Env): Response {
  const secretKey = fromBase64(env.SECRET_KEY);
  const receipt = JSON.stringify({ body, time: new Date().toISOString() });
  const signature = falcon512.sign(new TextEncoder().encode(receipt), secretKey);
  return Response.json({ receipt, signature: toBase64(signature) });
}

function check({ aggregate, statements }: Claim): Response {
  const list = statements.map(({ publicKey, message }) => {
    return { publicKey: fromBase64(publicKey), message: fromBase64(message) };
  });
  return Response.json({ valid: verifyAggregate(fromBase64(aggregate), list) });
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (request.method !== 'POST') return new Response('POST, please', { status: 405 });
    if (pathname === '/sign') return sign(await request.text(), env);
    if (pathname === '/check') return check(await request.json<Claim>());
    return new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<Env>;
