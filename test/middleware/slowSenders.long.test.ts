/**
 * Senders who hold what they sent and hardly send any more, over real sockets: they do not keep
 * others from being served, and are given up.
 */
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { fact } from '../support/facts.ts';
import { requestHead, sendRaw } from './rawHttp.ts';
import { expectProblem, it, type TestService } from './support.ts';
import { makeTriples } from './triples.ts';

const SIGN = '/v1/falcon/sign';
const DIRECT = '/v1/svc/aggsign';
const CREATE = '/v1/svc/aggsign/task';
const MIB = 1024 * 1024;

let sockets: Socket[] = [];
let over = false;
beforeEach(() => {
  over = false;
});
afterEach(() => {
  over = true;
  for (const socket of sockets) socket.destroy();
  sockets = [];
});

const JSON_TYPE = 'Content-Type: application/json';
const head = (method: string, path: string, key: string, length: number) =>
  requestHead(method, path, key, JSON_TYPE, `Content-Length: ${length}`);

/**
 * Sends all of a body but its last bytes, then one every now and then; when it is refused, it
 * comes again.
 *
 * @returns when it has been refused for the first time
 */
function holdOn(http: TestService, bytes: number, againMs: number): Promise<void> {
  return new Promise((refused) => {
    const begin = () => {
      const socket = connect(http.port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {});
      socket.write(head('POST', DIRECT, http.alice, bytes));
      socket.write(Buffer.alloc(bytes - 1000, ' '));
      const drip = setInterval(() => socket.writable && socket.write(' '), 50);
      socket.once('close', () => clearInterval(drip));
      socket.once('data', () => {
        refused();
        socket.destroy();
        if (!over) setTimeout(begin, againMs);
      });
    };
    begin();
  });
}

describe('a client that holds bodies in memory', () => {
  it('does not shut out another', async ({ start, task }) => {
    // The sizes of the defaults, divided by sixteen.
    const http = await start({
      workers: false,
      maxBodyBytes: 2 * MIB,
      maxBufferedBytes: 8 * MIB,
    });
    const data = makeTriples(10);
    // Four of these bodies take all the memory there is, if they are let.
    await Promise.race(Array.from({ length: 8 }, (_, i) => holdOn(http, 2 * MIB, 20 + 35 * i)));
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const startMs = performance.now();
      const signed = await http.ask('POST', SIGN, { digest: '0x00' }, { key: http.bob });
      expect(signed.status, signed.text).toBe(200);
      const direct = await http.ask('POST', DIRECT, { data }, { key: http.bob });
      expect(direct.status, direct.text).toBe(202);
      times.push(performance.now() - startMs);
      await new Promise((next) => setTimeout(next, 50));
    }
    expect(sockets.filter((socket) => !socket.destroyed).length).toBeGreaterThan(1);
    expect(Math.min(...times)).toBeLessThan(1000);
    const median = times.toSorted((a, b) => a - b)[10]!;
    const shown = `${median.toFixed(0)} ms for sign and direct while another client holds bodies`;
    fact({ task }, 'slow senders', shown);
  });

  it('is itself refused beyond its share', async ({ start }) => {
    const http = await start({
      workers: false,
      maxBodyBytes: 1 * MIB,
      maxBufferedBytes: 2 * MIB,
    });
    const parts = [head('POST', DIRECT, http.alice, MIB), Buffer.alloc(MIB - 1000, ' ')];
    const answers = [1, 2, 3].map(() => sendRaw(http.port, { parts }));
    const refused = await Promise.race(answers);
    expectProblem(refused!, 503, 'OVERLOADED');
    await http.close();
    await Promise.all(answers);
  });
});

describe('a sender below the lowest speed', () => {
  const drops = (count: number) => Array.from({ length: count }, () => ' ');

  it.for(['POST', 'PUT'])('gets a 408 to %s, though it never pauses', async (method, { start }) => {
    const http = await start({
      workers: false,
      bodyIdleTimeoutMs: 1500,
      minBodyBytesPerSecond: MIB,
    });
    const { url } = (await http.ask('POST', CREATE)).json;
    const { pathname, search } = new URL(url);
    const path = method === 'PUT' ? pathname + search : DIRECT;
    const parts = [head(method, path, http.alice, 1000), ...drops(900)];
    const answer = await sendRaw(http.port, { parts, pauseMs: 25 });
    expectProblem(answer!, 408, 'REQUEST_TIMEOUT');
    expect(answer!.headers.get('connection')).toBe('close');
  });

  it('is not waited for at all without a key, and nothing of it is read', async ({ start }) => {
    const http = await start({ workers: false });
    let read = 0;
    for (const [method, path, key, status] of [
      ['POST', DIRECT, 'nobody', 401],
      ['POST', SIGN, '', 401],
      ['POST', CREATE, 'nobody', 401],
      ['PUT', '/v1/svc/uploads/1', http.alice, 403],
      ['POST', SIGN, http.alice, 200],
    ] as const) {
      const body = new ReadableStream(
        {
          pull(controller) {
            read++;
            controller.enqueue(new TextEncoder().encode('{"digest":"0x00"}'));
            controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      const headers = { authorization: key, 'content-type': 'application/json' };
      const init = { method, headers, body, duplex: 'half' };
      const answer = await http.service.app.request(path, init as RequestInit);
      expect([answer.status, read], path).toEqual([status, status === 200 ? 1 : 0]);
    }
    for (const [method, path, status] of [
      ['POST', DIRECT, 401],
      ['POST', SIGN, 401],
      ['PUT', '/v1/svc/uploads/1', 403],
    ] as const) {
      const parts = [head(method, path, 'nobody', 1000), '['];
      expect((await sendRaw(http.port, { parts }))?.status).toBe(status);
    }
  });
});

describe('a packed body', () => {
  const packed = ({ alice }: TestService, length: number) => {
    const body = ['Content-Encoding: gzip', `Content-Length: ${length}`];
    return requestHead('POST', DIRECT, alice, JSON_TYPE, ...body);
  };

  it('that stops half-way is a 408 or an early end, not bad gzip', async ({ start }) => {
    const http = await start({ workers: false, bodyIdleTimeoutMs: 300 });
    const parts = [packed(http, 1000), gzipSync('{"data":[]}').subarray(0, 15)];
    expectProblem((await sendRaw(http.port, { parts }))!, 408, 'REQUEST_TIMEOUT');
  });

  it('that is too large is refused at once, though its sender falls silent', async ({ start }) => {
    const http = await start({ workers: false, bodyIdleTimeoutMs: 60_000, maxBodyBytes: MIB });
    const parts = [packed(http, 500_000), gzipSync(Buffer.alloc(20 * MIB))];
    expectProblem((await sendRaw(http.port, { parts }))!, 413, 'BODY_TOO_LARGE');
  });
});

it('a body in single bytes is the same body', async ({ start }) => {
  const http = await start({ workers: false });
  const text = `{"digest":"0x${'ab'.repeat(2000)}"}`;
  const chunks = Array.from(text, (byte) => `1\r\n${byte}\r\n`).join('');
  const begin = requestHead('POST', SIGN, http.alice, JSON_TYPE, 'Transfer-Encoding: chunked');
  const answer = await sendRaw(http.port, { parts: [begin, `${chunks}0\r\n\r\n`] });
  expect(answer?.status).toBe(200);
  expect(answer?.json.digest).toBe(`0x${'ab'.repeat(2000)}`);
});
