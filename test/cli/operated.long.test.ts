/**
 * Keys of a service on several hosts: the operator's own API key, and one signing key for all. And
 * what its operator does to its queue.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import { decodeWireHex } from '../../src/wire/hex.ts';
import type { Answer } from '../middleware/support.ts';
import { makeTriples } from '../middleware/triples.ts';
import { overPostgres } from '../support/postgres.ts';
import { hasRgw, openRgw } from '../support/rgw.ts';
import { temporaryFolder } from './cli.ts';
import { ask, Hosts } from './hosts.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const bytesOf = (hex: string) => decodeWireHex(hex, 4096) as Uint8Array;

/** Lists a task, and puts it back as if it had ended its workers. */
async function operate(
  hosts: Hosts,
  post: (path: string, body: unknown) => Promise<Answer>,
): Promise<void> {
  const { json, status } = await post('/v1/svc/aggsign', { data: makeTriples(2) });
  expect(status).toBe(202);
  const process_id = String(json.process_id);
  const waiting = { process_id, status: 'waiting', quarantined: false, batch_size: 2 };
  expect(await hosts.run('queue')).toEqual([expect.objectContaining(waiting)]);
  expect(await hosts.run('queue', '--aside')).toEqual([]);
  const client = new pg.Client({ connectionString: hosts.env.FALCONRY_DATABASE! });
  await client.connect();
  await client.query('UPDATE falconry.tasks SET quarantined = true');
  await client.end();
  const aside = await hosts.run('queue', '--aside');
  expect(aside).toEqual([expect.objectContaining({ process_id, quarantined: true })]);
  expect(await hosts.run('retry', process_id)).toEqual({ process_id, retried: true });
  expect(await hosts.run('queue', '--aside')).toEqual([]);
}

describe.skipIf(!hasRgw())('two hosts that start at once', () => {
  overPostgres('newest', (server) => {
    it('store one API key, sign with the key file, and make nothing of their own', async () => {
      await server().query('CREATE DATABASE keyed');
      const hosts = new Hosts(server(), 'keyed', await openRgw());
      try {
        await hosts.run('migrate');
        const key = 'an-api-key-of-the-operator-0123456789';
        writeFileSync(at('first'), `${key}\n`, { mode: 0o600 });
        await hosts.run('keygen', '-o', at('key'));
        const keys = ['--first-key-file', at('first'), '--signing-key-file', at('key')];
        const args = [
          'serve',
          '--port',
          '0',
          '--no-workers',
          '--threads',
          '1',
          '--data',
          at('data'),
        ];
        const both = await Promise.all([
          hosts.start(...args, ...keys),
          hosts.start(...args, ...keys),
        ]);
        expect(await hosts.run('keys', 'list')).toEqual([
          expect.objectContaining({ name: 'first', client_id: 1 }),
        ]);
        const digest = '0x68656c6c6f';
        const signed = await Promise.all(
          both.map(async (host) => {
            const answer = await ask(key, host, 'POST', '/v1/falcon/sign', { digest });
            expect(answer.status, answer.text).toBe(200);
            return answer.json;
          }),
        );
        expect(signed[1].public_key).toBe(signed[0].public_key);
        for (const { public_key, signature } of signed) {
          const [publicKey, made] = [bytesOf(public_key), bytesOf(signature)];
          expect(falcon512.verify(made, bytesOf(digest), publicKey)).toBe(true);
        }
        await operate(hosts, (path, body) => ask(key, both[0]!, 'POST', path, body));
        expect(existsSync(at('data'))).toBe(false);
      } finally {
        await hosts.end();
      }
    });
  });
});
