/**
 * A reverse proxy as stands before most services: it streams both ways, and says for whom it asks.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closed } from './servers.ts';

export interface Proxy {
  /** `http://127.0.0.1:port` */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Starts a proxy.
 *
 * @param target the address to ask for a path
 */
export async function startProxy(target: (path: string) => string): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    const { host: _, ...headers } = incoming.headers;
    const url = target(incoming.url!);
    const forwarded = request(url, {
      method: incoming.method!,
      agent,
      headers: {
        ...headers,
        host: new URL(url).host,
        'x-forwarded-proto': 'http',
        'x-forwarded-host': incoming.headers.host!,
        'x-forwarded-for': incoming.socket.remoteAddress!,
      },
    });
    forwarded.on('response', (answer) => passBack(answer, outgoing));
    forwarded.on('error', () => {
      if (!outgoing.headersSent) outgoing.writeHead(502).end();
    });
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    async close() {
      await closed(server);
      agent.destroy();
    },
  };
}

function passBack(answer: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(answer.statusCode!, answer.headers);
  outgoing.flushHeaders();
  answer.pipe(outgoing);
}
