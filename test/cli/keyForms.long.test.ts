/** Keys of the command line in every form, and under passphrases. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { falcon512, falcon1024 } from '../../src/falcon/index.ts';
import { exportEncryptedSecretKey, importSecretKey } from '../../src/falcon/keys/index.ts';
import { cleanEnvironment, falconryHere, MAIN, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const read = (name: string) => readFileSync(at(name));
/** Names with a dot are files of the folder. */
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  falconryHere(
    args.map((arg) => (arg.includes('.') ? at(arg) : arg)),
    env,
  );

beforeAll(() => {
  writeFileSync(at('message.txt'), 'signed by a key in another form');
  writeFileSync(at('pass.txt'), 'correct horse\r\n');
  writeFileSync(at('empty.txt'), '\n');
});

async function signAndVerify(key: string, publicKey: string, ...more: string[]) {
  const signature = `${key}.sig`;
  const signed = await run([
    'sign',
    '--key',
    key,
    'message.txt',
    '--raw',
    '-o',
    signature,
    ...more,
  ]);
  expect([signed.code, signed.err]).toEqual([0, '']);
  const verify = ['verify', '--key', publicKey, '--signature', signature];
  expect((await run([...verify, 'message.txt'])).out).toBe('valid: 1 signature\n');
  expect((await run([...verify, 'pass.txt'])).code).toBe(1);
}

describe.each([falcon512, falcon1024])('$name', ({ name }) => {
  it.each(['json', 'pem', 'der', 'jwk', 'raw', 'bare', 'extended'])(
    'a key pair in the format %s is made, signs and verifies',
    async (format) => {
      const [key, publicKey] = [`${name}.${format}`, `${name}.${format}.pub`];
      const options = ['--set', name, '--key-format', format, '-o', key, '--public', publicKey];
      expect((await run(['keygen', ...options])).code).toBe(0);
      expect(statSync(at(key)).mode & 0o777).toBe(0o600);
      await signAndVerify(key, publicKey);
      if (format === 'json') return;
      expect(importSecretKey(read(key)).parameterSet).toBe(name);
    },
  );
});

