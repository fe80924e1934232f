/**
 * Options that belong to the host: where it puts the service, what stands before it, what it brings
 * along itself.
 */
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { fastify } from 'fastify';
import { beforeAll, describe, expect } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import { directoryBlobs } from '../../src/middleware/blobs/directory/directory.ts';
import {
  type FalconService,
  falconService,
  memoryStore,
  type ServiceOptions,
  type Signer,
  toFastifyPlugin,
  toNodeHandler,
} from '../../src/middleware/index.ts';
import { it as base, recordedLog } from '../middleware/support.ts';
import { openServer } from '../support/openServer.ts';
import { startProxy } from './proxy.ts';
import { referenceWalk, walk } from './walk.ts';

/** The first steps of a walk ask for pages. */
const PAGES = 3;

let reference: readonly string[];

beforeAll(async () => {
  reference = await referenceWalk();
}, 300_000);

const test = base.extend<{ begin: (options: ServiceOptions) => Promise<FalconService> }>({
  begin: async ({ folder, defer }, use) => {
    await use(async (options) => {
      const service = falconService({ dataDirectory: folder, ...options });
      await service.start();
      defer(() => service.stop({ graceMs: 0 }));
      return service;
    });
  },
});

async function keysOf(service: FalconService): Promise<{ alice: string; bob: string }> {
  const [alice, bob] = [
    await service.apiKeys.create({ name: 'alice' }),
    await service.apiKeys.create({ name: 'bob' }),
  ];
  return { alice: alice.key, bob: bob.key };
}

/** The same answer where the service knows no keys, and the host refuses. */
function refusedByHost(answer: string): string {
  const refused = /"An API key is required"|"The API key is not known"/;
  return answer.replace(refused, '"The request does not say who sends it, or not in a valid way"');
}

describe('behind a reverse proxy', { timeout: 300_000 }, () => {
  test('that keeps the path and names itself: trustProxy', async ({ begin, defer }) => {
    const service = await begin({ trustProxy: true });
    const app = express();
    app.use('/falcon', toNodeHandler(service));
    const upstream = await openServer(app);
    const proxy = await startProxy((path) => upstream.address + path);
    defer(upstream.close);
    defer(proxy.close);
    const base = `${proxy.address}/falcon`;
    expect(await walk({ ...(await keysOf(service)), base })).toEqual(reference);
  });

  test('that changes the path: publicUrl, and all that a host can bring along', async ({
    begin,
    defer,
    folder,
  }) => {
    const fastifyHost = fastify();
    const proxy = await startProxy((path) => {
      const { port } = fastifyHost.server.address() as AddressInfo;
      return `http://127.0.0.1:${port}${path.replace('/public/api', '/inside')}`;
    });
    defer(proxy.close);
    defer(() => fastifyHost.close());
    const base = `${proxy.address}/public/api`;
    const { lines, logger } = recordedLog();
    const text = () => lines.join('\n');
    const pair = falcon512.keygen();
    const signer: Signer = {
      sign: async ({ message }) => ({
        signature: falcon512.sign(message, pair.secretKey),
        publicKey: pair.publicKey,
      }),
    };
    const keys = ['key-of-alice-0123456789', 'key-of-bob-0123456789'];
    const clients = new Map(keys.map((key, i) => [key, i + 1]));
    const { apiKeys: _, ...store } = memoryStore();
    const blobs = directoryBlobs({ path: join(folder, 'elsewhere') });
    const statuses: number[] = [];
    const service = await begin({
      dataDirectory: join(folder, 'never-made'),
      serviceName: 'starling',
      publicUrl: base,
      authenticate: async (key) => {
        const clientId = clients.get(key);
        return clientId === undefined ? null : { clientId };
      },
      ...{ store, blobs, signer, logger },
      onEvent: (event) => event.type === 'request' && statuses.push(event.status),
    });
    await fastifyHost.register(toFastifyPlugin(service), { prefix: '/inside' });
    await fastifyHost.listen({ port: 0, host: '127.0.0.1' });

    const [alice = '', bob = ''] = clients.keys();
    const said = await walk({ base, alice, bob, serviceName: 'starling' });
    // The pages name the address that is promised, and so does their policy.
    expect(said.slice(PAGES)).toEqual(reference.slice(PAGES).map(refusedByHost));
    for (const page of said.slice(0, PAGES)) expect(page).toMatch(/^# .*\nGET \/v1\/\S+\n200\n/);
    expect(await readdir(folder)).toEqual(['elsewhere']);
    for (const status of [200, 201, 202, 204, 302, 400, 401, 404, 413, 422]) {
      expect(statuses).toContain(status);
    }
    // The host's logger hears what happens, and nothing that is a right or a secret.
    expect(text()).toContain('info service started');
    expect(text()).toContain('"type":"completed"');
    for (const secret of [alice, bob, 'signature=', Buffer.from(pair.secretKey).toString('hex')]) {
      expect(text()).not.toContain(secret);
    }
    await expect(service.apiKeys.create({ name: 'x' })).rejects.toThrow('keeps no API keys');
  });

  test('whose names are believed only where that is asked for', async ({ begin, defer }) => {
    const service = await begin({});
    const { alice } = await keysOf(service);
    const upstream = await openServer(toNodeHandler(service));
    const proxy = await startProxy((path) => upstream.address + path);
    defer(upstream.close);
    defer(proxy.close);
    const answer = await fetch(`${proxy.address}/v1/svc/aggsign/task`, {
      method: 'POST',
      headers: { authorization: alice },
    });
    const { url } = (await answer.json()) as { url: string };
    expect(url.startsWith(`${upstream.address}/v1/svc/uploads/`)).toBe(true);
  });
});
