/** Receives the webhooks: the service of your customer, for example. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');
const seen = new Set<string>(); // yours: a table

const server = createServer(async (request, response) => {
  try {
    const body = await text(request);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    // Throws for a wrong signature, and for a message that is more than five minutes old.
    const message = webhook.verify(body, headers) as { readonly type: string };
    const id = headers['webhook-id'] ?? '';
    if (!seen.has(id)) console.log(`${id}: ${message.type}`);
    seen.add(id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
});
server.listen(Number(process.env.PORT ?? 4000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://localhost:${port}/`);
});
process.once('SIGTERM', () => server.close());
