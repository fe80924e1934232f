/**
 * Who is refused while he still sends reads why, however slow he is: from `falconry serve` as from
 * any node:http host.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect } from 'vitest';
import { toNodeHandler } from '../../src/middleware/index.ts';
import { serviceTest } from '../middleware/support.ts';
import { type OpenServer, openServer } from '../support/openServer.ts';
import { pieces } from './client.ts';

const { test, http: own } = serviceTest({ workers: false });
let host: OpenServer;
test.beforeAll(async ({ http }) => {
  host = await openServer(toNodeHandler(http.service));
});
afterAll(() => host.close());

test.each([
  ['the server of the command', () => own.address],
  ['a node:http host', () => host.address],
])('%s', async (_, address) => {
  const body = Buffer.alloc(1_500_000, 0x20);
  const { port } = new URL(address());
  const socket = connect(Number(port), '127.0.0.1');
  // Told by the writes below.
  socket.on('error', () => {});
  const head = [
    'POST /v1/svc/aggsign HTTP/1.1',
    'Host: a',
    'Authorization: nobody',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  // As simple clients do: all is sent first, which takes a second and a half, then the answer is
  // read.
  for await (const piece of pieces(body, 100_000, 100)) {
    await new Promise<void>((resolve, reject) => {
      socket.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
});
