/**
 * A proxy that loses what it is told to lose: between a client and a real server, request by
 * request.
 */
import {
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * - `before`: the connection ends before the server hears of the request
 * - `after`: the server has done it and answered; the answer is lost
 * - `half`: the connection ends in the middle of the answer
 * - a status: answered by the proxy itself, the server hears nothing
 * - `pass`: nothing goes wrong
 */
export type Fate =
  | 'pass'
  | 'before'
  | 'after'
  | 'half'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface BadNetwork {
  readonly address: string;
  /** `METHOD /path` of every request that came, ids as they are. */
  readonly requests: string[];
  readonly headers: IncomingMessage['headers'][];
  /**
   * What becomes of a request; `count` says how many of the same method and path came before it.
   */
  fate: (request: string, count: number) => Fate;
  /** Ends every open connection. */
  cutAll(): void;
  close(): Promise<void>;
}

export async function badNetwork(port: number): Promise<BadNetwork> {
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    const name = `${request.method} ${request.url!.split('?')[0]}`;
    const count = requests.filter((each) => each === name).length;
    requests.push(name);
    headers.push(request.headers);
    const fate = network.fate(name, count);
    if (fate === 'before') return void request.socket.destroy();
    if (typeof fate === 'object') {
      request.resume().on('end', () => {
        response.writeHead(fate.status, fate.headers).end(fate.body ?? '');
      });
      return;
    }
    pass(request, response, port, fate);
  });
  const network: BadNetwork = {
    address: '',
    requests,
    headers,
    fate: () => 'pass',
    cutAll: () => server.closeAllConnections(),
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port: own } = server.address() as AddressInfo;
  return Object.assign(network, { address: `http://127.0.0.1:${own}` });
}

function pass(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  fate: 'pass' | 'after' | 'half',
): void {
  const { method, url } = request;
  const headers = { ...request.headers };
  const onward = forward({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    if (fate === 'after') {
      answer.resume().on('end', () => request.socket.destroy());
      return;
    }
    response.writeHead(answer.statusCode!, answer.headers);
    response.flushHeaders();
    if (fate === 'half') {
      answer.once('data', (chunk: Buffer) => {
        response.write(chunk.subarray(0, chunk.length >> 1), () => request.socket.destroy());
      });
      return;
    }
    answer.pipe(response);
    answer.on('error', () => request.socket.destroy());
  });
  onward.on('error', () => request.socket.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}
