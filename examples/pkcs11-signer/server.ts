/** The service with a signing key in a token. */
import { serve } from '@hono/node-server';
import { falconService } from 'falconry/middleware';
import { pkcs11Signer } from './signer.ts';
import { Token } from './token.ts';

const pin = process.env.PIN ?? '1234';
const service = falconService({
  dataDirectory: '.falconry',
  signing: true, // for testing: whoever has an API key gets signatures
  signer: pkcs11Signer(new Token(pin), pin, 'orders'),
});
await service.start();

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: service.app.fetch, port }, (address) => {
  console.log(`http://localhost:${address.port}/`);
});
process.once('SIGTERM', async () => {
  await service.stop();
  server.close();
});
