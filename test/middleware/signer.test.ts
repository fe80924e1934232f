/** The signer clears expanded keys, which are secrets in memory, once their files are gone. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ExpandedSecretKey, falcon512, type ParameterSet } from '../../src/falcon/index.ts';
import { fileKeyStore } from '../../src/middleware/signing/keyStore.ts';
import { Signer } from '../../src/middleware/signing/signer.ts';
import { startService } from './support.ts';

const expanded = vi.hoisted((): ExpandedSecretKey[] => []);

// The library's objects are frozen: what the signer expands is noted on the way to it.
vi.mock('../../src/middleware/signing/keyFormat.ts', async (original) => {
  const real = await original<typeof import('../../src/middleware/signing/keyFormat.ts')>();
  const algorithm = (set: ParameterSet) => {
    const falcon = real.algorithm(set);
    const expandSecretKey = (secretKey: Uint8Array) => {
      expanded.push(falcon.expandSecretKey(secretKey));
      return expanded.at(-1)!;
    };
    return { ...falcon, expandSecretKey };
  };
  return { ...real, algorithm };
});

let directory: string;
beforeEach(async () => {
  expanded.length = 0;
  directory = await mkdtemp(join(tmpdir(), 'falconry-signer-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const message = Uint8Array.of(1);
const WAIT = { timeout: 60_000, interval: 100 };

describe('a signing key whose file is gone', () => {
  it('is cleared, also if nobody asks for it again; the others stay', async () => {
    const signer = new Signer(fileKeyStore({ directory }), true);
    const [gone, kept] = [await signer.sign(1, message), await signer.sign(2, message)];
    await rm(join(directory, 'signing-1.json'));
    await vi.waitFor(async () => {
      await signer.look();
      expect(expanded[0]!.destroyed).toBe(true);
    }, WAIT);
    // Nothing was made in its place.
    expect(await readdir(directory)).toEqual(['signing-2.json']);
    expect(expanded.map(({ destroyed }) => destroyed)).toEqual([true, false]);
    expect((await signer.sign(2, message)).publicKey).toEqual(kept.publicKey);
    expect((await signer.sign(1, message)).publicKey).not.toEqual(gone.publicKey);
    expect(expanded.length).toBe(3);
    await signer.close();
    expect(expanded.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('is cleared by a service that nobody asks to sign', async () => {
    const options = { dataDirectory: directory, workers: false, signingKeyPerClient: true };
    const http = await startService(options);
    const { status, json } = await http.ask('POST', '/v1/falcon/sign', { digest: '0x01' });
    expect(status).toBe(200);
    const signature = Buffer.from(json.signature.slice(2), 'hex');
    const publicKey = Buffer.from(json.public_key.slice(2), 'hex');
    expect(falcon512.verify(signature, message, publicKey)).toBe(true);
    expect(expanded.map(({ destroyed }) => destroyed)).toEqual([false]);
    const keys = join(directory, 'keys');
    for (const name of await readdir(keys)) await rm(join(keys, name));
    await vi.waitFor(() => expect(expanded[0]!.destroyed).toBe(true), WAIT);
    expect(await readdir(keys)).toEqual([]);
    await http.service.stop();
  });
});
