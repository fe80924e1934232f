/** The default signer: one key file for each parameter set, and what is refused in its place. */
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { type Falcon, falcon512, falcon1024, type ParameterSet } from '../../src/falcon/index.ts';
import { falconService, memoryStore } from '../../src/middleware/index.ts';
import { checkKey, KeyFileSigner, keyPlace } from '../../src/middleware/signing/keyFile.ts';
import { it } from './support.ts';

/** What the build without floating point was asked to do. */
const asked: string[] = [];
vi.mock('../../src/falcon/integer.ts', async (original) => {
  const { falcon512: falcon } = await original<{ falcon512: Falcon }>();
  const noting = (verb: keyof Falcon) => {
    const method = falcon[verb] as (...args: unknown[]) => unknown;
    const noted = (...args: unknown[]) => {
      asked.push(verb);
      return method(...args);
    };
    return [verb, noted] as const;
  };
  const verbs = (['keygen', 'getPublicKey', 'expandSecretKey', 'sign'] as const).map(noting);
  return { falcon512: { ...falcon, ...Object.fromEntries(verbs) } };
});

let directory: string;
let keys: string;
let path: string;
it.beforeEach(({ folder }) => {
  directory = folder;
  keys = join(directory, 'keys');
  path = join(keys, 'signing.json');
});

const placeOf = (signingSet: ParameterSet = 'falcon512', signingKeyFile?: string) =>
  keyPlace({ dataDirectory: directory, signingKeyFile, signingSet });
const message = Uint8Array.of(1, 2, 3);

/** The public key with which a signer signs. */
async function publicKeyOf(opening: Promise<KeyFileSigner>): Promise<Uint8Array> {
  const signer = await opening;
  const { publicKey } = await signer.sign({ clientId: 1, message, set: 'falcon512' });
  signer.close();
  return publicKey;
}

/** Everything in the directory, with its bytes, mode and time. */
async function snapshot(): Promise<unknown[]> {
  const names = (await readdir(directory, { recursive: true })).sort();
  return Promise.all(
    names.map(async (name) => {
      const found = await stat(join(directory, name), { bigint: true });
      const text = found.isFile() ? await readFile(join(directory, name), 'utf8') : null;
      return [name, found.mode, found.mtimeNs, found.ino, text];
    }),
  );
}

