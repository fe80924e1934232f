/** Signing keys at rest: encrypted, rotated, and whole after every crash. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { falcon512 } from '../../src/falcon/index.ts';
import { falconService } from '../../src/middleware/index.ts';
import { type FileKeyOptions, fileKeyStore } from '../../src/middleware/signing/keyStore.ts';
import { Signer } from '../../src/middleware/signing/signer.ts';
import { startService } from './support.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'falconry-seal-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

const store = (options: Partial<FileKeyOptions> = {}) => fileKeyStore({ directory, ...options });
const secret = 'correct horse';
const path = (name: string) => join(directory, name);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
/** Every byte that is in the folder, as text. */
async function everything(): Promise<string> {
  const names = await readdir(directory);
  return (await Promise.all(names.map((name) => readFile(path(name), 'utf8')))).join('\n');
}

const SECRETS = ['Pässwort 🦅', new Uint8Array(32).fill(7)];

describe.each(SECRETS)('keys under secret %#', (secret) => {
  it('are encrypted, those that were plain at the next start', async () => {
    const plain = [await store().signingKey(null), await store().signingKey(3)];
    expect(await everything()).toContain(hex(plain[0]!.secretKey));
    const sealed = store({ secret });
    expect(await sealed.signingKey(3)).toEqual(plain[1]);
    await sealed.open();
    expect([await sealed.signingKey(null), await sealed.signingKey(3)]).toEqual(plain);
    const fresh = await sealed.signingKey(4);
    const text = await everything();
    for (const { secretKey, publicKey } of [...plain, fresh]) {
      expect(text).not.toContain(hex(secretKey).slice(2, 66));
      expect(text).toContain(hex(publicKey));
    }
    expect((await readdir(directory)).sort()).toEqual([
      'sealing.json',
      'signing-3.json',
      'signing-4.json',
      'signing.json',
    ]);
    for (const name of await readdir(directory)) {
      expect((await stat(path(name))).mode & 0o777, name).toBe(0o600);
    }
    const again = store({ secret });
    await again.open();
    expect(await again.signingKey(4)).toEqual(fresh);
  });

  it('need it ever after, and the right one', async () => {
    await store({ secret }).signingKey(null);
    const attempts = (options: Partial<FileKeyOptions>) => {
      const opened = store(options);
      const calls = [() => opened.open(), () => opened.signingKey(null), () => opened.rotate(null)];
      // A key that is not there yet is not made in the clear.
      return [...calls, () => opened.publicKeys(null), () => opened.signingKey(9)];
    };
    const other = typeof secret === 'string' ? `${secret} ` : new Uint8Array(32);
    const kind = typeof secret === 'string' ? new Uint8Array(32) : 'correct horse';
    for (const attempt of attempts({})) {
      await expect(attempt()).rejects.toMatchObject({ code: 'PASSPHRASE_NEEDED' });
    }
    for (const attempt of attempts({ secret: kind })) {
      await expect(attempt()).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    }
    // Each try costs the derivation again.
    for (const attempt of attempts({ secret: other }).slice(0, 2)) {
      await expect(attempt()).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    }
    expect((await readdir(directory)).sort()).toEqual(['sealing.json', 'signing.json']);
  });
});

