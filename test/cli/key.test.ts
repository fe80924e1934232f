/** `falconry key` and `falconry inspect`: every form, modes of files, and what is refused. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { falcon512 } from '../../src/falcon/index.ts';
import { falconryHere, temporaryFolder } from './cli.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
const read = (name: string) => readFileSync(at(name));
/** Names with a dot are files of the folder. */
const run = (line: string, env: NodeJS.ProcessEnv = {}) =>
  falconryHere(
    line.split(' ').map((word) => (word.includes('.') ? at(word) : word)),
    env,
  );
const works = async (line: string, env: NodeJS.ProcessEnv = {}) => {
  const { code, err, out } = await run(line, env);
  expect([line, code, err]).toEqual([line, 0, '']);
  return out;
};
const facts = async (name: string) => JSON.parse(await works(`inspect ${name} --json`));

beforeAll(async () => {
  await works('keygen -o key.json --public public.json');
  await works('keygen --set falcon1024 --key-format pem -o big.pem --public bigPublic.pem');
  for (const [name, text] of [
    ['old.txt', 'old\n'],
    ['new.txt', 'new\n'],
    ['message.txt', 'hello'],
    ['other.txt', 'no key'],
  ]) {
    writeFileSync(at(name!), text!);
  }
});

describe('falconry key', () => {
  it('derives the public key', async () => {
    await works('key public key.json -o derived.json');
    expect(read('derived.json')).toEqual(read('public.json'));
    expect((await run('key public big.pem --to pem')).out).toBe(read('bigPublic.pem').toString());
    expect((await run('key public public.json')).code).toBe(1);
  });

  it.each(['pem', 'der', 'jwk', 'raw', 'bare', 'extended'])(
    'converts to %s and back',
    async (to) => {
      await works(`key convert key.json --to ${to} -o there.${to}`);
      expect(statSync(at(`there.${to}`)).mode & 0o777).toBe(0o600);
      await works(`key convert there.${to} --to json -o back${to}.json`);
      expect(read(`back${to}.json`)).toEqual(read('key.json'));
      await works(`key convert public.json --to ${to} -o public.${to}`);
      await works(`key convert public.${to} --to json -o public${to}.json`);
      expect(read(`public${to}.json`)).toEqual(read('public.json'));
    },
  );

  it('adds, keeps, changes and removes a passphrase', async () => {
    await works('key passphrase key.json --new-passphrase-file old.txt -o sealed.pem');
    expect(read('sealed.pem').toString()).toContain('BEGIN ENCRYPTED PRIVATE KEY');
    await works('key convert sealed.pem --to der --passphrase-file old.txt -o sealed.der');
    await works('key passphrase sealed.der --passphrase-file old.txt -o changed.pem', {
      FALCONRY_NEW_PASSPHRASE: 'new',
    });
    expect((await run('key public changed.pem --passphrase-file old.txt')).code).toBe(1);
    const remove = 'key passphrase changed.pem --remove --to json -o plain.json';
    await works(remove, { FALCONRY_PASSPHRASE: 'new' });
    expect(read('plain.json')).toEqual(read('key.json'));
    const json = 'key convert sealed.pem --to json --passphrase-file old.txt';
    expect((await run(json)).err).toContain('only pem and der can have a passphrase');
  });

  it('replaces a file only with --force', async () => {
    await works('key convert key.json --to pem -o kept.pem');
    const before = read('kept.pem');
    const seal = 'key passphrase kept.pem --new-passphrase-file new.txt -o kept.pem';
    const { code, err } = await run(seal);
    expect([code, read('kept.pem')]).toEqual([3, before]);
    expect(err).toContain('it already exists');
    await works(`${seal} --force`);
    expect(read('kept.pem').toString()).toContain('ENCRYPTED');
    expect(statSync(at('kept.pem')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['key', 'expected one of public, convert, passphrase'],
    ['key publc key.json', 'did you mean public?'],
    ['key convert key.json', '--to is missing'],
    ['key convert key.json --to pdf', '--to must be one of json'],
    ['key public', 'expected one key file'],
    ['key public key.json --remove', '"key public" has no option --remove'],
    ['key passphrase key.json --remove --new-passphrase-file new.txt', '--remove excludes'],
    ['key passphrase key.json --to jwk', 'only pem and der can have a passphrase'],
  ])('refuses %s', async (line, message) => {
    const { code, err } = await run(line);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

describe('files of other editors', () => {
  const mark = (text: string) => `\ufeff${text}`;

  it('have a byte order mark, which is skipped', async () => {
    await works('sign --key key.json message.txt --raw -o plain.sig');
    const hex = `0x${read('plain.sig').toString('hex')}`;
    writeFileSync(at('hex.sig'), mark(hex));
    writeFileSync(at('json.sig'), mark(`\r\n{"signature": "${hex}", "by": "Zoë"}`));
    writeFileSync(at('seed.txt'), mark(`0x${'5a'.repeat(48)}`));
    writeFileSync(at('marked.json'), mark(read('public.json').toString()));
    for (const signature of ['plain.sig', 'hex.sig', 'json.sig']) {
      const verify = `verify --key marked.json --signature ${signature} message.txt`;
      expect(await works(verify)).toBe('valid: 1 signature\n');
      expect(await facts(signature)).toMatchObject({ kind: 'signature', format: 'compressed' });
    }
    await works('keygen --seed-file seed.txt -o seeded.json');
    const { secretKey } = falcon512.keygen(new Uint8Array(48).fill(0x5a));
    const expected = `0x${Buffer.from(secretKey).toString('hex')}`;
    expect(JSON.parse(read('seeded.json').toString()).secret_key).toBe(expected);
  });

  it('are named where they are not read', async () => {
    await works('sign --key key.json message.txt --raw -o plain.sig');
    writeFileSync(at('bare.sig'), read('plain.sig').toString('hex'));
    const { code, err } = await run('verify --key public.json --signature bare.sig message.txt');
    expect([code, err]).toEqual([1, expect.stringContaining('is text in hex without 0x')]);
    writeFileSync(at('wide.json'), Buffer.from(read('key.json').toString(), 'utf16le'));
    expect((await run('key public wide.json')).err).toContain('the text is in UTF-16');
  });

  it('have text in front of an encrypted key', async () => {
    await works('key passphrase key.json --new-passphrase-file old.txt -o locked.pem');
    writeFileSync(at('bag.pem'), mark(`Bag Attributes: ü\n${read('locked.pem')}`));
    expect(await facts('bag.pem')).toEqual(
      expect.objectContaining({ form: 'pem', encrypted: true }),
    );
  });
});

describe('falconry inspect', () => {
  it('identifies keys in every form, and prints no secret', async () => {
    const secret = { kind: 'secret key', parameter_set: 'falcon512', key_bytes: 1281 };
    expect(await facts('key.json')).toMatchObject({ ...secret, form: 'json', encrypted: false });
    expect(await facts('public.json')).toMatchObject({ kind: 'public key', key_bytes: 897 });
    expect(await facts('big.pem')).toMatchObject({ parameter_set: 'falcon1024', form: 'pem' });
    for (const form of ['der', 'jwk', 'raw', 'bare', 'extended']) {
      await works(`key convert key.json --to ${form} -o form.${form}`);
      expect(await facts(`form.${form}`)).toMatchObject({ ...secret, form });
    }
    await works('key passphrase key.json --new-passphrase-file old.txt -o hidden.pem');
    const sealed = { kind: 'secret key', form: 'pem', encrypted: true };
    expect(await facts('hidden.pem')).toMatchObject(sealed);
    const { secret_key } = JSON.parse(read('key.json').toString());
    expect(await works('inspect key.json')).not.toContain(secret_key.slice(2, 40));
  });

  it.each(['compressed', 'padded', 'constantTime'])('identifies %s signatures', async (format) => {
    await works(`sign --key key.json message.txt --raw --format ${format} -o ${format}.sig`);
    expect(await facts(`${format}.sig`)).toMatchObject({
      kind: 'signature',
      parameter_set: 'falcon512',
      format,
      deterministic: false,
      signature_bytes: read(`${format}.sig`).length,
    });
  });

  it('identifies task files, aggregates and results', async () => {
    await works('sign --key key.json message.txt old.txt -o task.json');
    await works('aggregate task.json --format bundle -o out.json');
    await works('aggregate task.json --format bundle --raw -o out.bin');
    expect(await facts('task.json')).toMatchObject({
      kind: 'task file',
      count: 2,
      digest_bytes: 9,
    });
    const items = JSON.parse(read('task.json').toString());
    const statements = items.map(({ signature: _, ...rest }: { signature: string }) => rest);
    writeFileSync(at('statements.json'), JSON.stringify(statements));
    expect(await facts('statements.json')).toMatchObject({ kind: 'statements', count: 2 });
    const aggregate = { format: 'bundle', count: 2, aggregate_bytes: read('out.bin').length };
    expect(await facts('out.bin')).toMatchObject({ ...aggregate, kind: 'aggregate (bundle)' });
    expect(await facts('out.json')).toMatchObject({ ...aggregate, kind: 'result file' });
  });

  it.each(['other.txt', 'damaged.bin', 'broken.json'])('refuses %s', async (name) => {
    writeFileSync(at('damaged.bin'), read('out.bin').fill(0xff, 4, 12));
    writeFileSync(at('broken.json'), '[{"digest": "0x"}]');
    expect((await run(`inspect ${name}`)).code).toBe(1);
  });
});

it.each([
  'key convert key.json --to der -o -',
  'key public key.json --to raw',
  'sign --key key.json message.txt --raw',
  'aggregate task.json --raw -o -',
  'keygen --key-format der --show',
  // By a name of the terminal's device; this one opens a new pseudo-terminal.
  'key convert key.json --to der --show -o /dev/ptmx',
  'key convert key.json --to pem -o /dev/ptmx',
  'key public key.json --to raw -o /dev/ptmx',
  'sign --key key.json message.txt --raw -o /dev/ptmx',
  'aggregate task.json --raw -o /dev/ptmx',
  'keygen -o /dev/ptmx',
])('%s writes no raw bytes to a terminal', async (line) => {
  let text = '';
  const terminal = { isTTY: true, write: (part: string | Uint8Array) => (text += part) };
  const args = line.split(' ').map((word) => (word.includes('.') ? at(word) : word));
  const io = { stdin: (async function* () {})(), stdout: terminal, stderr: terminal, env: {} };
  expect(await main(args, io)).toBe(2);
  expect(text).toMatch(/raw bytes would be written to this terminal|would be shown on this/);
  expect(falcon512.lengths.publicKey).toBeGreaterThan(text.length);
});
