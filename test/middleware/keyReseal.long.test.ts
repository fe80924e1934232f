/** Another passphrase for the signing keys: every file anew, and none lost in a crash. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { changeKeysSecret } from '../../src/middleware/signing/keyReseal.ts';
import { fileKeyStore } from '../../src/middleware/signing/keyStore.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'falconry-reseal-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const [OLD, NEW] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const store = (secret: string | Uint8Array) => fileKeyStore({ directory, secret });
const change = (secret: string | Uint8Array = OLD, next: string | Uint8Array = NEW) =>
  changeKeysSecret({ directory, secret, next });
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Every file of the folder with what is in it. */
async function everything(): Promise<Record<string, string>> {
  const names = (await readdir(directory)).sort();
  const texts = names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')]);
  return Object.fromEntries(await Promise.all(texts));
}

it('seals all keys anew, also plain ones; the old secret opens none of them', async () => {
  const plain = await fileKeyStore({ directory }).signingKey(3);
  const old = store('old');
  const keys = [await old.signingKey(null), plain, await old.signingKey(4)];
  const public4 = (await old.rotate(4))!;
  keys[2] = await old.signingKey(4);
  expect(keys[2]!.publicKey).toEqual(public4);
  const before = await everything();
  expect(await change('old', NEW)).toBe(3);
  const after = await everything();
  expect(Object.keys(after)).toEqual(Object.keys(before));
  for (const [name, text] of Object.entries(after)) {
    // The public key of the retired one is no secret.
    expect([name, text === before[name]]).toEqual([name, name.includes('retired')]);
    expect(text).not.toContain(hex(plain.secretKey).slice(2, 66));
  }
  const now = store(NEW);
  await now.open();
  const clients = [null, 3, 4];
  expect(await Promise.all(clients.map((client) => now.signingKey(client)))).toEqual(keys);
  expect((await now.publicKeys(4)).length).toBe(2);
  await expect(store('old').signingKey(3)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  // Files from before are worth nothing beside the new seal.
  await writeFile(join(directory, 'signing-4.json'), before['signing-4.json']!);
  await expect(store(NEW).signingKey(4)).rejects.toThrow('is not a signing key');
});

it('changes nothing for a wrong secret, or with a file that cannot be opened', async () => {
  expect(
    await changeKeysSecret({ directory: join(directory, 'none'), secret: 'a', next: 'b' }),
  ).toBe(null);
  expect(await change()).toBe(null);
  const keys = store(OLD);
  for (const client of [1, 2]) await keys.signingKey(client);
  const before = await everything();
  await expect(change(NEW, 'x')).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  await expect(change('text', NEW)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
  await expect(change(OLD, '')).rejects.toThrow(RangeError);
  expect(await everything()).toEqual(before);
  await copyFile(join(directory, 'signing-1.json'), join(directory, 'signing-2.json'));
  const damaged = await everything();
  await expect(change()).rejects.toMatchObject({ code: 'BAD_KEY_FILE' });
  expect(await everything()).toEqual(damaged);
});

it('has a store that runs on say so, and write nothing under the old seal', async () => {
  const [running, idle] = [store(OLD), store(OLD)];
  for (const one of [running, idle]) await one.signingKey(1);
  await change();
  const before = await everything();
  const changed = /passphrase of the keys in .* was changed: start again/;
  await expect(running.signingKey(1)).rejects.toThrow(changed);
  await expect(running.signingKey(2)).rejects.toThrow(changed);
  await expect(running.open()).rejects.toThrow(changed);
  await expect(idle.rotate(1)).rejects.toThrow(changed);
  expect(await everything()).toEqual(before);
});

const CLIENTS = 12;

it('loses no key to kill -9; a second call finishes', { timeout: 240_000 }, async () => {
  const keys = store(OLD);
  const known: string[] = [];
  for (let client = 0; client < CLIENTS; client++) {
    known.push(hex((await keys.signingKey(client)).secretKey));
  }
  const whole = await everything();
  let [secret, next] = [OLD, NEW];
  let halfway = 0;
  for (let files = 1; files < CLIENTS; files += 3) {
    const before = await everything();
    await killAfter(files, secret, next);
    const now = await everything();
    const sealed = Object.keys(whole).filter((name) => name.startsWith('signing'));
    const anew = sealed.filter((name) => now[name] !== before[name]);
    if (now['sealing.next.json'] !== undefined && anew.length < CLIENTS) halfway++;
    // Each is readable under the old secret or the new one, by what says so in the folder.
    await expectReadable(now, anew, { secret, next, known });
    await expect(store(secret).signingKey(0)).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    if (now['sealing.next.json'] !== undefined) {
      const other = change(secret, 'another one');
      await expect(other).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    }
    expect(await change(secret, next)).toBe(CLIENTS);
    const done = store(next);
    for (let client = 0; client < CLIENTS; client++) {
      expect(hex((await done.signingKey(client)).secretKey)).toBe(known[client]);
    }
    expect(await readdir(directory)).not.toContain('sealing.next.json');
    [secret, next] = [next, secret];
  }
  expect(halfway).toBeGreaterThan(0);
});

interface Sealed {
  readonly secret: Uint8Array;
  readonly next: Uint8Array;
  /** The secret keys by their clients. */
  readonly known: readonly string[];
}

/** Opens each file in a folder of its own, beside the seal that it is under. */
async function expectReadable(
  files: Readonly<Record<string, string>>,
  anew: readonly string[],
  { secret, next, known }: Sealed,
): Promise<void> {
  const nextSeal = files['sealing.next.json'] ?? files['sealing.json'];
  for (const [client, secretKey] of known.entries()) {
    const name = `signing-${client}.json`;
    const isNew = anew.includes(name);
    const alone = await mkdtemp(join(tmpdir(), 'falconry-reseal-'));
    const write = (file: string, text: string) =>
      writeFile(join(alone, file), text, { mode: 0o600 });
    await write(name, files[name]!);
    await write('sealing.json', isNew ? nextSeal! : files['sealing.json']!);
    const alike = fileKeyStore({ directory: alone, secret: isNew ? next : secret });
    expect(hex((await alike.signingKey(client)).secretKey)).toBe(secretKey);
    await rm(alone, { recursive: true });
  }
}

/** Begins the change in a process that kills itself once so many files are sealed anew. */
async function killAfter(files: number, secret: Uint8Array, next: Uint8Array): Promise<void> {
  const args = ['--input-type=module', '-e', CHANGER, directory, String(files)];
  const child = spawn(process.execPath, [...args, hex(secret), hex(next)]);
  let text = '';
  child.stderr.on('data', (part: Buffer) => (text += part));
  await once(child, 'exit');
  expect([child.signalCode, text]).toEqual(['SIGKILL', '']);
}

const module = new URL('../../src/middleware/signing/keyReseal.ts', import.meta.url).href;
/** It looks between the steps of the change. */
const CHANGER = `import { readdirSync, statSync } from 'node:fs';
  import { join } from 'node:path';
  const [directory, most, secret, next] = process.argv.slice(1);
  const files = () => readdirSync(directory).filter((name) => /^signing-\\d+\\.json$/.test(name));
  // A number of an inode can come again.
  const written = () => files().map((name) => name + statSync(join(directory, name)).ctimeMs);
  const before = new Set(written());
  const { changeKeysSecret } = await import(${JSON.stringify(module)});
  const look = () => {
    if (written().filter((one) => !before.has(one)).length >= Number(most)) {
      process.kill(process.pid, 'SIGKILL');
    }
    setImmediate(look);
  };
  look();
  const bytes = (text) => new Uint8Array(Buffer.from(text, 'hex'));
  await changeKeysSecret({ directory, secret: bytes(secret), next: bytes(next) });
  look();
  throw new Error('it was not killed');`;