describe('sealed keys', () => {
  const key = new Uint8Array(32).fill(1);
  const edit = async (name: string, change: (fields: Record<string, string>) => void) => {
    const fields = JSON.parse(await readFile(path(name), 'utf8'));
    change(fields);
    await writeFile(path(name), JSON.stringify(fields));
  };
  const flip = (text: string) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');

  it('cannot be changed, cut or given to another client', async () => {
    const keys = store({ secret: key });
    await keys.signingKey(1);
    await keys.signingKey(2);
    const whole = await readFile(path('signing-1.json'), 'utf8');
    const refused = () =>
      expect(keys.signingKey(1)).rejects.toThrow(`${path('signing-1.json')} is not a signing key`);
    for (const name of ['sealed', 'public_key'] as const) {
      await writeFile(path('signing-1.json'), whole);
      await edit('signing-1.json', (fields) => void (fields[name] = flip(fields[name]!)));
      await refused();
    }
    for (const sealed of ['0x', '0x00', 'x', `0x${'00'.repeat(28)}`]) {
      await edit('signing-1.json', (fields) => void (fields.sealed = sealed));
      await refused();
    }
    await writeFile(path('signing-1.json'), await readFile(path('signing-2.json')));
    await refused();
    await writeFile(path('signing-1.json'), whole);
    expect((await keys.signingKey(1)).parameterSet).toBe('falcon512');
  });

  it('say so if the file about them is damaged, or asks for too much', async () => {
    await store({ secret }).signingKey(null);
    const whole = await readFile(path('sealing.json'), 'utf8');
    const code = async () =>
      (
        await store({ secret })
          .open()
          .catch((error) => error)
      ).code as unknown;
    const changes: [Record<string, unknown>, string][] = [
      [{ version: 2 }, 'BAD_KEY_FILE'],
      [{ cipher: 'AES-256-CBC' }, 'BAD_KEY_FILE'],
      [{ kdf: 'md5' }, 'BAD_KEY_FILE'],
      [{ check: 'x' }, 'BAD_KEY_FILE'],
      [{ salt: 5 }, 'BAD_KEY_FILE'],
      [{ N: 1000 }, 'BAD_KEY_FILE'],
      [{ N: '16384' }, 'BAD_KEY_FILE'],
      [{ r: 0 }, 'BAD_KEY_FILE'],
      [{ p: -1 }, 'BAD_KEY_FILE'],
      [{ N: 2 ** 25 }, 'KEY_TOO_COSTLY'],
      [{ N: 2 ** 10 }, 'WRONG_PASSPHRASE'],
      [{ check: `0x${'00'.repeat(20)}` }, 'WRONG_PASSPHRASE'],
    ];
    for (const [change, expected] of changes) {
      await writeFile(path('sealing.json'), JSON.stringify({ ...JSON.parse(whole), ...change }));
      expect(await code(), JSON.stringify(change)).toBe(expected);
    }
    await writeFile(path('sealing.json'), whole.slice(0, 40));
    expect(await code()).toBe('BAD_KEY_FILE');
  });

  it('have one seal, whoever comes first, and one key each', async () => {
    const many = Array.from({ length: 2 }, () => store({ secret }));
    const keys = await Promise.all(many.map((one) => one.open().then(() => one.signingKey(null))));
    for (const one of keys) expect(one).toEqual(keys[0]);
  });

  it('are opened again once the right file is there', async () => {
    await store({ secret }).signingKey(null);
    const whole = await readFile(path('sealing.json'), 'utf8');
    await writeFile(path('sealing.json'), '{}');
    const keys = store({ secret });
    await expect(keys.signingKey(null)).rejects.toMatchObject({ code: 'BAD_KEY_FILE' });
    await writeFile(path('sealing.json'), whole);
    expect((await keys.signingKey(null)).parameterSet).toBe('falcon512');
  });

  it('leave no plain copy of a crash behind', async () => {
    const { secretKey } = await store().signingKey(null);
    const [old, young] = ['1', '2'].map(
      (d) => `signing.json.${d.repeat(8)}-1111-1111-1111-${d.repeat(12)}`,
    );
    for (const name of [old!, young!]) {
      await writeFile(path(name), await readFile(path('signing.json')), { mode: 0o600 });
    }
    const before = Date.now() / 1000 - 61;
    await utimes(path(old!), before, before);
    await store({ secret: key }).open();
    expect(await readdir(directory)).not.toContain(old);
    // It may still be being written.
    expect(await readdir(directory)).toContain(young);
    await rm(path(young!));
    expect(await everything()).not.toContain(hex(secretKey));
  });
});

describe.each(['plain', 'sealed'])('rotation of keys that are %s', (kind) => {
  const given = kind === 'plain' ? undefined : new Uint8Array(32).fill(9);
  const options = given === undefined ? {} : { secret: given };

  it('keeps the public keys, and is seen by a signer that runs', async () => {
    const keys = store(options);
    expect(await keys.rotate(5)).toBe(null);
    expect(await keys.publicKeys(5)).toEqual([]);
    const signer = new Signer(store(options), true);
    const message = Uint8Array.of(1, 2, 3);
    const before = await signer.sign(5, message);
    const made = (await keys.rotate(5))!;
    expect(made).not.toEqual(before.publicKey);
    await vi.waitFor(async () => expect((await signer.sign(5, message)).publicKey).toEqual(made), {
      timeout: 10_000,
      interval: 100,
    });
    const after = await signer.sign(5, message);
    expect(falcon512.verify(after.signature, message, made)).toBe(true);
    const known = await keys.publicKeys(5);
    expect(known.map(({ publicKey }) => publicKey)).toEqual([made, before.publicKey]);
    expect(known[0]).toMatchObject({ parameterSet: 'falcon512', retiredAt: null });
    expect(known[1]!.retiredAt! >= known[1]!.createdAt).toBe(true);
    const { secretKey } = await keys.signingKey(5);
    expect((await everything()).includes(hex(secretKey))).toBe(given === undefined);
    await signer.close();
  });

  it('loses no public key when several rotate at once', async () => {
    const many = Array.from({ length: 4 }, () => store(options));
    const first = (await many[0]!.signingKey(null)).publicKey;
    const made = await Promise.all(many.map((one) => one.rotate(null)));
    const known = (await many[0]!.publicKeys(null)).map(({ publicKey }) => hex(publicKey));
    expect(new Set(known)).toEqual(new Set([first, ...made].map((one) => hex(one!))));
    expect(known.length).toBe(5);
  });
});