describe('the key file', () => {
  it('serves both arithmetics: one signature, and floating point only if it is allowed', async () => {
    const signing = { salt: 'derived', arithmetic: 'integer' } as const;
    const request = { clientId: 1, message, set: 'falcon512' } as const;
    const signatures: Uint8Array[] = [];
    for (const options of [signing, { ...signing, arithmetic: 'float' } as const]) {
      const signer = await KeyFileSigner.open(placeOf(), options);
      signatures.push((await signer.sign(request)).signature);
      signer.close();
      expect(asked).toEqual(['keygen', 'getPublicKey', 'expandSecretKey', 'sign']);
    }
    expect(signatures[0]).toEqual(signatures[1]);
  });

  it('is created once, whoever asks first, and stays', async () => {
    const all = await Promise.all(
      Array.from({ length: 4 }, () => publicKeyOf(KeyFileSigner.open(placeOf()))),
    );
    for (const publicKey of all) expect(publicKey).toEqual(all[0]);
    expect(await readdir(keys)).toEqual(['signing.json']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(keys)).mode & 0o777).toBe(0o700);
    expect(await publicKeyOf(KeyFileSigner.open(placeOf()))).toEqual(all[0]);
    const { version, parameter_set, public_key, secret_key } = JSON.parse(
      await readFile(path, 'utf8'),
    );
    expect([version, parameter_set]).toEqual([1, 'falcon512']);
    const secretKey = Buffer.from(secret_key.slice(2), 'hex');
    expect(`0x${Buffer.from(falcon512.getPublicKey(secretKey)).toString('hex')}`).toBe(public_key);
  });

  it('is one for each parameter set', async () => {
    const small = await publicKeyOf(KeyFileSigner.open(placeOf()));
    const signer = await KeyFileSigner.open(placeOf('falcon1024'));
    const { signature, publicKey } = await signer.sign({ clientId: 1, message, set: 'falcon1024' });
    expect(falcon1024.verify(signature, message, publicKey)).toBe(true);
    signer.close();
    expect((await readdir(keys)).sort()).toEqual(['signing.falcon1024.json', 'signing.json']);
    expect(await publicKeyOf(KeyFileSigner.open(placeOf()))).toEqual(small);
  });

  it('is looked at by a check, which creates nothing', async () => {
    expect(await checkKey(placeOf())).toBe(false);
    expect(await readdir(directory)).toEqual([]);
    await publicKeyOf(KeyFileSigner.open(placeOf()));
    expect(await checkKey(placeOf())).toBe(true);
  });

  it('signs no more after it was closed', async () => {
    const signer = await KeyFileSigner.open(placeOf());
    signer.close();
    await expect(signer.sign({ clientId: 1, message, set: 'falcon512' })).rejects.toThrow(
      /destroyed/,
    );
  });

  it('may be one that the host names, as keygen writes it; it is not created', async () => {
    const own = join(directory, 'own.json');
    const missing = KeyFileSigner.open(placeOf('falcon512', own));
    await expect(missing).rejects.toMatchObject({
      code: 'BAD_KEY_FILE',
      message: `${own} does not exist: create it with falconry keygen --set falcon512 -o ${own}`,
    });
    expect(await readdir(directory)).toEqual([]);
    const { publicKey, secretKey } = falcon512.keygen();
    const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
    const fields = { parameter_set: 'falcon512', public_key: hex(publicKey) };
    const text = JSON.stringify({ ...fields, secret_key: hex(secretKey) });
    await writeFile(own, text, { mode: 0o600 });
    expect(await publicKeyOf(KeyFileSigner.open(placeOf('falcon512', own)))).toEqual(publicKey);
    // As editors write it, and with a name beyond ASCII.
    await writeFile(own, `\ufeff${text.replace('{', '{"name":"schlüssel",')}`);
    expect(await publicKeyOf(KeyFileSigner.open(placeOf('falcon512', own)))).toEqual(publicKey);
    await writeFile(own, Buffer.from(text.replace('{', '{"name":"ü",'), 'latin1'));
    await expect(KeyFileSigner.open(placeOf('falcon512', own))).rejects.toThrow(
      /not a signing key/,
    );
    await writeFile(own, text);
    await expect(KeyFileSigner.open(placeOf('falcon1024', own))).rejects.toThrow(
      `${own} holds a key of falcon512, not of falcon1024`,
    );
    expect(await readdir(directory)).toEqual(['own.json']);
  });

  it('is refused if others can read it, or if it is no key', async () => {
    await publicKeyOf(KeyFileSigner.open(placeOf()));
    const text = await readFile(path, 'utf8');
    await chmod(path, 0o644);
    await expect(KeyFileSigner.open(placeOf())).rejects.toThrow(/chmod 600/);
    await chmod(path, 0o600);
    const { secret_key } = JSON.parse(text);
    const broken = [
      '',
      '{}',
      'null',
      text.slice(0, 200),
      text.replace('falcon512', 'constructor'),
      text.replace(secret_key, secret_key.slice(0, -2)),
      text.replace(secret_key, secret_key.slice(2)),
      text.replace(secret_key, `0x${'00'.repeat(1281)}`),
      text.replace(secret_key, `0x${'59'.repeat(1281)}`),
    ];
    for (const other of broken) {
      await writeFile(path, other);
      const refused = await KeyFileSigner.open(placeOf()).catch((error: Error) => error);
      expect(refused).toMatchObject({
        code: 'BAD_KEY_FILE',
        message: `${path} is not a signing key`,
      });
      expect(await readFile(path, 'utf8')).toBe(other);
    }
    await writeFile(path, text.replace('falcon512', 'falcon1024'));
    await expect(KeyFileSigner.open(placeOf())).rejects.toThrow('holds a key of falcon1024');
  });
});

describe('keys of an earlier version', () => {
  const hex = `0x${'a5'.repeat(897)}`;
  const known = { parameter_set: 'falcon512', public_key: hex };
  const retired = 'signing.retired-0123456789abcdef.json';
  const SEALED = { version: 2, ...known, sealed: hex };
  it.each([
    ['an encrypted key', 'signing.json', SEALED],
    ['the seal of the folder', 'sealing.json', { version: 1 }],
    ['a seal that was being changed', 'sealing.next.json', { version: 1 }],
    ['a key of one client', 'signing-7.json', { version: 1, ...known, secret_key: hex }],
    ['a key that was exchanged', retired, { version: 1, ...known }],
  ])('%s is refused at start, and nothing is touched', async (_, name, fields) => {
    await mkdir(keys, { mode: 0o700 });
    if (name !== 'signing.json') await publicKeyOf(KeyFileSigner.open(placeOf()));
    await writeFile(join(keys, name), JSON.stringify(fields), { mode: 0o600 });
    const before = await snapshot();
    const service = falconService({ dataDirectory: directory, signing: true, workers: false });
    await expect(service.start()).rejects.toMatchObject({
      code: 'BAD_KEY_FILE',
      message: expect.stringContaining(`${join(keys, name)} is of an earlier version`),
    });
    await service.stop({ graceMs: 0 });
    expect(await snapshot()).toEqual(before);
  });

  it('are left alone where signing is off', async () => {
    await mkdir(keys, { mode: 0o700 });
    await writeFile(path, JSON.stringify(SEALED), { mode: 0o600 });
    const store = memoryStore();
    const service = falconService({ dataDirectory: directory, store, workers: false });
    await service.start();
    await service.stop({ graceMs: 0 });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(SEALED);
    expect(await readdir(keys)).toEqual(['signing.json']);
  });
});