it('text in hex, and bytes without the header, are keys, too', async () => {
  const { publicKey, secretKey } = falcon512.keygen();
  const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}\n`;
  writeFileSync(at('hex.sk'), hex(secretKey));
  writeFileSync(at('hex.pk'), hex(publicKey.subarray(1)));
  await signAndVerify('hex.sk', 'hex.pk');
});

describe('passphrases', () => {
  it('from a file, for a new key in PEM and to sign with it', async () => {
    const made = await run([
      'keygen',
      '--passphrase-file',
      'pass.txt',
      '-o',
      'file.pem',
      '--public',
      'file.pub',
    ]);
    expect([made.code, made.out]).toEqual([
      0,
      `falcon512 key pair made; ${at('file.pem')} is encrypted\n`,
    ]);
    expect(read('file.pem').toString()).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/);
    await signAndVerify('file.pem', 'file.pub', '--passphrase-file', 'pass.txt');
  });

  it('from the environment, in DER', async () => {
    const env = { FALCONRY_PASSPHRASE: 'ключ' };
    const made = ['keygen', '--encrypt', '--key-format', 'der', '-o', 'env.der'];
    expect((await run([...made, '--public', 'env.pub'], env)).code).toBe(0);
    const sign = ['sign', '--key', 'env.der', 'message.txt', '-o', 'env.json'];
    expect((await run(sign, env)).code).toBe(0);
    expect((await run(['verify', 'env.json'])).code).toBe(0);
  });

  it('do not encrypt a key just because the environment has one', async () => {
    const made = await run(['keygen', '--key-format', 'pem'], { FALCONRY_PASSPHRASE: 'x' });
    expect(made.out).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });

  const sign = (key: string, ...more: string[]) => ['sign', '--key', key, 'message.txt', ...more];
  const cases: [string, number, RegExp, string[], string?][] = [
    ['none is given', 1, /use --passphrase-file or FALCONRY_PASSPHRASE/, sign('file.pem')],
    ['a wrong one', 1, /the passphrase does not open it/, sign('file.pem'), 'wrong'],
    ['an empty one', 2, /is empty/, sign('file.pem', '--passphrase-file', 'empty.txt')],
    ['no file', 3, /no such file/, sign('file.pem', '--passphrase-file', 'nowhere.txt')],
    ['none for a new key', 1, /a passphrase is needed/, ['keygen', '--encrypt']],
    [
      'as an option',
      2,
      /can be read by others: use --passphrase-file/,
      ['keygen', '--passphrase', 'x'],
    ],
    [
      'in a form without',
      2,
      /only pem and der can have a passphrase/,
      ['keygen', '--encrypt', '--key-format', 'raw'],
      'x',
    ],
    [
      'an unknown format',
      2,
      /--key-format must be one of json, pem/,
      ['keygen', '--key-format', 'p12'],
    ],
    ['a public key to sign', 1, /PUBLIC KEY, not a PRIVATE KEY/, sign('file.pub')],
    [
      'a key that costs too much',
      1,
      /scrypt with N = 16384, r = 127, p = 127/,
      sign('costly.pem'),
      'x',
    ],
    [
      'a secret key to verify',
      1,
      /not a PUBLIC KEY/,
      ['verify', '--key', 'file.pem', '--signature', 'file.pem.sig', 'message.txt'],
    ],
  ];
  beforeAll(async () => {
    const { secretKey } = falcon512.keygen();
    const scrypt = Buffer.from(
      await exportEncryptedSecretKey(secretKey, 'x', { form: 'encryptedPkcs8' }),
    );
    // N = 16,384, r = 8, p = 5 becomes p = 127, r = 127: no length changes.
    const at5 = scrypt.indexOf(Buffer.from('02024000020108020105', 'hex'));
    expect(at5).toBeGreaterThan(0);
    scrypt.set(Buffer.from('0202400002017f02017f', 'hex'), at5);
    writeFileSync(at('costly.pem'), scrypt);
  });

  it.each(cases)('%s: refused', async (_, code, message, args, passphrase) => {
    const ended = await run(
      args,
      passphrase === undefined ? {} : { FALCONRY_PASSPHRASE: passphrase },
    );
    expect(ended.err).toMatch(message);
    expect([ended.code, ended.out]).toEqual([code, '']);
  });
});

const SCRIPT = '/usr/bin/script';

/** What a terminal shows while these lines are typed, one at each question. */
function onTerminal(args: string, ...typed: string[]) {
  const line = `'${process.execPath}' '${MAIN}' ${args}`;
  const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
    cwd: folder.path,
    env: cleanEnvironment({ TERM: 'xterm', LC_ALL: 'C.UTF-8' }),
  });
  let text = '';
  const answers = [...typed];
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    const asked = text.split(/Passphrase: |The same again: /).length - 1;
    while (answers.length > 0 && typed.length - answers.length < asked) {
      child.stdin.write(answers.shift()!);
    }
  });
  return new Promise<{ code: number | null; text: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, text })),
  );
}

describe.runIf(existsSync(SCRIPT))('on a terminal', () => {
  it('passphrases are asked for, and not shown; the line can be edited', async () => {
    const made = await onTerminal(
      'keygen --encrypt -o asked.pem --public asked.pub',
      'wrong\x15hä\x7fälse\r',
      'hälse\r',
    );
    expect(made.code).toBe(0);
    expect(made.text).toContain('asked.pem is encrypted');
    expect(made.text).not.toMatch(/lse\b/);
    const signed = await onTerminal(
      'sign --key asked.pem message.txt --raw -o asked.sig',
      'hälse\r',
    );
    expect(signed).toMatchObject({ code: 0 });
    expect(signed.text).not.toContain('lse');
    const verify = ['verify', '--key', 'asked.pub', '--signature', 'asked.sig', 'message.txt'];
    expect((await run(verify)).code).toBe(0);
  });

  it('two that differ make no key', async () => {
    const ended = await onTerminal('keygen --encrypt -o differ.pem', 'one\r', 'two\r');
    expect(ended.code).toBe(2);
    expect(ended.text).toContain('the two passphrases differ');
    expect(existsSync(at('differ.pem'))).toBe(false);
  });

  it('Ctrl-C ends it', async () => {
    const ended = await onTerminal('keygen --encrypt -o stopped.pem', 'one\x03');
    expect(ended.code).not.toBe(0);
    expect(existsSync(at('stopped.pem'))).toBe(false);
  });
});