describe('rotation', () => {
  it('keeps the parameter set, and the date of a key without one', async () => {
    await store({ parameterSet: 'falcon1024' }).signingKey(null);
    const fields = JSON.parse(await readFile(path('signing.json'), 'utf8'));
    delete fields.created_at;
    await writeFile(path('signing.json'), JSON.stringify(fields));
    await utimes(path('signing.json'), 1000, 1000);
    const keys = store();
    expect((await keys.publicKeys(null))[0]!.createdAt).toBe('1970-01-01T00:16:40.000Z');
    expect((await keys.rotate(null))!.length).toBe(1793);
    expect((await keys.publicKeys(null))[1]!.createdAt).toBe('1970-01-01T00:16:40.000Z');
  });

  it('goes on where a dead process held the lock, and refuses files that are no keys', async () => {
    const keys = store();
    await keys.signingKey(1);
    const child = spawn(process.execPath, ['-e', HOLDER, directory], { stdio: 'ignore' });
    await once(child, 'exit');
    expect(readFileSync(path('lock'), 'utf8')).toMatch(/^\w+ .*\d/);
    expect(await keys.rotate(1)).not.toBe(null);
    expect(await readdir(directory)).not.toContain('lock');
    const [retired] = (await readdir(directory)).filter((name) => name.includes('retired'));
    const whole = JSON.parse(await readFile(path(retired!), 'utf8'));
    for (const change of [{ public_key: '0x00' }, { retired_at: 1 }, { parameter_set: 'x' }]) {
      await writeFile(path(retired!), JSON.stringify({ ...whole, ...change }));
      await expect(keys.publicKeys(1)).rejects.toThrow('holds no public key');
    }
  });

  it('loses no key to kill -9', { timeout: 60_000 }, async () => {
    const keys = store({ secret: new Uint8Array(32).fill(3) });
    await keys.signingKey(null);
    const seen = new Set<string>();
    for (let kill = 0; kill < 5; kill++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', ROTATOR, directory]);
      let text = '';
      child.stderr.on('data', (part: Buffer) => (text += part));
      await new Promise<void>((done, fail) => {
        child.stdout.on('data', (part: Buffer) => {
          for (const line of part.toString().split('\n')) if (line.length === 1794) seen.add(line);
          // In the middle of the next one.
          setTimeout(done, 13 * kill);
        });
        child.on('exit', () => fail(new Error(text)));
      });
      child.removeAllListeners('exit');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const { publicKey, secretKey } = await keys.signingKey(null);
      expect(falcon512.getPublicKey(secretKey)).toEqual(publicKey);
      const known = (await keys.publicKeys(null)).map((one) => hex(one.publicKey));
      for (const one of seen) expect(known).toContain(one);
      expect(new Set(known).size).toBe(known.length);
    }
    expect(seen.size).toBeGreaterThanOrEqual(5);
  });
});

const module = new URL('../../src/middleware/signing/', import.meta.url).href;
/** Takes the lock and dies. */
const HOLDER = `import(${JSON.stringify(`${module}keyFiles.ts`)}).then(({ locked }) =>
  locked(process.argv[1], () => process.kill(process.pid, 'SIGKILL')));`;
const ROTATOR = `import { fileKeyStore } from ${JSON.stringify(`${module}keyStore.ts`)};
  const secret = new Uint8Array(32).fill(3);
  const keys = fileKeyStore({ directory: process.argv[1], secret });
  for (;;) console.log(Buffer.from(await keys.rotate(null)).toString('hex'));`;

describe('a service with a secret of its keys', () => {
  it('does not start with a wrong one, and signs with the right one', async () => {
    const options = { workers: false, dataDirectory: directory } as const;
    const sign = { digest: '0x0102' };
    const first = await startService({ ...options, keysSecret: secret });
    const before = await first.ask('POST', '/v1/falcon/sign', sign);
    expect(before.status).toBe(200);
    await first.service.stop();
    for (const [keysSecret, code] of [
      ['wrong', 'WRONG_PASSPHRASE'],
      [undefined, 'PASSPHRASE_NEEDED'],
    ] as const) {
      const given = keysSecret === undefined ? {} : { keysSecret };
      // No key is needed at the start, and yet it is told then.
      const settings = { ...options, ...given, signing: true, signingKeyPerClient: true };
      const service = falconService(settings);
      await expect(service.start()).rejects.toMatchObject({ code });
      await service.stop();
    }
    const again = await startService({ ...options, keysSecret: secret });
    const after = await again.ask('POST', '/v1/falcon/sign', sign);
    expect(after.json.public_key).toBe(before.json.public_key);
    await again.service.stop();
  });

  it('wants a passphrase or 32 bytes, and no key store of the host', () => {
    const refused = (options: object) => {
      expect(() => falconService(options)).toThrow(/"options\.keysSecret"/);
    };
    for (const keysSecret of ['', 5, null, new Uint8Array(31), {}]) refused({ keysSecret });
    const keyStore = { signingKey: () => Promise.reject(new Error('none')) };
    refused({ keysSecret: secret, keyStore });
    expect(() => fileKeyStore({ directory, secret: '' })).toThrow(RangeError);
    expect(() => fileKeyStore({ directory, secret: 5 as never })).toThrow(TypeError);
  });
});
