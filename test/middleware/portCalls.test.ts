/** The calls of ports are timed, and nothing else about the ports changes. */
import { expect, it } from 'vitest';
import { memoryStore, type PortCall } from '../../src/middleware/index.ts';
import { timedPort } from '../../src/middleware/stores/timedPort.ts';
import { startService } from './support.ts';
import { makeTriples } from './triples.ts';

it('tells the verb, the time and the outcome of every call', async () => {
  const calls: PortCall[] = [];
  class Port {
    #answers = 0;
    readonly urls = {
      sign: async (text: string) => `${text}!`,
    };
    readonly name = 'port';
    async ask() {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return ++this.#answers;
    }
    async fail() {
      throw new TypeError('no');
    }
    now() {
      return this.#answers;
    }
  }
  const port = timedPort(Object.freeze(new Port()), 'store', (call) => calls.push(call));
  expect(await port.ask()).toBe(1);
  await expect(port.fail()).rejects.toThrow(new TypeError('no'));
  expect(await port.urls.sign('a')).toBe('a!');
  expect([port.now(), port.name, 'ask' in port, 'other' in port]).toEqual([1, 'port', true, false]);
  expect(port.ask).toBe(port.ask);
  expect(calls).toMatchObject([
    { port: 'store', verb: 'ask', failed: false },
    { port: 'store', verb: 'fail', failed: true },
    { port: 'store', verb: 'urls.sign', failed: false },
  ]);
  expect(calls[0]!.durationMs).toBeGreaterThan(15);
});

it('of a service tells what a task needs of store and files', async () => {
  const calls: PortCall[] = [];
  const http = await startService({ threads: 1, onPortCall: (call) => calls.push(call) });
  try {
    const { json } = await http.ask('POST', '/v1/svc/aggsign', { data: makeTriples(2) });
    const path = `/v1/svc/tasks/${json.process_id}`;
    while ((await http.ask('GET', path)).json.status !== 'completed') {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await http.close();
  }
  const verbs = new Set(calls.map(({ port, verb }) => `${port} ${verb}`));
  for (const verb of ['store put', 'store claim', 'store finish', 'blobs put', 'blobs read']) {
    expect(verbs).toContain(verb);
  }
  expect(calls.filter(({ failed }) => failed)).toEqual([]);
});

it('has no effect on a store without private members either', async () => {
  const store = timedPort(memoryStore(), 'store', () => {});
  expect('findApiKey' in store).toBe(true);
  const put = await store.tasks.put({ clientId: 1, state: 'created', threads: 1, ttlMs: 1000 });
  expect(put.ok).toBe(true);
});
