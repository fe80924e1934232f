/**
 * A reverse proxy as stands before most services: it streams both ways, and says for whom it asks.
 */
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type OpenServer, openServer } from '../support/openServer.ts';

/**
 * Starts a proxy.
 *
 * @param target the address to ask for a path
 */
export async function startProxy(target: (path: string) => string): Promise<OpenServer> {
  const agent = new Agent({ keepAlive: true });
  const server = await openServer((incoming, outgoing) => {
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
  return { ...server, close: () => server.close().then(() => agent.destroy()) };
}

function passBack(answer: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(answer.statusCode!, answer.headers);
  outgoing.flushHeaders();
  answer.pipe(outgoing);
}
