import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import {
  createApiKey,
  hashApiKey,
  storedKeyAuthentication,
} from '../../src/middleware/identity/apiKeys.ts';
import { fileKeyStore } from '../../src/middleware/signing/keyStore.ts';
import { Signer } from '../../src/middleware/signing/signer.ts';
import { memoryStore } from '../../src/middleware/stores/sqlite/memory.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'falconry-keys-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));
const path = () => join(directory, 'signing.json');

describe('signing keys in files', () => {
  it('are made once, whoever asks first, and stay', async () => {
    const stores = Array.from({ length: 4 }, () => fileKeyStore({ directory }));
    const keys = await Promise.all(
      stores.flatMap((store) => [store.signingKey(null), store.signingKey(null)]),
    );
    for (const key of keys) expect(key).toEqual(keys[0]);
    expect(await readdir(directory)).toEqual(['signing.json']);
    expect(await fileKeyStore({ directory }).signingKey(null)).toEqual(keys[0]);
    const { publicKey, secretKey } = keys[0]!;
    expect(falcon512.getPublicKey(secretKey)).toEqual(publicKey);
  });

  it('are one for each client, in files of mode 0600', async () => {
    const store = fileKeyStore({ directory });
    const [a, b] = [await store.signingKey(1), await store.signingKey(2)];
    expect(a.publicKey).not.toEqual(b.publicKey);
    expect((await readdir(directory)).sort()).toEqual(['signing-1.json', 'signing-2.json']);
    expect((await stat(join(directory, 'signing-1.json'))).mode & 0o777).toBe(0o600);
  });

  it('can be of Falcon-1024', async () => {
    const key = await fileKeyStore({ directory, parameterSet: 'falcon1024' }).signingKey(null);
    expect(key.publicKey).toHaveLength(falcon1024.lengths.publicKey);
    // What is in the file counts, not the option of a later start.
    const again = await fileKeyStore({ directory, parameterSet: 'falcon512' }).signingKey(null);
    expect(again).toEqual(key);
    const signer = new Signer(fileKeyStore({ directory }), false);
    const message = Uint8Array.of(1, 2, 3);
    const { signature, publicKey } = await signer.sign(7, message);
    expect(falcon1024.verify(signature, message, publicKey)).toBe(true);
    await signer.close();
  });

  it('that others can read are refused, and so is what is no key', async () => {
    const store = fileKeyStore({ directory });
    await store.signingKey(null);
    const text = await readFile(path(), 'utf8');
    await chmod(path(), 0o644);
    await expect(store.signingKey(null)).rejects.toThrow(/chmod 600/);
    await chmod(path(), 0o600);
    const { secret_key } = JSON.parse(text);
    const broken = [
      '',
      '{}',
      'null',
      text.slice(0, 200),
      text.replace('falcon512', 'falcon1024'),
      text.replace('falcon512', 'constructor'),
      text.replace(secret_key, secret_key.slice(0, -2)),
      text.replace(secret_key, `0x${'00'.repeat(1281)}`),
      text.replace(secret_key, `0x${'59'.repeat(1281)}`),
    ];
    for (const other of broken) {
      await writeFile(path(), other);
      const refused = await store.signingKey(null).catch((error: Error) => error.message);
      expect(refused).toBe(`${path()} is not a signing key`);
    }
  });
});

describe('the signer', () => {
  it('keeps few expanded keys, and clears them', async () => {
    const signer = new Signer(fileKeyStore({ directory }), true);
    const message = new TextEncoder().encode('many clients');
    const first = await signer.sign(1, message);
    for (let clientId = 2; clientId <= 20; clientId++) await signer.sign(clientId, message);
    // The first key was dropped meanwhile and is read again: the same key.
    const again = await signer.sign(1, message);
    expect(again.publicKey).toEqual(first.publicKey);
    expect(falcon512.verify(again.signature, message, again.publicKey)).toBe(true);
    await signer.close();
  });

  it('tries again after its key could not be had', async () => {
    let calls = 0;
    const pair = falcon512.keygen();
    const signer = new Signer(
      {
        async signingKey() {
          if (calls++ === 0) throw new Error('the vault is closed');
          return { parameterSet: 'falcon512', ...pair };
        },
      },
      false,
    );
    await expect(signer.sign(1, Uint8Array.of(1))).rejects.toThrow('vault');
    expect((await signer.sign(1, Uint8Array.of(1))).publicKey).toEqual(pair.publicKey);
    await signer.close();
  });
});

describe('API keys', () => {
  it('are 256 random bits, of which the store has the hash', async () => {
    const store = memoryStore();
    const { key, record } = await createApiKey(store.apiKeys, { name: 'a' });
    expect(key).toMatch(/^falconry_[\w-]{43}$/);
    expect(record.sha256).toBe(hashApiKey(key));
    // SHA-256 of "abc", FIPS 180-4 example.
    expect(hashApiKey('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    const authenticate = storedKeyAuthentication(store.apiKeys, () => {});
    expect(await authenticate(key)).toEqual({ clientId: record.clientId });
    for (const wrong of ['', record.sha256, key.slice(1), `${key}=`, 'k'.repeat(513)]) {
      expect(await authenticate(wrong)).toBeNull();
    }
  });
});
